// What the two halves of cudalint's probe share: the log, and what a run was asked to do.
#pragma once

#include <cuda_runtime_api.h>
#include <stddef.h>

// The header names of the per-thread default stream, and the probe's own macros, say nothing here.
#undef cudaDeviceSynchronize
#undef cudaEventCreate
#undef cudaEventDestroy
#undef cudaEventElapsedTime
#undef cudaEventRecord
#undef cudaEventSynchronize
#undef cudaFree
#undef cudaFreeAsync
#undef cudaFreeHost
#undef cudaGetLastError
#undef cudaHostAlloc
#undef cudaLaunchCooperativeKernel
#undef cudaLaunchHostFunc
#undef cudaLaunchKernel
#undef cudaLaunchKernelExC
#undef cudaMalloc
#undef cudaMallocAsync
#undef cudaMallocHost
#undef cudaMallocManaged
#undef cudaMallocPitch
#undef cudaMemcpy
#undef cudaMemcpyAsync
#undef cudaMemset
#undef cudaMemsetAsync
#undef cudaPointerGetAttributes
#undef cudaStreamIsCapturing
#undef cudaStreamSynchronize

namespace cudalint_probe {

// What a run does beside writing its log, as the environment says.
enum class Mode {
    None,         // no log was asked for: every call passes
    Trace,        // nothing
    Status,       // the call at the site reports a failure
    Launch,       // the launch at the site is followed by one that the runtime refuses
    Asynchronous, // calls that wait after the launch at the site report that the kernel failed
    Memory,       // what memsets and copies write is read back
    Cover,        // the launch at the site is compared with one of more threads
    Pair,         // addresses that a kernel noted are read back after each launch
    Skip,         // the launch at the site is not made, and what copies bring to the host is hashed
    Delay,        // one piece of work waits in its stream, and what comes before its end is looked at
    Time          // one piece of work is repeated, and what each repetition takes is measured
};

// A place where a run does something.
struct Aim {
    bool is_launch;
    unsigned long at; // number of the call in the unit, or offset of the launch in the program
    int code;         // the status to hand back
};

struct Plan {
    Mode mode = Mode::None;
    unsigned long turn = 0;    // which turn of its sites, from 1; 0: every one
    bool last_error = true;    // the failure also stays in the last error, as real ones do
    bool checked = false;      // the program stops where a site fails
    const char *blind = "";    // calls of this file see real statuses alone: the harness
    unsigned long threads = 0; // threads that a covering launch needs at least
    unsigned long delayed = 0; // see cudalint_probe_delay.h
    char place_kind = 0;       // w, t, l
    unsigned long place = 0;
    bool reads = false, waits = false;
    char memory[4096] = "";    // the file that memory is written to
};
extern Plan plan;

// One line of the log, JSON, written by one system call when it is complete.
class Line {
  public:
    explicit Line(const char *event);
    void text(const char *key, const char *value);
    void number(const char *key, long long value);
    void numbers(const char *key, const unsigned long long *values, int count);
    void raw(const char *key, const char *json);
    void frames(void *const *addresses, int count);
    void place(const char *file, int line);
    void write();

  private:
    void put(const char *bytes, size_t count);
    void key(const char *name);
    char buffer_[8192];
    size_t used_ = 0;
    bool overflow_ = false;
};

// Offset of an address in the program's file; 0 outside the program itself.
unsigned long long offset_of(const void *address);
bool ends_with(const char *text, const char *end);
int thread_number();

// JSON that the next call's line carries as `memory`; null after it was taken.
void set_details(const char *json);
// The hash of what the next call's line has brought to the host.
void set_brought(unsigned long long hash);
// The number of the work that the call is, which its line carries as `work`.
void set_work(const char *function, unsigned long number);

// Of the half that delays work: before the program does something more, at its end, and at a call of what is no status, whose
// number is given.
void settle_delay();
void end_delay();
unsigned long look_of_delay();

// The launch at a site: what it may be asked to do again. `go` launches with another grid.
struct Launch {
    const void *kernel;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    int (*go)(const Launch &launch, dim3 grid, dim3 block);
    void **arguments;
    const void *more; // what `go` needs beside
    const char *entry; // the function of the runtime
};
// Launches as it stands, and compares with a launch of more threads; gives the status of the first.
int launch_and_compare(const Launch &launch, const char *kernel, unsigned long long at);
// Launches, and delays it, looks at what it comes before or measures it, where that is asked; `number` is that of the work.
int launch_in_order(const Launch &launch, unsigned long *number);

} // namespace cudalint_probe
