// What nvcc puts before a program and clang does not: headers of the host, and `min` and `max` on the host.
#pragma once
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>
#define STAND_IN_OF(T)                                                 \
    inline __host__ T max(T a, T b) { return a < b ? b : a; }         \
    inline __host__ T min(T a, T b) { return b < a ? b : a; }
STAND_IN_OF(int)
STAND_IN_OF(unsigned)
STAND_IN_OF(long)
STAND_IN_OF(unsigned long)
STAND_IN_OF(long long)
STAND_IN_OF(unsigned long long)
STAND_IN_OF(float)
STAND_IN_OF(double)
#undef STAND_IN_OF
