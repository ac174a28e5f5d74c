//! Intrinsics, atomics, groups and the classes of the libraries.

use crate::support::text;
use insta::assert_snapshot;

#[test]
fn intrinsics_by_name() {
    assert_snapshot!(text(
        "__global__ void k(int* p, unsigned* u, float* f, double* d) {\n  __syncthreads();\n  int n = __syncthreads_count(p[0]);\n\
           __syncwarp();\n  __syncwarp(0xff);\n  f[0] = __shfl_down_sync(0xffffffff, f[1], 16);\n  n = __shfl_xor(n, 1, 8);\n\
           u[0] = __ballot_sync(~0u, n > 1);\n  if (__any_sync(u[1], n)) __threadfence();\n  u[1] = __activemask();\n\
           atomicAdd(&f[2], 1);\n  n = atomicCAS(p + 1, n, 2);\n  atomicMax_block(u, 3);\n  atomicAdd_system(d, f[0]);\n\
           f[3] = __ldg(&f[4]) + __ldg(f);\n  __stcg(p, 1);\n  n = __popc(n) + __clz(n) + __mul24(n, 3);\n\
           assert(n > 0);\n  n = __float2int_rz(f[0]);\n  f[0] = __int2float_rn(n);\n  memcpy(p, u, 16);\n  printf(\"%d\", n);\n\
           f[1] = floorf(f[2]) + sqrt(f[3]);\n  if (n < 0) __trap();\n  n = __reduce_add_sync(~0u, n);\n}\n"
    ));
}

#[test]
fn cooperative_groups_by_static_type() {
    assert_snapshot!(text(
        "namespace cg = cooperative_groups;\n\
         __device__ void wait(cg::thread_group g) { g.sync(); }\n\
         template <class G> __device__ int rank(const G& g) { return g.thread_rank(); }\n\
         __global__ void k(int* p) {\n  cg::thread_block block = cg::this_thread_block();\n  cg::grid_group grid = cg::this_grid();\n\
           auto tile = cg::tiled_partition<16>(block);\n  cg::thread_group g = cg::tiled_partition(block, 8);\n\
           cg::sync(block);\n  block.sync();\n  tile.sync();\n  g.sync();\n  grid.sync();\n  wait(block);\n  wait(tile);\n\
           p[0] = tile.shfl_down(p[1], 2) + rank(tile) + rank(block) + tile.meta_group_rank();\n\
           p[2] = block.group_index().x + block.thread_index().y + block.size() + grid.thread_rank();\n\
           auto part = cg::tiled_partition<4>(tile);\n  p[6] = part.meta_group_rank() + part.meta_group_size();\n\
           auto active = cg::coalesced_threads();\n  active.sync();\n  p[3] = cg::reduce(tile, p[4], cg::plus<int>());\n\
           cg::memcpy_async(block, p, p + 8, 32);\n  cg::wait(block);\n}\n"
    ));
}

#[test]
fn classes_of_the_libraries() {
    assert_snapshot!(text(
        "__global__ void k(int* p) {\n  typedef cub::BlockReduce<int, 128> Reduce;\n  __shared__ typename Reduce::TempStorage temp;\n\
           int sum = Reduce(temp).Sum(p[threadIdx.x]);\n  int out;\n  cub::BlockScan<int, 128>(temp).ExclusiveSum(sum, out);\n\
           cuda::atomic_ref<int, cuda::thread_scope_device> a(p[0]);\n  a.fetch_add(2, cuda::std::memory_order_relaxed);\n\
           __shared__ cuda::barrier<cuda::thread_scope_block> bar;\n  if (threadIdx.x == 0) init(&bar, blockDim.x);\n\
           bar.arrive_and_wait();\n  auto token = bar.arrive();\n  bar.wait(std::move(token));\n\
           __pipeline_memcpy_async(&p[1], &p[2], sizeof(int));\n  __pipeline_commit();\n  __pipeline_wait_prior(0);\n}\n"
    ));
}
