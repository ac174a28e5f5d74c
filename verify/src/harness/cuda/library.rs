//! Functions that headers of the toolchain declare, by name: what a text may call without declaring it.

use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Library;

/// Names that are called often and that the catalogue has not, since nobody asks what they do. What is missing here costs a
/// stand-in that overload resolution never prefers.
const NAMES: &str = "
    accumulate all_of any_of array async back_inserter basename brev cbegin cend close clz coalesced_threads copy_if copy_n
    count_if cout cref cyl_bessel_i0f emplace fileno fill_n find_if for_each freopen function generate generate_n getcwd
    ifstream inner_product iota isalnum islower isspace isupper lock_guard max_element memchr memcpy_async memory
    min_element minmax mkdir mktime mt19937 mutex next normal_distribution nth_element ofstream open ostringstream pair
    partial_sum partition popc prev raise read reduce ref rename reverse rnorm3df rotate runtime_error saturatef setbuf
    setjmp setvbuf shuffle stable_sort stat strcspn string stringstream strncasecmp strncat strpbrk strspn strtok_r sum
    swap_ranges this_block this_cluster this_grid this_thread_block thread tie tiled_partition transform tuple umul24 mul24
    ungetc uniform_int_distribution uniform_real_distribution unique unlink vector wait write
";

/// Starts of names of libraries whose functions the catalogue does not list.
const PREFIXES: [&str; 9] = ["thrust", "cub", "gl", "glut", "MPI_", "omp_", "pthread_", "__", "_mm"];

/// Whether a function of this name may come from a header of the toolchain or a well-known library.
pub(super) fn is_known(name: &str) -> bool {
    let follows = |rest: &str| rest.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    let prefixed = |prefix: &&str| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| !prefix.ends_with(|c: char| c.is_ascii_lowercase()) || follows(rest))
    };
    // Of makers of values those of CUDA's vectors and complex numbers: `make_float4`.
    let vector = |ty: &str| ty.starts_with("cu") || ty.ends_with(['2', '3', '4']);
    ApiId::named(name).is_some_and(|api| !api.name().ends_with('*'))
        || Library::of_name(name).is_some()
        || name.strip_prefix("make_").is_some_and(vector)
        || PREFIXES.iter().any(prefixed)
        || NAMES.split_whitespace().any(|known| known == name)
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
