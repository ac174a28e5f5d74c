//! Branches, loops, assumptions and what must become unknown.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{allocations, config, copies, events, host_accesses, launches, sides};

#[test]
fn arguments_of_the_command_line_are_assumed_absent() {
    let events = events(
        r#"
int main(int argc, char** argv) {
    int n = 1 << 20;
    if (argc > 1) n = atoi(argv[1]);
    int m = argc > 2 ? atoi(argv[2]) : 64;
    char* text = getenv("SIZE");
    int k = 5;
    if (text) k = atoi(text);
    float *a, *b, *c;
    cudaMalloc(&a, n);
    cudaMalloc(&b, m);
    cudaMalloc(&c, k);
}
"#,
    );
    assert_eq!(
        allocations(&events),
        [
            "1048576 if no command-line argument is given",
            "64 if no command-line argument is given",
            "5 if the environment variable \"SIZE\" is not set"
        ]
    );
}

#[test]
fn a_program_that_insists_on_arguments_rests_on_nothing() {
    let events = events(
        r#"
int main(int argc, char** argv) {
    if (argc < 2) { printf("usage\n"); return 1; }
    int n = atoi(argv[1]);
    float* a;
    cudaMalloc(&a, n * sizeof(float));
    cudaMemcpy(a, argv, n * sizeof(double), cudaMemcpyHostToDevice);
}
"#,
    );
    assert_eq!(allocations(&events), ["4 * n"]);
    assert_eq!(copies(&events), ["8 * n"]);
}

#[test]
fn unknown_branches_are_joined() {
    let events = events(
        r"
int pick();
int main() {
    int n = 100, m = 7;
    if (pick()) { n = 200; } else { m = 7; }
    float *a, *b;
    cudaMalloc(&a, n);
    cudaMalloc(&b, m);
    if (pick()) return 1;
    cudaMalloc(&a, m + 1);
}
",
    );
    assert_eq!(allocations(&events), ["n", "7", "8"]);
}

#[test]
fn failure_branches_do_not_go_on() {
    let events = events(
        r#"
int main() {
    float* d = nullptr;
    size_t bytes = 64;
    cudaError_t err = cudaMalloc(&d, bytes);
    if (err != cudaSuccess) { bytes = 0; fprintf(stderr, "no memory\n"); goto done; }
    float* h;
    h = (float*)malloc(bytes);
    if (h == NULL) { bytes = 1; }
    if (cudaMemcpy(d, h, bytes, cudaMemcpyHostToDevice) != cudaSuccess) goto done;
    cudaMemset(d, 0, bytes);
done:
    cudaFree(d);
    return 0;
}
"#,
    );
    assert_eq!(copies(&events), ["64"]);
    assert_eq!(sides(&events), [("Device d 64+0".into(), "Host h 64+0".into())]);
}

#[test]
fn what_code_out_of_sight_may_write_is_unknown() {
    let events = events(
        r"
void configure(int* n);
void measure(const int* n);
template <class T> void load(T& value);
int main() {
    int a = 1, b = 2, c = 3, d = 4;
    configure(&a);
    measure(&b);
    elsewhere(c);
    std::cin >> d;
    int e = 5;
    int* p = &e;
    keep(p);
    other();
    void *u, *v, *w, *x, *y;
    cudaMalloc(&u, a);
    cudaMalloc(&v, b);
    cudaMalloc(&w, c);
    cudaMalloc(&x, d);
    cudaMalloc(&y, e);
}
",
    );
    assert_eq!(allocations(&events), ["a", "2", "c", "d", "e"]);
}

#[test]
fn loops_with_known_bounds_run_and_others_forget() {
    let events = events(
        r"
__global__ void k(int n) {}
int count();
int main() {
    for (int i = 0; i < 3; ++i) k<<<i + 1, 32>>>(i);
    int n = count(), size = 8;
    float* fixed;
    cudaMalloc(&fixed, size);
    for (int i = 0; i < n; ++i) {
        cudaMemset(fixed, 0, size);
        size += 8;
    }
    cudaMemset(fixed, 0, size);
}
",
    );
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs.len(), 3);
    assert_eq!(configs[2], "<<<3,1,1 | 32,1,1 | 0>>>");
    let sets: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.kind {
            cudalint_replay::facts::EventKind::Set { bytes, .. } => Some(common::amount(bytes)),
            _ => None,
        })
        .collect();
    // Of the first round of the second loop everything is known, of the others and of what comes after nothing.
    assert_eq!(sets.len(), 3);
    assert_eq!(sets.iter().filter(|set| *set == "8").count(), 1, "{sets:?}");
    assert!(sets.iter().all(|set| set != "16"), "{sets:?}");
}

#[test]
fn wrappers_are_followed_into_their_bodies() {
    let events = events(
        r#"
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("%d\n", e); exit(1); } } while (0)
inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
template <typename T> T* device_new(size_t count) {
    T* p = nullptr;
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    return p;
}
template <typename T> void grow(T** p, int n) { CHECK(cudaMalloc((void**)p, n * sizeof(T))); }
void by_reference(double*& p) { CHECK(cudaMalloc(&p, 80)); }
__global__ void k(double* p, int n) {}
int main() {
    double* a = device_new<double>(1000);
    float* b;
    grow(&b, 10);
    double* c;
    by_reference(c);
    auto launch = [&](int n) { k<<<ceil_div(n, 128), 128>>>(c, n); };
    launch(1000);
    CHECK(cudaMemcpy(a, c, 80, cudaMemcpyDeviceToDevice));
}
"#,
    );
    let sizes = allocations(&events);
    assert!(
        sizes.contains(&"8000".to_owned()) && sizes.contains(&"40".to_owned()) && sizes.contains(&"80".to_owned()),
        "{sizes:?}"
    );
    assert!(launches(&events).into_iter().any(|launch| config(launch) == "<<<8,1,1 | 128,1,1 | 0>>>"));
    assert!(
        sides(&events).iter().any(|(to, from)| to.contains("8000+0") && from.contains("80+0")),
        "{:?}",
        sides(&events)
    );
}

#[test]
fn pointers_that_nobody_set_and_elided_code() {
    let unset = events(
        r"
__global__ void k(float* p) {}
void allocate(float* p) { cudaMalloc(&p, 128); }
int main() { float* p; allocate(p); k<<<1, 32>>>(p); }
",
    );
    let launch = launches(&unset)[0];
    assert_eq!(common::pointer(launch.args[0].pointer.as_ref().unwrap()), "unset p");
    let elided = events(
        r"
__global__ void k(float* p) {}
int main() {
    float* p;
    // ... allocate memory as before ...
    k<<<1, 32>>>(p);
}
",
    );
    let launch = launches(&elided)[0];
    assert_eq!(common::pointer(launch.args[0].pointer.as_ref().unwrap()), "?");
}

#[test]
fn containers_know_their_sizes() {
    let events = events(
        r"
int main() {
    const int n = 50;
    std::vector<float> h(n);
    std::vector<double> list = {1.0, 2.0, 3.0};
    std::array<int, 6> six;
    std::unique_ptr<int[]> owned(new int[9]);
    thrust::device_vector<float> dv(n);
    float* d;
    cudaMalloc(&d, h.size() * sizeof(float));
    cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d, &h[10], 4, cudaMemcpyHostToDevice);
    cudaMemcpy(d, list.data(), 24, cudaMemcpyHostToDevice);
    cudaMemcpy(d, six.data(), sizeof(six), cudaMemcpyHostToDevice);
    cudaMemcpy(d, owned.get(), 36, cudaMemcpyHostToDevice);
    cudaMemcpy(d, thrust::raw_pointer_cast(dv.data()), 8, cudaMemcpyDeviceToDevice);
    h.push_back(1.0f);
    cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
}
",
    );
    assert_eq!(copies(&events), ["200", "4", "24", "24", "36", "8", "204"]);
    let from: Vec<String> = sides(&events).into_iter().map(|(_, from)| from).collect();
    assert_eq!(from[0], "Host h 200+0");
    assert_eq!(from[1], "Host h 200+40");
    assert_eq!(from[2], "Host list 24+0");
    assert_eq!(from[3], "Host six 24+0");
    assert_eq!(from[4], "Host owned 36+0");
    assert_eq!(from[5], "Device dv 200+0");
    assert_eq!(from[6], "Host h 204+0");
}

#[test]
fn only_sure_device_memory_is_reported_as_touched() {
    let text = r"
int main() {
    int *d, *m, *u;
    cudaMalloc(&d, 64);
    cudaMallocManaged(&m, 64);
    u = somewhere();
    m[0] = 1;
    u[0] = 2;
    int size = sizeof(*d);
    int* inside = &d[3];
    int** home = &d;
    BAD
}
";
    assert_eq!(host_accesses(&events(&text.replace("BAD", ""))), 0);
    assert_eq!(host_accesses(&events(&text.replace("BAD", "d[2] = 5;"))), 1);
    assert_eq!(host_accesses(&events(&text.replace("BAD", "size = *inside;"))), 1);
    assert_eq!(host_accesses(&events(&text.replace("BAD", "memcpy(d, m, 4);"))), 1);
    assert_eq!(host_accesses(&events(&text.replace("BAD", "size = **home;"))), 1);
}

#[test]
fn classes_keep_what_their_constructors_made() {
    let events = events(
        r"
class Buffer {
public:
    Buffer(size_t n) : count_(n) { cudaMalloc(&data_, count_ * sizeof(float)); }
    ~Buffer() { cudaFree(data_); }
    float* data() { return data_; }
    size_t bytes() const { return count_ * sizeof(float); }
private:
    float* data_;
    size_t count_;
};
int main() {
    Buffer b(25);
    float h[30];
    cudaMemcpy(b.data(), h, b.bytes() + 4, cudaMemcpyHostToDevice);
}
",
    );
    assert_eq!(copies(&events), ["104"]);
    let (to, from) = sides(&events).remove(0);
    assert!(to.starts_with("Device") && to.ends_with("100+0"), "{to}");
    assert_eq!(from, "Host h 120+0");
}

#[test]
fn methods_that_differ_in_const_alone_are_followed() {
    let events = events(
        r"
class Buffer {
public:
    Buffer(size_t n) : count_(n) { cudaMalloc(&data_, count_ * sizeof(float)); }
    float* data() { return data_; }
    const float* data() const { return data_; }
    size_t bytes() { return count_ * sizeof(float) + 4; }
    size_t bytes() const { return count_ * sizeof(float); }
private:
    float* data_;
    size_t count_;
};
int main() {
    Buffer b(25);
    float h[30];
    cudaMemcpy(b.data(), h, 104, cudaMemcpyHostToDevice);
    cudaMemcpy(b.data(), h, b.bytes(), cudaMemcpyHostToDevice);
}
",
    );
    assert_eq!(copies(&events), ["104", "unknown"]);
    let (to, _) = sides(&events).remove(0);
    assert!(to.starts_with("Device") && to.ends_with("100+0"), "{to}");
}

#[test]
fn sizes_of_unknown_parameters_stay_symbols() {
    let events = events(
        r"
template <typename T> void send(T* d, const T* h, int n) {
    T* p;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemcpy(p, h, (n + 1) * sizeof(T), cudaMemcpyHostToDevice);
}
__global__ void k(float* a, int n) {}
void grid(float* a, int n) { k<<<n / 256, 256>>>(a, n); k<<<(int)ceil(n / 256.0), 256>>>(a, n); }
",
    );
    assert_eq!(allocations(&events), ["n * sizeof(T)"]);
    let configs: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert_eq!(configs[0], "<<<n / 256,1,1 | 256,1,1 | 0>>>");
    assert_eq!(configs[1], "<<<(n + 255) / 256,1,1 | 256,1,1 | 0>>>");
}

#[test]
fn the_first_round_of_a_long_loop_finds_everything_as_it_was() {
    let events = events(
        r"
__global__ void step(float* p, int width);
void run(float* p, int rounds) {
    dim3 grid(32);
    for (int i = 0; i < rounds; i++) {
        step<<<grid, 256>>>(p, i);
        grid.x = pick();
    }
}
",
    );
    let seen: Vec<String> = launches(&events).into_iter().map(config).collect();
    assert!(seen.contains(&"<<<32,1,1 | 256,1,1 | 0>>>".to_owned()), "{seen:?}");
    assert!(seen.iter().any(|config| config.starts_with("<<<unknown")), "{seen:?}");
}

#[test]
fn a_loop_in_leaps_runs_less_often_than_it_counts() {
    let events = events(
        r"
__global__ void step(float* p, int width);
int main() {
    float* p;
    cudaMalloc(&p, 4096);
    for (int width = 1024; width >= 256; width >>= 1) step<<<width / 32, 32>>>(p, width);
    for (int width = 2; width <= 1000000; width *= 100) step<<<width, 64>>>(p, width);
}
",
    );
    let seen: Vec<String> = launches(&events).into_iter().map(config).collect();
    let grid = |blocks: u32, threads: u32| format!("<<<{blocks},1,1 | {threads},1,1 | 0>>>");
    for wanted in [grid(32, 32), grid(16, 32), grid(8, 32), grid(2, 64), grid(200, 64), grid(20000, 64)] {
        assert!(seen.contains(&wanted), "{wanted} in {seen:?}");
    }
}
