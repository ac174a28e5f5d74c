// In a folder of its own: the chore looks for what a program includes.
#pragma once
#include <stddef.h>
#ifndef COUNT
#define COUNT 1000
#endif
inline size_t bytes_of(int count) { return count * sizeof(float); }
