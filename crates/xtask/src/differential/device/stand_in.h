// Stands for CUDA's device side where a random kernel is run by the host's compiler, one thread after another: its built-in
// variables, vectors and functions, and arrays that write down which element each thread asks for.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
struct uint3 { unsigned x, y, z; };
struct int2 { int x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct uchar4 { unsigned char x, y, z, w; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
constexpr int warpSize = 32;

inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }

// The overloads that device code has in scope without a header.
inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline long long min(long long a, long long b) { return a < b ? a : b; }
inline int max(int a, int b) { return a < b ? b : a; }
inline unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }

inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz(v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll(v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned long long __brevll(unsigned long long v) {
    unsigned long long r = 0;
    for (int bit = 0; bit < 64; ++bit) r |= (v >> bit & 1) << (63 - bit);
    return r;
}
inline unsigned __brev(unsigned v) { return static_cast<unsigned>(__brevll(v) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((unsigned long long)a * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>((long long)a * b >> 32); }
inline int __mul24(int a, int b) { return static_cast<int>((long long)(a << 8 >> 8) * (b << 8 >> 8)); }
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
    unsigned long long both = (unsigned long long)b << 32 | a;
    unsigned r = 0;
    for (int at = 0; at < 4; ++at) r |= static_cast<unsigned>(both >> ((s >> 4 * at & 7) * 8) & 255) << (8 * at);
    return r;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>(((unsigned long long)high << 32 | low) << (by & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned by) {
    return static_cast<unsigned>(((unsigned long long)high << 32 | low) >> (by & 31));
}
inline unsigned __sad(int a, int b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }
inline int __float2int_rd(float v) { return static_cast<int>(std::floor(v)); }
inline int __float2int_ru(float v) { return static_cast<int>(std::ceil(v)); }
inline int __float2int_rn(float v) { return static_cast<int>(std::nearbyint(v)); }
inline unsigned __float2uint_rz(float v) { return static_cast<unsigned>(v); }
inline int __float_as_int(float v) { int r; std::memcpy(&r, &v, 4); return r; }
inline float __int_as_float(int v) { float r; std::memcpy(&r, &v, 4); return r; }

// An array of a kernel: each use of an element is a line `kernel array block thread index`.
struct Elements {
    const char *kernel, *name;
    int &operator[](long long at) const {
        static int any;
        std::printf("%s %s %u %u %lld\n", kernel, name, blockIdx.x, threadIdx.x, at);
        return any;
    }
};

template <typename Body> void each_thread(unsigned grid, unsigned block, Body body) {
    gridDim = grid;
    blockDim = block;
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) body();
}
