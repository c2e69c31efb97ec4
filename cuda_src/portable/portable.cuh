// The macros and types of kernels, for nvcc, for a C++ compiler, and for the tests' emulator of a GPU.
//
// A kernel is written once, as a loop over the index range of its launch:
//
//     KERNEL(scale, float64 *values, float64 factor) {
//         for (const Index i : launch)
//             values[i] *= factor;
//     }
//
// nvcc compiles it to a __global__ function whose threads stride over the range (Harris, "CUDA Pro Tip: Write Flexible
// Kernels with Grid-Stride Loops", 2013). The C++ compiler compiles it to a plain function over a part of the range;
// host.cpp gives each thread one part at a time. Nothing else differs, so no kernel may depend on how the range is cut.
// `launch` (a Launch) is a parameter of every kernel. `launch.part(begin, end)` are the indices of a part of the range.
//
// The end of the range, and every parameter of type Count, is either a number from the host or a number that an earlier
// kernel left in device memory: the host can launch a kernel before it knows the range.
//
// Groups share work:
//
//     Launch   the threads of an ordinary kernel
//     Team     a thread block. On a CPU it has one member, which does all of the work in order.
//     Tile     a few members of a team, which share an inner loop
//     VirtualWarp<WIDTH>   a part of a warp, of 1, 2, 4, ... 32 lanes, that works on one task
//     Grid     all teams of a cooperative launch
//
// A TEAM_KERNEL assigns a team to each index: `for (const Team team : launch.teams())`, with `team.number` the index.
// TEAM_SHARED declares memory that the members share. `team.share(piece)` are the indices that a member processes,
// `team.leads()` is true for one member, and `team.barrier()` waits for all of them. `team.for_members(visit)` calls
// visit(member) for TEAM_SIZE members, also on a CPU, and a barrier follows.
//
// If output places depend on the order of a list, the list is cut into pieces (piece_of), one per team. One kernel sums
// over each piece (team.sum), and the next one adds the sums of the preceding pieces (team.in_order). The boundary
// between the two launches is the barrier. All members of a team call both functions together, with the same arguments.
//
// If each of a few indices has an inner loop with independent iterations, the members of a tile share that loop:
// `for (const Tile tile : team.tiles(piece))`, and `tile.share(count)` inside. On the CPU a tile is one member.
//
// A HIGH_OCCUPANCY_KERNEL or HIGH_OCCUPANCY_TEAM_KERNEL mostly waits for memory, so its threads get fewer registers,
// and more of them run at once. A MEDIUM_OCCUPANCY_COOPERATIVE_TEAM_KERNEL also waits for barriers of all teams, which
// take longer if there are more of them.
//
// A COOPERATIVE_KERNEL is launched cooperatively: all of its threads run at once, so that Grid::barrier (include
// grid.cuh) can hold them until the last one arrives. On the CPU each thread then has one part of the range, and waits
// likewise. A COOPERATIVE_TEAM_KERNEL is one of whole teams: `launch.grid()` has the teams, `grid.tasks(count)` are the
// tasks of a team, of a number of them, and `grid.share(count)` the indices that a member processes.
//
// A kernel that may take long for one index has a STOP_POINT() in its loop, every few thousand iterations: on the CPU,
// Ctrl-C ends the launch there. On the GPU it does nothing.
//
// A kernel launches a CHILD_KERNEL, which the host cannot name, by LAUNCH_CHILD(kernel, begin, end, ...); the result is
// 1 if the child was launched. Nothing waits for the child, but the launching kernel ends after it. nvcc compiles a
// file with this word as relocatable code, to be linked with the device runtime. On the CPU a child is a function call.
// LAUNCH_GRAPH_AGAIN(), in a kernel of a CUDA graph, launches that graph once more after it has ended.
//
// Python reads the names and parameter types of kernels from these declarations (dmr/memory/signatures.py): keep each
// declaration to one KERNEL( ... ) { head, with parameters of the form `type name` or `type *name`. Parameters that
// many kernels share form a KERNEL_STRUCT(name) { ... }: its fields, one per line and eight bytes each, are parameters
// like any other.
#pragma once

#if defined(EMULATED)
#include "portable/emulated.cuh"
#elif defined(__CUDACC__)
#include "portable/cuda.cuh"
#else
#include "portable/host.cuh"
#endif
