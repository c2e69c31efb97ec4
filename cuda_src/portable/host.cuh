// Constants of the CPU build, which Python reads (dmr/memory/declarations.py).
#pragma once

constexpr int MOST_PIECES = 256; // pieces per list at most
constexpr int LEAST_PIECE = 256; // entries per piece at least
