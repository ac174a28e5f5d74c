//! The small functions that harnesses share.

/// A shared function of harnesses, in the order in which they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    Check,
    Returned,
    Fill,
    Host,
    Device,
    Managed,
    Pinned,
    Symbol,
    Fits,
}

impl Helper {
    /// Its text.
    pub fn text(self) -> &'static str {
        match self {
            Self::Check => CHECK,
            Self::Returned => RETURNED,
            Self::Fill => FILL,
            Self::Host => HOST,
            Self::Device => DEVICE,
            Self::Managed => MANAGED,
            Self::Pinned => PINNED,
            Self::Symbol => SYMBOL,
            Self::Fits => FITS,
        }
    }

    /// Its name in the harness.
    pub fn name(self) -> &'static str {
        match self {
            Self::Check => "harness_check",
            Self::Returned => "harness_returned",
            Self::Fill => "harness_fill",
            Self::Host => "harness_host",
            Self::Device => "harness_device",
            Self::Managed => "harness_managed",
            Self::Pinned => "harness_pinned",
            Self::Symbol => "harness_symbol",
            Self::Fits => "harness_fits",
        }
    }

    /// It and the ones that it calls.
    pub fn with_needed(self) -> Vec<Self> {
        match self {
            Self::Check | Self::Returned | Self::Fill => vec![self],
            Self::Host => vec![Self::Fill, self],
            Self::Pinned => vec![Self::Check, Self::Fill, self],
            Self::Device | Self::Managed | Self::Symbol => vec![Self::Check, Self::Fill, Self::Host, self],
            Self::Fits => vec![Self::Check, self],
        }
    }
}

/// The check of the harness's own calls.
const CHECK: &str = "\
// Ends the program when a call of the harness itself fails.
static void harness_check(cudaError_t status, const char *call) {
    if (status == cudaSuccess) return;
    fprintf(stderr, \"harness: %s: %s\\n\", call, cudaGetErrorString(status));
    exit(1);
}
";

/// What a function returns: whoever calls it may look at that.
const RETURNED: &str = "\
// Shows what a function returns: `harness_returned{\"f\"}, f()`. Nothing for a function that returns nothing or an object.
struct harness_returned {
    const char *function;
};
template <typename T>
static typename std::enable_if<std::is_arithmetic<T>::value || std::is_enum<T>::value>::type
operator,(harness_returned of, T value) {
    printf(\"%s returned %g\\n\", of.function, static_cast<double>(value));
}
template <typename T> static void operator,(harness_returned of, T *value) {
    printf(\"%s returned %s\\n\", of.function, value == nullptr ? \"a null pointer\" : \"a pointer\");
}
";

/// Fills memory with small numbers.
const FILL: &str = "\
// Numbers become 1, 2, ... 7, 1, 2, ...; anything else becomes zero bytes.
template <typename T>
static typename std::enable_if<std::is_arithmetic<T>::value>::type harness_fill(T *values, size_t count) {
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(1 + i % 7);
}
template <typename T>
static typename std::enable_if<!std::is_arithmetic<T>::value>::type harness_fill(T *values, size_t count) {
    memset(static_cast<void *>(values), 0, count * sizeof(T));
}
";

/// Host memory.
const HOST: &str = "\
// Filled host memory from `malloc`.
template <typename T> static T *harness_host(size_t count) {
    T *values = static_cast<T *>(malloc(count * sizeof(T)));
    if (values == nullptr) exit(1);
    harness_fill(values, count);
    return values;
}
";

/// Device memory.
const DEVICE: &str = "\
// Filled device memory from `cudaMalloc`.
template <typename T> static T *harness_device(size_t count) {
    void *values = nullptr;
    T *numbers = harness_host<T>(count);
    harness_check(cudaMalloc(&values, count * sizeof(T)), \"cudaMalloc\");
    harness_check(cudaMemcpy(values, numbers, count * sizeof(T), cudaMemcpyHostToDevice), \"cudaMemcpy\");
    free(numbers);
    return static_cast<T *>(values);
}
";

/// Memory that both sides see.
const MANAGED: &str = "\
// Filled memory that host and device can both use.
template <typename T> static T *harness_managed(size_t count) {
    void *values = nullptr;
    T *numbers = harness_host<T>(count);
    harness_check(cudaMallocManaged(&values, count * sizeof(T)), \"cudaMallocManaged\");
    harness_check(cudaMemcpy(values, numbers, count * sizeof(T), cudaMemcpyDefault), \"cudaMemcpy\");
    free(numbers);
    return static_cast<T *>(values);
}
";

/// Page-locked host memory.
const PINNED: &str = "\
// Filled page-locked host memory.
template <typename T> static T *harness_pinned(size_t count) {
    void *values = nullptr;
    harness_check(cudaMallocHost(&values, count * sizeof(T)), \"cudaMallocHost\");
    harness_fill(static_cast<T *>(values), count);
    return static_cast<T *>(values);
}
";

/// Variables of the device.
const SYMBOL: &str = "\
// Gives a variable of the device small numbers.
template <typename T> static void harness_symbol(const T &symbol) {
    typedef typename std::remove_cv<typename std::remove_all_extents<T>::type>::type element;
    const size_t count = sizeof(T) / sizeof(element);
    element *numbers = harness_host<element>(count);
    harness_check(cudaMemcpyToSymbol(symbol, numbers, count * sizeof(element)), \"cudaMemcpyToSymbol\");
    free(numbers);
}
";

/// Whether the device can run a launch.
const FITS: &str = "\
// Ends the program with status 77 where the device cannot run the launch, and allows the shared memory that it needs.
template <typename K> static void harness_fits(K kernel, dim3 block, size_t shared_bytes) {
    int device = 0, threads = 0, shared = 0;
    harness_check(cudaGetDevice(&device), \"cudaGetDevice\");
    cudaFuncAttributes attributes;
    harness_check(cudaFuncGetAttributes(&attributes, kernel), \"cudaFuncGetAttributes\");
    threads = attributes.maxThreadsPerBlock;
    harness_check(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device), \"cudaDeviceGetAttribute\");
    const size_t wanted = attributes.sharedSizeBytes + shared_bytes;
    if ((size_t)block.x * block.y * block.z > (size_t)threads || wanted > (size_t)shared) {
        fprintf(stderr, \"harness: skipped: this device runs at most %d threads with %d bytes of shared memory\\n\", threads, shared);
        exit(77);
    }
    if (shared_bytes > 48 * 1024) {
        harness_check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes), \"cudaFuncSetAttribute\");
    }
}
";
