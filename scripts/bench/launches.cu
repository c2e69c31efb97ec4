// Launch overhead of a repeated sequence of kernels, driven by the host or by the device (scripts/bench/launches.py).
//
// Prints lines of "driver blocks kernels microseconds": the time of the sequence per kernel, the median of RUNS runs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

constexpr int THREADS = 128, TURNS = 200, RUNS = 5;

static void check(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(code));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

__global__ void work(int *values) { values[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

// One thread launches the kernels of a turn one after the other, then itself.
__global__ void tail_launches(int *values, int blocks, int kernels, int turns) {
    if (turns == 0)
        return;
    for (int k = 0; k < kernels; ++k)
        work<<<blocks, THREADS, 0, cudaStreamTailLaunch>>>(values);
    tail_launches<<<1, 1, 0, cudaStreamTailLaunch>>>(values, blocks, kernels, turns - 1);
}

// Last kernel of a graph that launches itself.
__global__ void launch_again(int *turns) {
    if (--*turns > 0)
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

// Last kernel in the body of a graph's loop.
__global__ void go_on(int *turns, cudaGraphConditionalHandle loop) { cudaGraphSetConditional(loop, --*turns > 0); }

static cudaStream_t stream;
static int *values, *turns;

static void report(const char *driver, int blocks, int kernels, int launched, const std::function<void()> &run) {
    std::vector<double> seconds;
    for (int k = 0; k <= RUNS; ++k) {
        CHECK(cudaMemcpy(turns, &TURNS, sizeof TURNS, cudaMemcpyHostToDevice));
        const auto start = std::chrono::steady_clock::now();
        run();
        CHECK(cudaStreamSynchronize(stream));
        if (k > 0) // the first run is a warm-up
            seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::nth_element(seconds.begin(), seconds.begin() + RUNS / 2, seconds.end());
    std::printf("%s %d %d %.3f\n", driver, blocks, kernels, 1e6 * seconds[RUNS / 2] / TURNS / launched);
    std::fflush(stdout);
}

static void launch_kernels(int blocks, int kernels) {
    for (int k = 0; k < kernels; ++k)
        work<<<blocks, THREADS, 0, stream>>>(values);
}

static void measure(int blocks, int kernels) {
    report("stream", blocks, kernels, kernels, [=] {
        for (int turn = 0; turn < TURNS; ++turn)
            launch_kernels(blocks, kernels);
    });
    report("tail-launch", blocks, kernels, kernels + 1,
           [=] { tail_launches<<<1, 1, 0, stream>>>(values, blocks, kernels, TURNS); });

    cudaGraph_t graph;
    cudaGraphExec_t once, itself, loop;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_kernels(blocks, kernels);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&once, graph, 0));
    report("graph", blocks, kernels, kernels, [=] {
        for (int turn = 0; turn < TURNS; ++turn)
            CHECK(cudaGraphLaunch(once, stream));
    });

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    launch_kernels(blocks, kernels);
    launch_again<<<1, 1, 0, stream>>>(turns);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&itself, graph, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(itself, stream));
    report("graph-itself", blocks, kernels, kernels + 1, [=] { CHECK(cudaGraphLaunch(itself, stream)); });

    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    const cudaGraph_t body = parameters.conditional.phGraph_out[0];
    CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
    launch_kernels(blocks, kernels);
    go_on<<<1, 1, 0, stream>>>(turns, handle);
    CHECK(cudaStreamEndCapture(stream, nullptr));
    CHECK(cudaGraphInstantiate(&loop, graph, 0));
    report("graph-while", blocks, kernels, kernels + 1, [=] { CHECK(cudaGraphLaunch(loop, stream)); });
}

int main() {
    constexpr int MOST_BLOCKS = 2112;
    CHECK(cudaMalloc(&values, MOST_BLOCKS * THREADS * sizeof *values));
    CHECK(cudaMalloc(&turns, sizeof *turns));
    CHECK(cudaStreamCreate(&stream));
    for (int blocks : {1, 132, MOST_BLOCKS})
        for (int kernels : {10, 50})
            measure(blocks, kernels);
}
