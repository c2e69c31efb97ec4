// Kernels of a C++ compiler, which has no registers to limit: all kinds are the same.
#pragma once

#define HIGH_OCCUPANCY_KERNEL KERNEL
#define TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_TEAM_KERNEL KERNEL
#define COOPERATIVE_KERNEL KERNEL
#define COOPERATIVE_TEAM_KERNEL KERNEL
#define HIGH_OCCUPANCY_COOPERATIVE_TEAM_KERNEL KERNEL
