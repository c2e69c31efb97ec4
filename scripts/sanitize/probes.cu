// Small CUDA programs that show what compute-sanitizer's tools detect (python -m scripts.sanitize): `sanitizer_probes
// NAME`.
//
// Each of the first four has a fault that one tool must report. The last two have no fault: a graph of kernels, one of
// them with barriers, that is launched five times by the host or by itself (tail launches).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

constexpr int THREADS = 256, BLOCKS = 8, TURNS = 5;

__global__ void overrun(int *place) { place[BLOCKS * THREADS] = 1; }

__global__ void uninitialised(int *place) { place[0] = place[1] + 1; }

__global__ void race(int *place) {
    __shared__ int shared[THREADS];
    shared[threadIdx.x] = threadIdx.x;
    place[threadIdx.x] = shared[THREADS - 1 - threadIdx.x]; // no barrier in between
}

// Threads wait for the other half of their warp, which has exited: an invalid mask for `__syncwarp`. (A block barrier
// that some of its threads never reach would wait forever, and hung an H200.)
__global__ void barrier(int *place) {
    if (threadIdx.x % 32 >= 16)
        return;
    place[threadIdx.x] = 1;
    __syncwarp(0xffff0000u);
    place[THREADS + threadIdx.x] = place[threadIdx.x ^ 1];
}

__global__ void set_all(int *place, int value) { place[blockIdx.x * THREADS + threadIdx.x] = value; }

// All threads of blocks below *count reach all barriers; those of other blocks reach none.
__global__ void wait_twice(int *place, const int *count) {
    __shared__ int shared[THREADS];
    for (int block = blockIdx.x; block < *count; block += gridDim.x) {
        shared[threadIdx.x] = threadIdx.x;
        __syncthreads();
        place[block * THREADS + threadIdx.x] = shared[THREADS - 1 - threadIdx.x];
        __syncthreads();
    }
}

__global__ void go_on(int *count, bool by_itself) {
    if (++*count < TURNS && by_itself)
        cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

static void check(cudaError_t error) {
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
    std::exit(3);
}

static void launch_graph(int *place, bool by_itself) {
    int *count;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    const int first = 1;
    check(cudaMalloc(&count, sizeof first));
    check(cudaMemcpy(count, &first, sizeof first, cudaMemcpyHostToDevice));
    check(cudaStreamCreate(&stream));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    set_all<<<BLOCKS, THREADS, 0, stream>>>(place, 0);
    wait_twice<<<BLOCKS, THREADS, 0, stream>>>(place, count);
    go_on<<<1, 1, 0, stream>>>(count, by_itself);
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, by_itself ? cudaGraphInstantiateFlagDeviceLaunch : 0));
    if (by_itself)
        check(cudaGraphUpload(executable, stream));
    for (int turn = 0; turn < (by_itself ? 1 : TURNS); ++turn)
        check(cudaGraphLaunch(executable, stream));
    check(cudaStreamSynchronize(stream));
}

int main(int count, char **arguments) {
    const char *const name = count > 1 ? arguments[1] : "";
    int *place;
    check(cudaMalloc(&place, BLOCKS * THREADS * sizeof(int)));
    if (std::strcmp(name, "overrun") == 0)
        overrun<<<1, 1>>>(place);
    else if (std::strcmp(name, "uninitialised") == 0)
        uninitialised<<<1, 1>>>(place);
    else if (std::strcmp(name, "race") == 0)
        race<<<1, THREADS>>>(place);
    else if (std::strcmp(name, "barrier") == 0)
        barrier<<<1, THREADS>>>(place);
    else if (std::strcmp(name, "graph-by-host") == 0)
        launch_graph(place, false);
    else if (std::strcmp(name, "graph-by-itself") == 0)
        launch_graph(place, true);
    else
        return 2;
    check(cudaDeviceSynchronize());
    return 0;
}
