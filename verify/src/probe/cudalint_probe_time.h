// cudalint's probe, the half that measures work: the work of a number (CUDALINT_PROBE_PLACE=work:<number>, as in
// cudalint_probe_delay.h) is done again and again, and the log says what that takes. cudalint_probe_memory.h includes it, whose
// snapshots it uses.
#pragma once

namespace cudalint_probe {
namespace {

const int ROUNDS = 31;  // of a launch: each begins with the memory that the program's own had
const int COPIES = 201; // of a copy

int by_size(const void *left, const void *right) {
    double one = *static_cast<const double *>(left), other = *static_cast<const double *>(right);
    return one < other ? -1 : one > other ? 1 : 0;
}

// Milliseconds.
void tell_time(const char *what, double *times, int count, double *waiting, const char *problem) {
    Line line("time");
    line.text("what", what);
    line.number("rounds", count);
    qsort(times, static_cast<size_t>(count), sizeof *times, by_size);
    line.number("least", count ? static_cast<long long>(times[0] * 1e6) : 0);
    line.number("median", count ? static_cast<long long>(times[count / 2] * 1e6) : 0);
    if (waiting) {
        qsort(waiting, static_cast<size_t>(count), sizeof *waiting, by_size);
        line.number("waiting", count ? static_cast<long long>(waiting[count / 2] * 1e6) : 0);
    }
    line.text("problem", problem);
    line.write();
}

// The launch at the place has been made: its repetitions, by events of the device around each.
void measure_launch(const Launch &launch, const Snapshot &start, bool ready) {
    static double times[ROUNDS];
    const char *problem = ready ? "" : "the device memory cannot be read before the launch";
    cudaEvent_t begins = nullptr, ends = nullptr;
    int count = 0;
    if (!*problem && (cudaDeviceSynchronize() != cudaSuccess || cudaEventCreate(&begins) != cudaSuccess ||
                      cudaEventCreate(&ends) != cudaSuccess))
        problem = "the kernel failed";
    Snapshot left;
    if (!*problem && !take(start.of, start.count, &left)) problem = "the device memory cannot be read behind the launch";
    while (!*problem && count < ROUNDS) {
        float took = 0;
        if (!put_back(start) || cudaDeviceSynchronize() != cudaSuccess) problem = "the device memory could not be put back";
        else if (cudaEventRecord(begins, launch.stream) != cudaSuccess || launch.go(launch, launch.grid, launch.block) != 0 ||
                 cudaEventRecord(ends, launch.stream) != cudaSuccess || cudaEventSynchronize(ends) != cudaSuccess ||
                 cudaEventElapsedTime(&took, begins, ends) != cudaSuccess)
            problem = "the kernel failed when it was repeated";
        else times[count++] = static_cast<double>(took);
    }
    if (!*problem && !put_back(left)) problem = "the device memory could not be put back";
    drop(left);
    if (begins) cudaEventDestroy(begins);
    if (ends) cudaEventDestroy(ends);
    tell_time("launch", times, count, nullptr, problem);
}

// The copy at the place has been made: again without a wait for the device in front of it, and with one, by turns.
template <typename Again>
void measure_copy(int status, Again again) {
    static double times[COPIES], waiting[COPIES];
    const char *problem = status == 0 ? "" : "the copy itself failed";
    int count = 0;
    if (!*problem && cudaDeviceSynchronize() != cudaSuccess) problem = "the program has failed before";
    for (; !*problem && count < COPIES; ++count) {
        double begun = now();
        if (again() != cudaSuccess) problem = "the copy failed when it was repeated";
        times[count] = now() - begun;
        begun = now();
        if (cudaDeviceSynchronize() != cudaSuccess || again() != cudaSuccess) problem = "the copy failed when it was repeated";
        waiting[count] = now() - begun;
    }
    tell_time("copy", times, count, waiting, problem);
}

} // namespace
} // namespace cudalint_probe
