// Constants of the GPU build, which Python reads (dmr/memory/declarations.py).
#pragma once

constexpr int MOST_PIECES = 1024; // pieces per list at most
constexpr int LEAST_PIECE = 8;    // entries per piece at least
