// What a kernel can ask about its launch, for kernels that are Python functions (tests/integration/test_threads.py).
#include "portable/host.hpp"

extern "C" bool kernel_works_alone() { return host::alone; }
