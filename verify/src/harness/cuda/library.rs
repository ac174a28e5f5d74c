//! Functions that headers of the toolchain declare, by name: what a text may call without declaring it.

/// Names that are called often. What is missing here costs a stand-in that overload resolution never prefers.
const NAMES: &str = "
    abort abs acos acosf acosh asin asinf asinh assert atan atan2 atan2f atanf atanh atexit atof atoi atol atoll basename
    bsearch calloc cbrt cbrtf ceil ceilf clock clock_gettime close copysign copysignf cos cosf cosh coshf ctime difftime
    erf erfc erfcf erff exit exp exp2 exp2f expf expm1 expm1f fabs fabsf fclose fdim fdimf feof ferror fflush fgetc fgets
    fileno floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf fopen fprintf fputc fputs fread free freopen frexp
    fscanf fseek ftell fwrite getc getchar getcwd getenv getline getopt getopt_long getpid gettimeofday gmtime hypot hypotf isalnum
    isalpha isdigit isfinite isinf islower isnan isspace isupper ldexp lgamma lgammaf localtime log log10 log10f log1p log1pf
    log2 log2f logb logf longjmp lrint lround lroundf malloc max memchr memcmp memcpy memmove memset min mkdir mktime modf
    nanosleep nearbyint open perror pow powf printf putc putchar puts qsort raise rand rand_r random read realloc remainder
    remove rename rewind rint rintf round roundf rsqrt rsqrtf saturate scanf setbuf setenv setjmp setvbuf signal sin sincos
    sincosf sincospi sinf sinh sinhf sleep snprintf sprintf sqrt sqrtf srand srand48 drand48 lrand48 srandom sscanf stat strcasecmp strcat strchr
    strcmp strcpy strcspn strdup strerror strftime strlen strncasecmp strncat strncmp strncpy strpbrk strrchr strspn strstr
    strtod strtof strtok strtok_r strtol strtoll strtoul strtoull swap system tan tanf tanh tanhf tgamma tgammaf time tmpfile
    tolower toupper trunc truncf umax umin umul24 mul24 ungetc unlink usleep vfprintf vprintf vsnprintf vsprintf write
    accumulate all_of any_of back_inserter begin cbegin cend copy copy_if copy_n count count_if cref cout data distance
    emplace end equal fill fill_n find find_if for_each forward function generate generate_n get inner_product iota make_pair make_shared
    make_tuple make_unique max_element memory min_element minmax move mt19937 next nth_element partial_sum partition prev ref
    reverse rotate runtime_error shuffle size sort stable_sort stod stof stoi stol string sum swap_ranges tie to_string transform tuple unique
    uniform_int_distribution uniform_real_distribution normal_distribution vector pair array thread async mutex lock_guard ifstream ofstream ostringstream stringstream
    clz ffs popc brev saturatef fdividef norm3df norm4df rnorm3df rhypot rcbrt erfinv erfcinv normcdf cyl_bessel_i0f
    make_float2 make_float3 make_float4 make_int2 make_int3 make_int4 make_uint2 make_uint3 make_uint4 make_double2 make_double3 make_double4
    make_char4 make_uchar2 make_uchar3 make_uchar4 make_short2 make_short4 make_ushort2 make_ushort4 make_long2 make_longlong2
    make_cuComplex make_cuDoubleComplex make_cuFloatComplex make_half2 atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc
    atomicDec atomicCAS atomicAnd atomicOr atomicXor tex1D tex2D tex3D tex1Dfetch tex2DLod surf2Dread surf2Dwrite surf1Dread surf1Dwrite
    clock64 this_thread_block this_grid tiled_partition coalesced_threads this_cluster sync reduce memcpy_async wait
";

/// Starts of names of libraries.
const PREFIXES: [&str; 22] = [
    "cuda", "cublas", "cufft", "curand", "cusparse", "cusolver", "cudnn", "nccl", "nvrtc", "nvtx", "nvml", "thrust",
    "cub", "MPI_", "omp_", "pthread_", "gl", "glut", "__", "_mm", "npp", "atomic",
];

/// Whether a function of this name may come from a header of the toolchain or a well-known library.
pub(super) fn is_known(name: &str) -> bool {
    let prefixed = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            !prefix.ends_with(|c: char| c.is_ascii_lowercase())
                || rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        })
    };
    let driver = name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    driver || PREFIXES.iter().any(|prefix| prefixed(prefix)) || NAMES.split_whitespace().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn libraries_are_known_by_their_names() {
        for name in ["printf", "cudaMalloc", "cuMemAlloc", "cublasSgemm", "MPI_Init", "__syncthreads", "atomicAdd"] {
            assert!(is_known(name), "{name}");
        }
        for name in ["klee_make_symbolic", "customize", "global_sum", "cube", "initialize"] {
            assert!(!is_known(name), "{name}");
        }
    }
}
