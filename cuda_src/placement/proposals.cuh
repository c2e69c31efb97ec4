// The lists of a round of the front, and its numbers.
#pragma once

#include "placement/layers.cuh"

constexpr int MOST_PROPOSALS = 6; // by one point in a round
constexpr int32 NO_PROPOSAL = -1; // instead of a place in a list
constexpr float64 SPACING = 0.68; // least distance between two points, in sizes

// The lists of a round.
KERNEL_STRUCT(Proposals) {
    Proposal *lists; // of this round and of the next one, `most` entries each: they change places
    Proposal *made;  // by new node: up to MOST_PROPOSALS
    int32 *counts;   // by new node: how many it has made
    Point *apexes;   // of the fresh proposals
    float64 *sizes;  // at these
    int64 *slots;    // by proposal: its cell among the rivals, or NO_SLOT if it is dropped
    int32 *fates;    // by proposal
    int32 *winners;  // by proposal that waits: a conflicting one of higher priority
    int32 *sums;     // by piece of a list
    int64 most;

    METHOD Proposal *list(Index round) const { return lists + (round % 2 ? most : 0); }
};

// The numbers of a front: kernels of the next round read them.
enum FrontEntry : int32 {
    PENDING_PROPOSALS, // of the next round: first those that have waited
    WAITING_PROPOSALS,
    FRONT_NODES,
    ACCEPTED_NODES, // of the last round
    FRESH_PROPOSALS,
    FRONT_ROUND,      // the number of the next round
    LAST_FRONT_ROUND, // before which the device stops
    FRONT_BLOCKS,     // of the cells of nodes
    FRONT_HALT,       // 1: the host is needed, or all is done
    FRONT_ENTRIES
};

// Outcomes of a proposal; the others are dropped.
enum ProposalFate : int32 { ACCEPTED, WAITS, PROPOSAL_FATES };
