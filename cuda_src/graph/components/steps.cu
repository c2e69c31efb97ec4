// Steps of the decomposition into strong components (Slota, Rajamanickam, Madduri 2014 and 2015), on the engine's loop.
//
// numbers[v] is 0 while v is left, and mask[v] is 1, so that the engine passes over the other nodes. A class is a set
// of nodes that no component leaves; classes[v] is one of its nodes, its pivot.
#include "graph/engine/engine.cuh"
#include "primitives/hash.cuh"

constexpr int32 IS_FOUND = 0x7fffffff; // FINISHED of serial.cu

// A search from all pivots at once, each within its own class.
KERNEL_STRUCT(Reach) {
    const int32 *classes;
    int32 *reached; // (nodes): 1 for reached nodes, initially the pivots
    using State = int32;
    using Reduction = None;

    METHOD bool enter(Index u, State & own, const Loop &) const {
        own = classes[u];
        return true;
    }
    METHOD void edge(Index, State own, Index edge, const Loop &loop) const {
        const Index target = loop.graph.targets[edge];
        if (classes[target] == own && !racing_load(reached + target) && !atomic_max(reached + target, 1))
            loop.push(target);
    }
};

ENGINE_KERNELS_WITH_ALONE(reach, Reach)

// flags[v] = whether v is left, and, if classes are given, the pivot of its class.
KERNEL(flag_left, const int32 *numbers, const int32 *classes, int32 *flags) {
    for (const Index node : launch)
        flags[node] = numbers[node] == 0 && (classes == nullptr || classes[node] == node);
}

KERNEL(fill_classes, int64 pivot, int32 *classes) {
    for (const Index node : launch)
        classes[node] = int32(pivot);
}

// Trimmed nodes are components.
KERNEL(take_trimmed, const int32 *trimmed, int32 *numbers, uint8 *mask) {
    for (const Index node : launch)
        if (trimmed[node]) {
            numbers[node] = IS_FOUND;
            mask[node] = 0;
        }
}

// Nodes that are left, and that reach the pivot of their class and are reached by it, are in its component. `forward`
// is null if all of them are reached.
KERNEL(take_components, const int32 *classes, const int32 *forward, const int32 *backward, int32 *numbers, uint8 *mask,
       int32 *labels) {
    for (const Index node : launch)
        if (numbers[node] == 0 && (forward == nullptr || forward[node]) && backward[node]) {
            labels[node] = classes[node];
            numbers[node] = IS_FOUND;
            mask[node] = 0;
        }
}

// Each class falls into three: the nodes that its pivot reaches, those that reach it, and the others. The new pivots
// are the nodes of the least rank, drawn anew in each round; slots[3 * p + k] is the rank of that of part k of the
// class p, initially above all ranks.
KERNEL(choose_pivots, const int32 *numbers, const int32 *classes, const int32 *forward, const int32 *backward,
       int64 salt, uint32 *slots) {
    for (const Index node : launch)
        if (numbers[node] == 0) {
            uint32 *place = slots + 3 * Index(classes[node]) + (forward[node] ? 0 : backward[node] ? 1 : 2);
            const uint32 rank = hash32(uint32(node) ^ uint32(salt));
            if (racing_load(place) > rank)
                atomic_min(place, rank);
        }
}

KERNEL(enter_classes, const int32 *numbers, const int32 *forward, const int32 *backward, int64 salt,
       const uint32 *slots, int32 *classes) {
    for (const Index node : launch)
        if (numbers[node] == 0) {
            const Index slot = 3 * Index(classes[node]) + (forward[node] ? 0 : backward[node] ? 1 : 2);
            classes[node] = int32(unhash32(slots[slot]) ^ uint32(salt));
        }
}
