// The threads of a block as fibers, and their scheduler. Where a GPU would hang, the process ends with an error
// message.
#include "device.hpp"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

emulated::Place threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr std::size_t STACK = 1 << 16;

enum State { READY, AT_BARRIER, AT_EXCHANGE, ENDED };

// A fiber lives as long as the process, and runs kernel after kernel: only its first start takes the slow way, by
// ucontext, whose every switch is a call of the system.
struct Fiber {
    std::jmp_buf place;
    std::unique_ptr<char[]> stack{new char[STACK]};
    bool started = false;
    State state;
    emulated::Place thread, block, threads, blocks;
    int barrier;    // source line of the barrier at which it waits
    unsigned lanes; // mask of the exchange for which it waits
    std::uint64_t value;
    emulated::Exchange how;
    int argument, width;
};

std::vector<std::unique_ptr<Fiber>> fibers;
Fiber *current;
std::jmp_buf scheduler;
std::mt19937 chance(1);
const std::function<void()> *kernel;

[[noreturn]] void fail(const char *sentence) {
    std::fprintf(stderr, "emulated kernel: %s\n", sentence);
    std::abort();
}

void leave() {
    Fiber *const own = current;
    own->thread = threadIdx, own->block = blockIdx, own->threads = blockDim, own->blocks = gridDim;
    if (!setjmp(own->place))
        std::longjmp(scheduler, 1);
}

void run_kernels() {
    for (;;) {
        (*kernel)();
        current->state = ENDED;
        leave();
    }
}

[[noreturn]] void start(Fiber &fiber) {
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = STACK;
    context.uc_link = nullptr;
    makecontext(&context, run_kernels, 0);
    fiber.started = true;
    setcontext(&context);
    fail("a fiber cannot be started");
}

void resume(Fiber &fiber) {
    current = &fiber;
    threadIdx = fiber.thread, blockIdx = fiber.block, blockDim = fiber.threads, gridDim = fiber.blocks;
    if (setjmp(scheduler))
        return;
    if (fiber.started)
        std::longjmp(fiber.place, 1);
    start(fiber);
}

std::uint64_t received(unsigned first, unsigned lane, const Fiber &fiber) {
    const unsigned base = lane / fiber.width * fiber.width;
    switch (fiber.how) {
    case emulated::FROM_LANE:
        return fibers[first + base + fiber.argument % fiber.width]->value;
    case emulated::FROM_BELOW:
        return fibers[first + (lane >= base + fiber.argument ? lane - fiber.argument : lane)]->value;
    case emulated::FROM_ACROSS:
        return fibers[first + (lane ^ fiber.argument)]->value;
    case emulated::ALIKE:
        break;
    }
    std::uint64_t alike = 0;
    for (unsigned other = 0; other < WARP; ++other)
        if (fiber.lanes >> other & 1 && fibers[first + other]->value == fiber.value)
            alike |= std::uint64_t(1) << other;
    return alike;
}

// Performs the exchange among the lanes of a mask once all of them have arrived.
void exchange_among(unsigned first, unsigned lanes, unsigned threads) {
    std::uint64_t found[WARP];
    for (unsigned lane = 0; lane < WARP; ++lane)
        if (lanes >> lane & 1) {
            if (first + lane >= threads || fibers[first + lane]->state == ENDED)
                fail("a lane of the mask is not there any more");
            if (fibers[first + lane]->state != AT_EXCHANGE || fibers[first + lane]->lanes != lanes)
                return;
        }
    for (unsigned lane = 0; lane < WARP; ++lane)
        if (lanes >> lane & 1)
            found[lane] = received(first, lane, *fibers[first + lane]);
    for (unsigned lane = 0; lane < WARP; ++lane)
        if (lanes >> lane & 1) {
            fibers[first + lane]->value = found[lane];
            fibers[first + lane]->state = READY;
        }
}

void run_block(unsigned threads) {
    for (;;) {
        const unsigned start = chance() % threads;
        for (unsigned k = 0; k < threads; ++k) {
            Fiber &fiber = *fibers[(17 * k + start) % threads]; // 17 and a power of two are coprime
            if (fiber.state == READY && chance() % 4)
                resume(fiber);
        }
        for (unsigned k = 0; k < threads; ++k)
            if (fibers[k]->state == AT_EXCHANGE)
                exchange_among(k / WARP * WARP, fibers[k]->lanes, threads);
        unsigned counts[4] = {};
        for (unsigned k = 0; k < threads; ++k)
            ++counts[fibers[k]->state];
        if (counts[ENDED] == threads)
            return;
        if (counts[READY])
            continue;
        if (counts[AT_BARRIER] + counts[ENDED] < threads)
            fail("lanes wait for others that do not come");
        if (counts[ENDED])
            fail("some threads wait at a barrier, others have ended");
        for (unsigned k = 0; k < threads; ++k) {
            if (fibers[k]->barrier != fibers[0]->barrier)
                fail("some threads wait at one barrier, others at another"); // synccheck reports the same on a GPU
            fibers[k]->state = READY;
        }
    }
}

} // namespace

void emulated::wait_for_block(int line) {
    current->barrier = line;
    current->state = AT_BARRIER;
    leave();
}

void emulated::perhaps_others() {
    if (chance() % 6 == 0)
        leave();
}

std::uint64_t emulated::exchange(unsigned lanes, std::uint64_t value, Exchange how, int argument, int width) {
    Fiber *const own = current;
    if (!(lanes >> threadIdx.x % WARP & 1))
        fail("a lane is not in its own mask");
    own->state = AT_EXCHANGE, own->lanes = lanes, own->value = value;
    own->how = how, own->argument = argument, own->width = width;
    leave();
    return own->value;
}

bool emulated::run_child(const std::function<void()> &child) {
    const Place thread = threadIdx, block = blockIdx, threads = blockDim, blocks = gridDim;
    threadIdx.x = blockIdx.x = 0;
    blockDim.x = gridDim.x = 1;
    child();
    threadIdx = thread, blockIdx = block, blockDim = threads, gridDim = blocks;
    return true;
}

std::int64_t emulated::clock() {
    static std::int64_t now = 0;
    return ++now;
}

void emulated::run(unsigned blocks, unsigned threads, const std::function<void()> &work) {
    kernel = &work;
    while (fibers.size() < threads)
        fibers.emplace_back(new Fiber);
    for (unsigned block = 0; block < blocks; ++block) {
        for (unsigned thread = 0; thread < threads; ++thread) {
            Fiber &fiber = *fibers[thread];
            fiber.state = READY;
            fiber.thread.x = thread, fiber.block.x = block, fiber.threads.x = threads, fiber.blocks.x = blocks;
        }
        run_block(threads);
    }
}
