// cudalint's probe, the half that delays work: it puts a wait into a stream, in front of one piece of work (a launch, a copy, a
// set), and looks at what is done before that work is done. cudalint_probe_memory.h includes it, whose allocations it knows.
//
// Work, looks at memory (`cudalint_probe_touch`) and calls of functions that are no status (clocks) are numbered as they come; a
// first run tells the numbers, and
//   CUDALINT_PROBE_DELAYED  number of the work that is delayed; 0 or nothing: none is
//   CUDALINT_PROBE_PLACE    work:<number>, touch:<number>, look:<number>: what is done too early
//   CUDALINT_PROBE_READS    1: of a touch, the host reads; else it writes
//   CUDALINT_PROBE_WAITS    1: the place waits for the device first
// The memory of the program as it is when both are done goes to the log's file with `.memory` behind its name.
#pragma once

#include <time.h>

extern "C" {
cudaError_t __real_cudaMallocAsync(void **, size_t, cudaStream_t) __attribute__((weak));
cudaError_t __real_cudaFreeAsync(void *, cudaStream_t) __attribute__((weak));
cudaError_t __real_cudaMemsetAsync(void *, int, size_t, cudaStream_t) __attribute__((weak));
}

namespace cudalint_probe {
namespace {

const long DELAY = 300; // milliseconds
const size_t MOST_KEPT = size_t(128) << 20;
const size_t MOST_TOUCHED = size_t(1) << 20;
const int OTHERS = 0x5a; // what the next owner of freed memory writes there

unsigned long works = 0, touches = 0, looks_seen = 0;
bool delaying = false;         // the work has been started
int delayed_done = 0;          // it is done, as the device says
double started = 0, at_place = 0;
bool place_seen = false, done_by_then = false, to_settle = false, told = false;
const char *trouble = "";
void *delayed_to = nullptr;    // where the delayed copy goes
size_t delayed_bytes = 0;
void *place_to = nullptr;
size_t place_bytes = 0;
char extra[512] = "";          // what was seen at the place, JSON

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

void CUDART_CB sleep_there(void *) {
    timespec time = {DELAY / 1000, DELAY % 1000 * 1000000};
    nanosleep(&time, nullptr);
}
void CUDART_CB note_done(void *) { __atomic_store_n(&delayed_done, 1, __ATOMIC_RELEASE); }

bool is_done() { return __atomic_load_n(&delayed_done, __ATOMIC_ACQUIRE) != 0; }

// What the device has been given by now is done behind this.
bool caught_up() { return cudaDeviceSynchronize() == cudaSuccess; }

void keep(int file, const void *memory, size_t bytes) {
    unsigned long long size = bytes;
    char *copy = copy_of(memory, bytes);
    if (!copy) size = 0;
    if (write(file, &size, sizeof size) != static_cast<ssize_t>(sizeof size)) trouble = "the memory cannot be written down";
    for (size_t done = 0; done < size;) {
        ssize_t some = write(file, copy + done, size - done);
        if (some <= 0) {
            trouble = "the memory cannot be written down";
            break;
        }
        done += static_cast<size_t>(some);
    }
    free(copy);
}

// Writes down what the program's memory holds, once all is done.
void keep_all() {
    size_t total = delayed_bytes + place_bytes;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < allocation_count; ++i) total += allocations[i].bytes;
    pthread_mutex_unlock(&lock);
    if (total > MOST_KEPT) {
        trouble = "the program has too much memory to compare it";
        return;
    }
    int file = open(plan.memory, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) {
        trouble = "the memory cannot be written down";
        return;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < allocation_count; ++i) keep(file, allocations[i].base, allocations[i].bytes);
    pthread_mutex_unlock(&lock);
    if (delayed_to) keep(file, delayed_to, delayed_bytes);
    if (place_to) keep(file, place_to, place_bytes);
    close(file);
}

void tell_place() {
    if (told) return;
    told = true;
    Line line("early");
    line.raw("waits", plan.waits ? "true" : "false");
    line.raw("done", done_by_then ? "true" : "false");
    line.number("elapsed", static_cast<long long>((at_place - started) * 1000));
    line.number("took", static_cast<long long>((now() - started) * 1000));
    line.number("delay", DELAY * 1000);
    line.text("problem", trouble);
    if (extra[0]) line.raw("seen", extra);
    line.write();
}

// What comes too early, unless something has waited.
void come_to_place() {
    if (plan.delayed && !delaying) trouble = "the work has not been started when the program comes to the place";
    if (plan.waits && !caught_up()) trouble = "the program has failed before";
    place_seen = true;
    done_by_then = is_done();
    at_place = now();
}

// Both are done: what is left is written down.
void settle() {
    if (!to_settle) return;
    to_settle = false;
    if (!caught_up()) trouble = "the program fails";
    keep_all();
    tell_place();
}

struct Working {
    unsigned long number = 0;
    bool delayed = false, place = false;
    cudaStream_t stream = nullptr;
};

bool is_place(char kind, unsigned long number) { return plan.place_kind == kind && plan.place == number; }

Working work_begins(const char *function, const char *entry, cudaStream_t stream, void *to, size_t bytes) {
    Working work;
    if (plan.mode == Mode::Time) {
        work.number = __atomic_add_fetch(&works, 1, __ATOMIC_RELAXED);
        work.stream = stream_of(entry, stream);
        work.place = is_place('w', work.number);
        set_work(function, work.number);
        return work;
    }
    if (plan.mode != Mode::Delay) return work;
    settle();
    work.number = __atomic_add_fetch(&works, 1, __ATOMIC_RELAXED);
    work.stream = stream_of(entry, stream);
    set_work(function, work.number);
    Allocation found;
    bool outside = to && !around(to, &found);
    if (plan.delayed && work.number == plan.delayed) {
        cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
        if (cudaStreamIsCapturing(work.stream, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone) {
            trouble = "the work is recorded and not started";
        } else {
            work.delayed = true;
            if (outside) delayed_to = to, delayed_bytes = bytes;
            started = now();
            delaying = true;
            if (cudaLaunchHostFunc(work.stream, sleep_there, nullptr) != cudaSuccess) trouble = "the work cannot be delayed";
        }
    }
    if (is_place('w', work.number)) {
        work.place = true;
        if (outside) place_to = to, place_bytes = bytes;
        come_to_place();
    }
    return work;
}

void work_ends(Working &work) {
    if (plan.mode == Mode::Time) return;
    if (work.delayed && cudaLaunchHostFunc(work.stream, note_done, nullptr) != cudaSuccess)
        trouble = "whether the delayed work is done cannot be told";
    if (work.place) {
        to_settle = true;
        settle();
    }
}

// Memory that was given back in a stream's order goes to the next who asks there: who writes something of its own into it.
void own_again(void *was, size_t bytes, Working &work) {
    void *pointer = nullptr;
    size_t changed = 0, first = 0;
    bool held = false;
    if (__real_cudaMallocAsync(&pointer, bytes, work.stream) != cudaSuccess ||
        __real_cudaMemsetAsync(pointer, OTHERS, bytes, work.stream) != cudaSuccess ||
        cudaStreamSynchronize(work.stream) != cudaSuccess) {
        trouble = "no memory can be allocated behind the place";
        return;
    }
    held = is_done();
    if (!caught_up()) trouble = "the program fails";
    if (char *copy = copy_of(pointer, bytes)) {
        for (size_t i = 0; i < bytes; ++i)
            if (copy[i] != OTHERS && !changed++) first = i;
        free(copy);
    }
    snprintf(extra, sizeof extra, "{\"same\":%s,\"late\":%s,\"bytes\":%zu,\"changed\":%zu,\"first\":%zu}",
             pointer == was ? "true" : "false", held ? "false" : "true", bytes, changed, first);
    __real_cudaFreeAsync(pointer, work.stream);
}

} // namespace

void settle_delay() {
    if (plan.mode == Mode::Delay) settle();
}

// At the end of the program.
void end_delay() {
    if (plan.mode != Mode::Delay) return;
    settle();
    if (place_seen) tell_place();
}

unsigned long look_of_delay() {
    unsigned long number = __atomic_add_fetch(&looks_seen, 1, __ATOMIC_RELAXED);
    if (plan.mode != Mode::Delay || !is_place('l', number)) return number;
    come_to_place();
    for (int i = 0; i < 100 * DELAY && !is_done(); ++i) {
        timespec time = {0, 100000};
        nanosleep(&time, nullptr);
    }
    if (!is_done()) trouble = "the work does not come to its end";
    tell_place();
    return number;
}

} // namespace cudalint_probe

extern "C" void cudalint_probe_touch(const void *pointer, size_t bytes, const char *file, int at_line) {
    if (plan.mode != Mode::Delay) return;
    settle();
    unsigned long number = __atomic_add_fetch(&touches, 1, __ATOMIC_RELAXED);
    if (!plan.delayed) {
        Line line("touch");
        line.number("number", static_cast<long long>(number));
        line.place(file, at_line);
        line.write();
    }
    if (!is_place('t', number)) return;
    come_to_place();
    if (!plan.reads) {
        to_settle = true;
        return;
    }
    Allocation found;
    if (!pointer) {
        trouble = "what is read is no pointer";
    } else {
        if (around(pointer, &found)) bytes = static_cast<size_t>(found.base + found.bytes - static_cast<const char *>(pointer));
        if (bytes > MOST_TOUCHED) bytes = MOST_TOUCHED;
        unsigned char *before = static_cast<unsigned char *>(malloc(bytes ? bytes : 1));
        const unsigned char *after = static_cast<const unsigned char *>(pointer);
        if (before) {
            memcpy(before, pointer, bytes);
            if (!caught_up()) trouble = "the program fails";
            size_t changed = 0, first = 0;
            for (size_t i = 0; i < bytes; ++i)
                if (before[i] != after[i] && !changed++) first = i;
            char was[33] = "", is[33] = "";
            size_t from = first / 4 * 4, shown = bytes - from < 16 ? bytes - from : 16;
            hexadecimal(before + from, shown, was);
            hexadecimal(after + from, shown, is);
            snprintf(extra, sizeof extra,
                     "{\"bytes\":%zu,\"changed\":%zu,\"first\":%zu,\"from\":%zu,\"was\":\"%s\",\"is\":\"%s\"}", bytes, changed,
                     first, from, was, is);
            free(before);
        }
    }
    tell_place();
}
