// cudalint's probe, the half that writes the log and hands statuses back. See cudalint_probe.cuh.
//
// The environment says what to do:
//   CUDALINT_PROBE_LOG      file of the log; without it nothing is written and nothing changes
//   CUDALINT_PROBE_EACH     1: a log of its own for each program and library, with process and number behind the name
//   CUDALINT_PROBE_MODE     trace, status, launch, asynchronous, memory, cover, pair, skip, delay, time
//   CUDALINT_PROBE_SITES    call:<number>=<status> and launch:<offset, hexadecimal>=<status>, with commas
//   CUDALINT_PROBE_TURN     which turn of a site, from 1, counted over all of them; 0 or nothing: every one
//   CUDALINT_PROBE_SILENT   1: the failure does not stay in the last error
//   CUDALINT_PROBE_CHECKED  1: the program stops where a site fails
//   CUDALINT_PROBE_BLIND    calls of files that end so see real statuses alone
//   CUDALINT_PROBE_THREADS  threads that a covering launch needs at least
#include "cudalint_probe_internal.h"

#include <cxxabi.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern "C" {
unsigned __real___cudaPushCallConfiguration(dim3, dim3, size_t, void *) __attribute__((weak));
cudaError_t __real___cudaGetKernel(void **, const void *) __attribute__((weak));
void __real___cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *)
    __attribute__((weak));
}

namespace cudalint_probe {

Plan plan;

namespace {

int log_file = -1;
const long MOST_LINES = 20000; // later calls are counted and hashed
long lines = 0;
unsigned long long digest = 0xcbf29ce484222325ULL;
long sequence = 0;
int threads = 0;
Aim sites[64];
int site_count = 0;
unsigned long turns = 0;       // of all sites
int armed = 0;                 // the kernel at the site has failed with this, and nobody has waited yet
bool broken = false;           // a call has reported that failure: from now on all do
thread_local int pending = 0;  // a failure that was handed back and stays in the last error
thread_local int number = -1;
thread_local const void *pushed_at = nullptr;
thread_local char details[1024];
thread_local const char *work_function = nullptr; // the work that has been started last, which no line has told yet
thread_local unsigned long work_number = 0;
thread_local unsigned long long brought = 0; // hash of what a copy has brought, and not 0 then
thread_local void *inside[32]; // the calls that led to the launch that is being made
thread_local int inside_count = 0;
int (*pair_reader)(unsigned long long *) = nullptr;

unsigned long long load_bias = 0, program_begin = 0, program_end = 0;
char program[4096]; // the file of the program, or of the library, that this probe is a part of

int note_program(dl_phdr_info *info, size_t, void *) {
    unsigned long long own = reinterpret_cast<unsigned long long>(&load_bias), begin = ~0ULL, end = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
        unsigned long long from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        unsigned long long to = from + info->dlpi_phdr[i].p_memsz;
        if (from < begin) begin = from;
        if (to > end) end = to;
    }
    if (own < begin || own >= end) return 0;
    load_bias = info->dlpi_addr;
    program_begin = begin;
    program_end = end;
    if (info->dlpi_name && *info->dlpi_name) {
        snprintf(program, sizeof program, "%s", info->dlpi_name);
    } else {
        ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
        program[length > 0 ? length : 0] = 0;
    }
    return 1;
}

// The calls of one unit are numbered by the compiler; of a project with several, file and line tell them apart.
unsigned long long number_of(const char *file, int line, int id) {
    unsigned long long hash = 0xcbf29ce484222325ULL;
    for (const char *at = file; *at; ++at) hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3ULL;
    return (hash & 0x7ffff) << 44 | static_cast<unsigned long long>(line & 0xfffff) << 24 |
           static_cast<unsigned long long>(id & 0xffffff);
}

bool same(const char *left, const char *right) { return strcmp(left, right) == 0; }

const char *setting(const char *name) {
    const char *value = getenv(name);
    return value ? value : "";
}

void end_log() {
    end_delay();
    if (lines > MOST_LINES) {
        char text[32];
        snprintf(text, sizeof text, "%016llx", digest);
        Line line("more");
        line.number("count", lines - MOST_LINES);
        line.text("digest", text);
        line.write();
    }
    Line("exit").write();
}

void on_signal(int signal_number) {
    Line line("signal");
    line.number("number", signal_number);
    if (inside_count) {
        // Whose code the launch has come to may not say where it was called from: the driver's does not have to.
        line.frames(inside, inside_count);
    } else {
        void *addresses[32];
        line.frames(addresses, backtrace(addresses, 32));
    }
    line.write();
    raise(signal_number); // the default is in force again
}

__attribute__((constructor)) void begin() {
    const char *path = setting("CUDALINT_PROBE_LOG");
    if (!*path) return;
    if (same(setting("CUDALINT_PROBE_EACH"), "1")) {
        for (int each = 0; each < 100 && log_file < 0; ++each) {
            char name[4096];
            snprintf(name, sizeof name, "%s.%08d.%02d", path, static_cast<int>(getpid()), each);
            log_file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
        }
    } else {
        log_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
    if (log_file < 0) return;
    dl_iterate_phdr(note_program, nullptr);
    const char *mode = setting("CUDALINT_PROBE_MODE");
    plan.mode = same(mode, "status")         ? Mode::Status
                : same(mode, "launch")       ? Mode::Launch
                : same(mode, "asynchronous") ? Mode::Asynchronous
                : same(mode, "memory")       ? Mode::Memory
                : same(mode, "cover")        ? Mode::Cover
                : same(mode, "pair")         ? Mode::Pair
                : same(mode, "skip")         ? Mode::Skip
                : same(mode, "delay")        ? Mode::Delay
                : same(mode, "time")         ? Mode::Time
                                             : Mode::Trace;
    for (const char *at = setting("CUDALINT_PROBE_SITES"); *at && site_count < 64;) {
        bool is_launch = strncmp(at, "launch:", 7) == 0;
        const char *value = strchr(at, ':');
        const char *status = strchr(at, '=');
        if (!value || !status) break;
        sites[site_count++] = {is_launch, strtoul(value + 1, nullptr, is_launch ? 16 : 10), atoi(status + 1)};
        const char *next = strchr(at, ',');
        at = next ? next + 1 : "";
    }
    plan.turn = strtoul(setting("CUDALINT_PROBE_TURN"), nullptr, 10);
    plan.last_error = !same(setting("CUDALINT_PROBE_SILENT"), "1");
    plan.checked = same(setting("CUDALINT_PROBE_CHECKED"), "1");
    plan.blind = setting("CUDALINT_PROBE_BLIND");
    plan.threads = strtoul(setting("CUDALINT_PROBE_THREADS"), nullptr, 10);
    plan.delayed = strtoul(setting("CUDALINT_PROBE_DELAYED"), nullptr, 10);
    plan.place_kind = *setting("CUDALINT_PROBE_PLACE");
    if (const char *number = strchr(setting("CUDALINT_PROBE_PLACE"), ':')) plan.place = strtoul(number + 1, nullptr, 10);
    plan.reads = same(setting("CUDALINT_PROBE_READS"), "1");
    plan.waits = same(setting("CUDALINT_PROBE_WAITS"), "1");
    snprintf(plan.memory, sizeof plan.memory, "%s.memory", path);
    void *warm[2];
    backtrace(warm, 2); // loads what it needs now, so that the handler does not have to
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    const int deadly[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    for (int each : deadly) sigaction(each, &action, nullptr);
    atexit(end_log); // registered first, runs last
    // Numbers of processes begin anew some time: of several programs this says which came first.
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    Line line("begin");
    line.text("program", program);
    line.number("time", static_cast<long long>(now.tv_sec) * 1000000000 + now.tv_nsec);
    line.write();
}

bool room_for(const char *function, const char *file, int line) {
    long count = __atomic_add_fetch(&lines, 1, __ATOMIC_RELAXED);
    if (count <= MOST_LINES) return true;
    const char *parts[] = {function, file};
    for (const char *part : parts)
        for (; *part; ++part) digest = (digest ^ static_cast<unsigned char>(*part)) * 0x100000001b3ULL;
    digest = (digest ^ static_cast<unsigned>(line)) * 0x100000001b3ULL;
    return false;
}

// Calls that return only when the device has caught up, and so are the first to report what went wrong on it.
bool waits(const char *function) {
    const char *names[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                           "cudaThreadSynchronize", "cudaStreamQuery",       "cudaEventQuery",
                           "cudaFree",              "cudaMemcpy",            "cudaMemcpy2D",
                           "cudaMemcpy3D",          "cudaMemcpyToSymbol",    "cudaMemcpyFromSymbol",
                           "cudaMemcpyToArray",     "cudaMemcpyFromArray",   "cudaMemcpyPeer",
                           "cuCtxSynchronize",      "cuStreamSynchronize",   "cuEventSynchronize",
                           "cuMemcpyDtoH",          "cuMemcpyHtoD",          "cuMemFree"};
    for (const char *name : names)
        if (same(function, name)) return true;
    return false;
}

bool is_runtime(const char *function) { return strncmp(function, "cuda", 4) == 0; }

// The site at this place, when it is its turn.
const Aim *site_at(bool is_launch, unsigned long at) {
    for (int i = 0; i < site_count; ++i) {
        if (sites[i].is_launch != is_launch || sites[i].at != at) continue;
        unsigned long turn = __atomic_add_fetch(&turns, 1, __ATOMIC_RELAXED);
        return plan.turn == 0 || plan.turn == turn ? &sites[i] : nullptr;
    }
    return nullptr;
}

// The checked twin: the program with the test that is missing.
[[noreturn]] void stop(const char *what, const char *file, int at_line, unsigned long long at, int status) {
    Line line("stop");
    line.text("function", what);
    if (file) line.place(file, at_line);
    if (at) line.numbers("at", &at, 1);
    line.number("code", status);
    line.write();
    fflush(nullptr);
    if (file) fprintf(stderr, "%s:%d: ", file, at_line);
    fprintf(stderr, "%s failed with status %d: stopped by cudalint's checked twin\n", what, status);
    _exit(86);
}

struct Registered {
    const void *function;
    char *name;
};
Registered kernels[4096];
int kernel_count = 0;
struct Handle {
    const void *handle, *function;
};
Handle handles[4096];
int handle_count = 0;

const char *kernel_name(const void *kernel) {
    for (int i = 0; i < handle_count; ++i)
        if (handles[i].handle == kernel) {
            kernel = handles[i].function;
            break;
        }
    for (int i = 0; i < kernel_count; ++i)
        if (kernels[i].function == kernel) return kernels[i].name;
    return "";
}

} // namespace

Line::Line(const char *event) {
    put("{\"event\":\"", 10);
    put(event, strlen(event));
    put("\"", 1);
}

void Line::put(const char *bytes, size_t count) {
    if (used_ + count + 3 > sizeof buffer_) {
        overflow_ = true;
        return;
    }
    memcpy(buffer_ + used_, bytes, count);
    used_ += count;
}

void Line::key(const char *name) {
    put(",\"", 2);
    put(name, strlen(name));
    put("\":", 2);
}

void Line::text(const char *name, const char *value) {
    key(name);
    put("\"", 1);
    for (; *value; ++value) {
        unsigned char byte = static_cast<unsigned char>(*value);
        if (byte == '"' || byte == '\\') {
            put("\\", 1);
            put(value, 1);
        } else if (byte < 0x20) {
            char escape[8];
            put(escape, static_cast<size_t>(snprintf(escape, sizeof escape, "\\u%04x", byte)));
        } else {
            put(value, 1);
        }
    }
    put("\"", 1);
}

void Line::number(const char *name, long long value) {
    char digits[24];
    key(name);
    put(digits, static_cast<size_t>(snprintf(digits, sizeof digits, "%lld", value)));
}

void Line::numbers(const char *name, const unsigned long long *values, int count) {
    key(name);
    put("[", 1);
    for (int i = 0; i < count; ++i) {
        char digits[24];
        put(digits, static_cast<size_t>(snprintf(digits, sizeof digits, i ? ",%llu" : "%llu", values[i])));
    }
    put("]", 1);
}

void Line::raw(const char *name, const char *json) {
    key(name);
    put(json, strlen(json));
}

void Line::frames(void *const *addresses, int count) {
    unsigned long long offsets[64];
    int kept = 0;
    for (int i = 0; i < count && kept < 64; ++i)
        if (unsigned long long offset = offset_of(addresses[i])) offsets[kept++] = offset;
    numbers("frames", offsets, kept);
}

void Line::place(const char *file, int line) {
    text("file", file);
    number("line", line);
}

void Line::write() {
    if (log_file < 0 || overflow_) return;
    put("}\n", 2);
    ssize_t ignored = ::write(log_file, buffer_, used_);
    (void)ignored;
}

unsigned long long offset_of(const void *address) {
    unsigned long long value = reinterpret_cast<unsigned long long>(address);
    return value >= program_begin && value < program_end ? value - load_bias : 0;
}

bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return tail && length >= tail && same(text + length - tail, end);
}

int thread_number() {
    if (number < 0) number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    return number;
}

void set_details(const char *json) { snprintf(details, sizeof details, "%s", json); }

void set_brought(unsigned long long hash) { brought = hash | 1; }

void set_work(const char *function, unsigned long number) {
    work_function = function;
    work_number = number;
}

namespace {

// Every launch comes through here.
int launched(Launch launch) {
    if (plan.mode == Mode::None) return launch.go(launch, launch.grid, launch.block);
    unsigned long long at = offset_of(pushed_at);
    pushed_at = nullptr;
    const char *kernel = kernel_name(launch.kernel);
    const Aim *here = at ? site_at(true, at) : nullptr;
    int count = inside_count = backtrace(inside, 32);
    unsigned long work = 0;
    int status = here && plan.mode == Mode::Skip  ? 0
                 : here && plan.mode == Mode::Cover ? launch_and_compare(launch, kernel, at)
                 : plan.mode == Mode::Delay || plan.mode == Mode::Time ? launch_in_order(launch, &work)
                                                  : launch.go(launch, launch.grid, launch.block);
    inside_count = 0;
    int refused = 0;
    if (here && plan.mode == Mode::Launch && status == 0) {
        // The program's own launch has been made. One more, of a block that no device takes, leaves a real error behind.
        refused = launch.go(launch, launch.grid, dim3(1u << 20, 1, 1));
    }
    if (here && plan.mode == Mode::Asynchronous) armed = here->code;
    if (room_for(kernel, "", static_cast<int>(at))) {
        const unsigned long long grid[] = {launch.grid.x, launch.grid.y, launch.grid.z};
        const unsigned long long block[] = {launch.block.x, launch.block.y, launch.block.z};
        Line line("launch");
        line.number("sequence", __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED));
        line.number("thread", thread_number());
        line.text("kernel", kernel);
        line.numbers("grid", grid, 3);
        line.numbers("block", block, 3);
        line.number("shared", static_cast<long long>(launch.shared));
        line.number("real", status);
        line.number("handed", refused ? refused : here && (plan.mode == Mode::Asynchronous || plan.mode == Mode::Skip) ? here->code : status);
        if (at) line.number("at", static_cast<long long>(at));
        if (work) line.number("work", static_cast<long long>(work));
        line.frames(inside, count);
        line.write();
    }
    if (here && plan.checked && plan.mode == Mode::Launch) {
        int last = cudaGetLastError();
        if (last != 0) stop(kernel, nullptr, 0, at, last);
    }
    if (here && plan.checked && plan.mode == Mode::Asynchronous) stop("cudaDeviceSynchronize", nullptr, 0, at, here->code);
    if (plan.mode == Mode::Pair && pair_reader && status == 0) {
        unsigned long long values[4] = {0, 0, 0, 0};
        if (pair_reader(values)) {
            Line line("pair");
            line.text("kernel", kernel);
            line.numbers("addresses", values, 2);
            line.number("line", static_cast<long long>(values[2]));
            line.write();
        }
    }
    return status;
}

} // namespace
} // namespace cudalint_probe

using namespace cudalint_probe;

extern "C" int cudalint_probe_call(int status, const char *function, const char *file, int at_line, int id, int kind) {
    if (plan.mode == Mode::None) return status;
    unsigned long look = 0;
    if (plan.mode == Mode::Delay) {
        settle_delay();
        if (kind != 1) look = look_of_delay();
    }
    int handed = status;
    bool blind = *plan.blind && ends_with(file, plan.blind);
    unsigned long long number = number_of(file, at_line, id);
    const Aim *here = plan.mode == Mode::Status ? site_at(false, number) : nullptr;
    if (!blind && is_runtime(function) && pending && status == 0) {
        bool reads = same(function, "cudaGetLastError");
        if (reads || same(function, "cudaPeekAtLastError")) handed = pending;
        if (reads) pending = 0;
    }
    if (!blind && plan.mode == Mode::Asynchronous && armed && kind == 1 && strncmp(function, "cu", 2) == 0) {
        if (waits(function)) broken = true;
        if (broken) handed = armed;
    }
    if (here) {
        handed = here->code;
        bool reads = same(function, "cudaGetLastError") || same(function, "cudaPeekAtLastError");
        if (plan.last_error && kind == 1 && is_runtime(function) && !reads) pending = here->code;
    }
    if (room_for(function, file, at_line)) {
        Line line("call");
        line.number("sequence", __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED));
        line.number("thread", thread_number());
        line.text("function", function);
        line.place(file, at_line);
        line.number("id", static_cast<long long>(number));
        line.number("kind", kind);
        line.number("real", status);
        line.number("handed", handed);
        if (details[0]) line.raw("memory", details);
        if (brought) line.number("brought", static_cast<long long>(brought >> 1));
        if (look) line.number("look", static_cast<long long>(look));
        if (work_function && same(work_function, function)) line.number("work", static_cast<long long>(work_number));
        line.write();
    }
    details[0] = 0;
    work_function = nullptr;
    brought = 0;
    if (here && plan.checked && handed != 0) stop(function, file, at_line, 0, handed);
    return handed;
}

extern "C" void cudalint_probe_text(int status, const char *function, const char *file, int at_line, int id) {
    if (plan.mode == Mode::None || !room_for(function, file, at_line)) return;
    Line line("words");
    line.number("sequence", __atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED));
    line.number("thread", thread_number());
    line.text("function", function);
    line.place(file, at_line);
    line.number("id", static_cast<long long>(number_of(file, at_line, id)));
    line.number("code", status);
    line.write();
}

extern "C" void cudalint_probe_pair_reader(int (*read)(unsigned long long *)) { pair_reader = read; }

extern "C" unsigned __wrap___cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    pushed_at = __builtin_return_address(0);
    return __real___cudaPushCallConfiguration(grid, block, shared, stream);
}

extern "C" void __wrap___cudaRegisterFunction(void **module, const char *function, char *device, const char *name,
                                              int limit, void *thread, void *block, void *block_size, void *grid_size,
                                              int *warps) {
    if (kernel_count < 4096) {
        int status = 0;
        char *plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
        kernels[kernel_count++] = {function, plain ? plain : strdup(name)};
    }
    __real___cudaRegisterFunction(module, function, device, name, limit, thread, block, block_size, grid_size, warps);
}

extern "C" cudaError_t __wrap___cudaGetKernel(void **handle, const void *function) {
    cudaError_t status = __real___cudaGetKernel(handle, function);
    if (status == cudaSuccess && handle_count < 4096) handles[handle_count++] = {*handle, function};
    return status;
}

// The entries by which a launch reaches the runtime: `<<<…>>>` of nvcc 13, of older ones, and the functions.
#define CUDALINT_PROBE_LAUNCH(name)                                                                                    \
    extern "C" cudaError_t __real_##name(const void *, dim3, dim3, void **, size_t, cudaStream_t)                      \
        __attribute__((weak));                                                                                         \
    extern "C" cudaError_t __wrap_##name(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,   \
                                         cudaStream_t stream) {                                                        \
        return static_cast<cudaError_t>(launched({kernel, grid, block, shared, stream,                                 \
                                                  [](const Launch &launch, dim3 grid, dim3 block) -> int {             \
                                                      return __real_##name(launch.kernel, grid, block,                 \
                                                                           launch.arguments, launch.shared,            \
                                                                           launch.stream);                             \
                                                  },                                                                   \
                                                  arguments, nullptr, #name}));                                        \
    }
CUDALINT_PROBE_LAUNCH(__cudaLaunchKernel)
CUDALINT_PROBE_LAUNCH(__cudaLaunchKernel_ptsz)
CUDALINT_PROBE_LAUNCH(cudaLaunchKernel)
CUDALINT_PROBE_LAUNCH(cudaLaunchKernel_ptsz)
CUDALINT_PROBE_LAUNCH(cudaLaunchCooperativeKernel)
CUDALINT_PROBE_LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define CUDALINT_PROBE_LAUNCH_EX(name)                                                                                 \
    extern "C" cudaError_t __real_##name(const cudaLaunchConfig_t *, const void *, void **) __attribute__((weak));     \
    extern "C" cudaError_t __wrap_##name(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {     \
        return static_cast<cudaError_t>(                                                                               \
            launched({kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,             \
                      [](const Launch &launch, dim3 grid, dim3 block) -> int {                                         \
                          cudaLaunchConfig_t changed = *static_cast<const cudaLaunchConfig_t *>(launch.more);          \
                          changed.gridDim = grid;                                                                      \
                          changed.blockDim = block;                                                                    \
                          return __real_##name(&changed, launch.kernel, launch.arguments);                             \
                      },                                                                                               \
                      arguments, config, #name}));                                                                     \
    }
CUDALINT_PROBE_LAUNCH_EX(cudaLaunchKernelExC)
CUDALINT_PROBE_LAUNCH_EX(cudaLaunchKernelExC_ptsz)

#include "cudalint_probe_memory.h"
