//! Where the functions of CUDA's headers and of the C and C++ libraries can be called.
//!
//! Sources: *CUDA C++ Programming Guide*, "C++ Language Extensions", "Dynamic Parallelism" (which runtime functions
//! device code may call), "Formatted Output", "Dynamic Global Memory Allocation and Operations"; *CUDA Math API*;
//! *cuRAND device API*. A name that is in doubt is listed as callable on both sides, which says nothing about a call.

use crate::ir::Path;
use crate::name::Name;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Where a library function can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StandardSpace {
    /// Never in device code.
    HostOnly,
    /// Never in host code.
    DeviceOnly,
    /// On both sides, or not known for sure.
    Both,
}

/// Functions that no device code can call.
const HOST_ONLY: &str = "
    MPI_Allreduce MPI_Barrier MPI_Bcast MPI_Finalize MPI_Init MPI_Recv MPI_Reduce MPI_Send _exit atexit atof
    atoi atol atoll bsearch calloc clock_gettime ctime cudaDeviceReset cudaEventCreate cudaEventElapsedTime
    cudaEventSynchronize cudaFreeArray cudaFreeAsync cudaFreeHost cudaFuncSetAttribute cudaFuncSetCacheConfig
    cudaGetDeviceProperties cudaGetSymbolAddress cudaHostAlloc cudaHostGetDevicePointer cudaHostRegister
    cudaHostUnregister cudaMalloc3D cudaMallocArray cudaMallocAsync cudaMallocHost cudaMallocManaged
    cudaMallocPitch cudaMemGetInfo cudaMemPrefetchAsync cudaMemcpy cudaMemcpy2D cudaMemcpy3D
    cudaMemcpyFromSymbol cudaMemcpyToSymbol cudaMemset cudaMemset2D cudaMemset3D cudaSetDevice
    cudaStreamCreate cudaStreamSynchronize drand48 exit fclose feof fflush fgetc fgets fopen fprintf fputc
    fputs fread fscanf fseek ftell fwrite getc getchar getenv gets gettimeofday gmtime localtime lrand48
    nanosleep omp_get_num_threads omp_get_thread_num omp_get_wtime perror posix_memalign pthread_create
    pthread_join putchar putenv puts qsort quick_exit rand rand_r random realloc rewind scanf setenv sleep
    snprintf sprintf srand srand48 srandom sscanf strdup strftime strtod strtof strtok strtol strtoll strtoul
    strtoull system time tmpfile usleep vfprintf vsnprintf vsprintf
";

/// Functions that no host code can call.
const DEVICE_ONLY: &str = "
    __activemask __all __all_sync __any __any_sync __ballot __ballot_sync __brev __brevll __brkpt __byte_perm
    __clz __clzll __cvta_generic_to_shared __dadd_rn __dmul_rn __double2float_rn __double2hiint
    __double2int_rn __double2int_rz __double2loint __double_as_longlong __dp2a_hi __dp2a_lo __dp4a __fadd_rn
    __fdiv_rn __fdividef __ffs __ffsll __float2int_rd __float2int_rn __float2int_ru __float2int_rz
    __float2uint_rn __float2uint_rz __float_as_int __float_as_uint __fma_rn __fmaf_rn __fmul_rn __frcp_rn
    __frsqrt_rn __fsqrt_rn __funnelshift_l __funnelshift_r __hiloint2double __int2double_rn __int2float_rn
    __int2float_rz __int_as_float __isConstant __isGlobal __isLocal __isShared __ldca __ldcg __ldcs __ldcv
    __ldg __ldlu __longlong_as_double __match_all_sync __match_any_sync __mul24 __mul64hi __mulhi __nanosleep
    __pipeline_commit __pipeline_memcpy_async __pipeline_wait_prior __popc __popcll __prof_trigger
    __reduce_add_sync __reduce_and_sync __reduce_max_sync __reduce_min_sync __reduce_or_sync __reduce_xor_sync
    __sad __saturatef __shfl __shfl_down __shfl_down_sync __shfl_sync __shfl_up __shfl_up_sync __shfl_xor
    __shfl_xor_sync __stcg __stcs __stwb __stwt __syncthreads __syncthreads_and __syncthreads_count
    __syncthreads_or __syncwarp __threadfence __threadfence_block __threadfence_system __trap __uint2float_rn
    __uint_as_float __umul24 __umul64hi __umulhi __usad atomicAdd atomicAdd_block atomicAdd_system atomicAnd
    atomicAnd_block atomicAnd_system atomicCAS atomicCAS_block atomicCAS_system atomicDec atomicDec_block
    atomicDec_system atomicExch atomicExch_block atomicExch_system atomicInc atomicInc_block atomicInc_system
    atomicMax atomicMax_block atomicMax_system atomicMin atomicMin_block atomicMin_system atomicOr
    atomicOr_block atomicOr_system atomicSub atomicSub_block atomicSub_system atomicXor atomicXor_block
    atomicXor_system clock64 curand_init curand_log_normal curand_normal curand_normal2 curand_normal_double
    curand_poisson curand_uniform curand_uniform2 curand_uniform4 curand_uniform_double surf1Dread surf1Dwrite
    surf2Dread surf2Dwrite surf3Dread surf3Dwrite tex1D tex1DLayered tex1DLod tex1Dfetch tex2D tex2DLayered
    tex2DLod tex2Dgather tex3D texCubemap
";

/// Functions for both sides, or not known for sure.
const BOTH: &str = "
    __assert_fail __bfloat162float __float2bfloat16 __float2half __float2half2_rn __float2half_rn
    __floats2half2_rn __half2float __half2half2 __halves2half2 __high2float __low2float
    __nv_aligned_device_malloc abort abs acos acosf acosh acoshf advance all alloca any asin asinf asinh
    asinhf assert atan atan2 atan2f atanf atanh atanhf ballot begin cbrt cbrtf ceil ceilf clock copy copysign
    copysignf cos cosf cosh coshf cospi cospif count cuCabs cuCabsf cuCadd cuCaddf cuCdiv cuCdivf cuCimag
    cuCimagf cuCmul cuCmulf cuConj cuConjf cuCreal cuCrealf cuCsub cuCsubf cudaDeviceGetAttribute
    cudaDeviceGetCacheConfig cudaDeviceGetLimit cudaDeviceSynchronize cudaEventCreateWithFlags
    cudaEventDestroy cudaEventRecord cudaFree cudaFuncGetAttributes cudaGetCurrentGraphExec cudaGetDevice
    cudaGetDeviceCount cudaGetErrorName cudaGetErrorString cudaGetLastError cudaGetParameterBuffer
    cudaGraphLaunch cudaGridDependencySynchronize cudaLaunchDevice cudaMalloc cudaMemcpy2DAsync
    cudaMemcpy3DAsync cudaMemcpyAsync cudaMemset2DAsync cudaMemset3DAsync cudaMemsetAsync
    cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaPeekAtLastError cudaRuntimeGetVersion
    cudaStreamCreateWithFlags cudaStreamDestroy cudaStreamWaitEvent cudaTriggerProgrammaticLaunchCompletion
    cyl_bessel_i0 cyl_bessel_i1 data distance divides end equal erf erfc erfcf erfcinv erfcinvf erfcx erfcxf
    erff erfinv erfinvf exp exp10 exp10f exp2 exp2f expf expm1 expm1f fabs fabsf fdim fdimf fdivide fdividef
    fill find floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf forward free frexp frexpf get greater
    hypot hypotf ilogb ilogbf isfinite isinf isnan isnormal j0 j0f j1 j1f jn jnf labs ldexp ldexpf less lgamma
    lgammaf llabs llmax llmin llrint llrintf llround llroundf log log10 log10f log1p log1pf log2 log2f logb
    logbf logf lrint lrintf lround lroundf make_char1 make_char2 make_char3 make_char4 make_cuComplex
    make_cuDoubleComplex make_cuFloatComplex make_cudaExtent make_cudaPitchedPtr make_cudaPos make_double1
    make_double2 make_double3 make_double4 make_float1 make_float2 make_float3 make_float4 make_half2
    make_int1 make_int2 make_int3 make_int4 make_long1 make_long2 make_long3 make_long4 make_longlong1
    make_longlong2 make_longlong3 make_longlong4 make_short1 make_short2 make_short3 make_short4 make_uchar1
    make_uchar2 make_uchar3 make_uchar4 make_uint1 make_uint2 make_uint3 make_uint4 make_ulong1 make_ulong2
    make_ulong3 make_ulong4 make_ulonglong1 make_ulonglong2 make_ulonglong3 make_ulonglong4 make_ushort1
    make_ushort2 make_ushort3 make_ushort4 malloc max memcmp memcpy memmove memset min minus modf modff move
    multiplies nan nanf nearbyint nearbyintf nextafter nextafterf norm norm3d norm3df norm4d norm4df normcdf
    normcdff normcdfinv normcdfinvf plus pow powf printf rcbrt rcbrtf remainder remainderf remquo remquof
    rhypot rhypotf rint rintf rnorm rnorm3d rnorm4d round roundf rsqrt rsqrtf saturate scalbln scalblnf scalbn
    scalbnf signbit sin sincos sincosf sincospi sincospif sinf sinh sinhf sinpi sinpif size sort sqrt sqrtf
    strcat strcmp strcpy strlen strncmp strncpy swap sync tan tanf tanh tanhf tgamma tgammaf thread_rank trunc
    truncf ullmax ullmin umax umin vprintf y0 y0f y1 y1f yn ynf
";

/// Functions of `std` that no device code can call; most others are `constexpr` in some standard, or have device
/// overloads.
const STD_HOST_ONLY: &str = "
    atexit exit fclose fopen fprintf fread fwrite getenv getline quick_exit rand scanf srand stod stof stoi
    stol stoul stoull system time to_string
";

static PLAIN: LazyLock<FxHashMap<&str, StandardSpace>> = LazyLock::new(|| {
    let lists =
        [(BOTH, StandardSpace::Both), (HOST_ONLY, StandardSpace::HostOnly), (DEVICE_ONLY, StandardSpace::DeviceOnly)];
    lists.into_iter().flat_map(|(list, space)| list.split_whitespace().map(move |name| (name, space))).collect()
});

/// Where the function that a name of the CUDA headers or the standard libraries means can be called; `None` for other
/// names. The caller has made sure that the project does not define it.
pub fn standard_space(path: &Path) -> Option<StandardSpace> {
    let name = path.last()?.as_str();
    match &*path.segments {
        [_] => {
            let listed = PLAIN.get(name).copied();
            listed.or_else(|| name.starts_with("__").then_some(StandardSpace::Both))
        }
        [std, _] if *std == "std" => {
            let listed = STD_HOST_ONLY.split_whitespace().any(|listed| listed == name);
            Some(if listed { StandardSpace::HostOnly } else { StandardSpace::Both })
        }
        [first, ..] if is_library_namespace(first) => Some(StandardSpace::Both),
        _ => None,
    }
}

fn is_library_namespace(name: &Name) -> bool {
    matches!(name.as_str(), "std" | "cuda" | "thrust" | "cub" | "cooperative_groups" | "cg" | "nvcuda" | "cute")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(path: &str) -> Option<StandardSpace> {
        standard_space(&path.split("::").map(Name::from).collect::<Path>())
    }

    #[test]
    fn each_name_is_listed_once() {
        let count: usize = [HOST_ONLY, DEVICE_ONLY, BOTH].iter().map(|list| list.split_whitespace().count()).sum();
        assert_eq!(PLAIN.len(), count);
    }

    #[test]
    fn well_known_names() {
        assert_eq!(space("fopen"), Some(StandardSpace::HostOnly));
        assert_eq!(space("std::exit"), Some(StandardSpace::HostOnly));
        assert_eq!(space("atomicAdd"), Some(StandardSpace::DeviceOnly));
        assert_eq!(space("__syncthreads"), Some(StandardSpace::DeviceOnly));
        // Dynamic parallelism.
        assert_eq!(space("cudaMalloc"), Some(StandardSpace::Both));
        assert_eq!(space("cudaMemcpy"), Some(StandardSpace::HostOnly));
        for name in ["printf", "std::min", "sqrtf", "__float2half", "__some_builtin", "cuda::std::move", "thrust::sort"]
        {
            assert_eq!(space(name), Some(StandardSpace::Both), "{name}");
        }
        assert_eq!(space("my_function"), None);
        assert_eq!(space("mine::exit"), None);
    }
}
