#pragma once

#include "portable/portable.cuh"
