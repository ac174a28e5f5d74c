// What `runtime.cpp` and `forward.cpp` write down of the calls of the CUDA runtime.
// Each call writes one line to the file that CUDALINT_LOG names: a letter, the return addresses of the calls that led to it
// (innermost first, with commas), and its values.
//   A from number bytes space             an allocation, counted from 0; space is d, h (pinned) or m (managed)
//   F from pointer                        a free
//   C from to source bytes kind           a copy
//   R from to source width height pitch pitch kind   a copy of rows
//   S from to value bytes                 a set
//   L from kernel gx gy gz bx by bz shared arguments…   a launch
//   U name                                a function that is not here: it did nothing and gave 0
//   V name bytes                          a variable of the device
//   N                                     the program came to its end, and nothing was refused that a device would have given
// A pointer is written as `number+offset` of the allocation that it leads into, `@name+offset` for a variable of the device, `null`,
// or `?`. An argument is an integer, a pointer, or `-` for all else.
#pragma once
#include <cuda_runtime_api.h>
#include <cxxabi.h>
#include <execinfo.h>
#include <unistd.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {
struct Memory { char *start; size_t bytes; std::string name; char space; };
struct Kernel { std::string name; std::vector<std::string> parameters; };
struct State {
    std::recursive_mutex lock;
    FILE *log = nullptr;
    std::map<const char *, Memory> memory;
    std::map<const void *, Kernel> kernels;
    int allocations = 0;
    long lines = 0;
    bool cut = false;
};
State &state() {
    static State *all = new State;
    return *all;
}
const long MOST_LINES = 20000;

void ended() {
    if (state().log && !state().cut) {
        std::fprintf(state().log, "N\n");
        std::fflush(state().log);
    }
}

FILE *log() {
    State &s = state();
    if (!s.log) {
        const char *path = std::getenv("CUDALINT_LOG");
        s.log = std::fopen(path ? path : "/dev/null", "w");
        if (!s.log) {
            std::_Exit(3);
        }
        std::setvbuf(s.log, nullptr, _IOLBF, 1 << 12);
        std::atexit(ended);
    }
    if (++s.lines > MOST_LINES) {
        std::fflush(s.log);
        std::_Exit(0);
    }
    return s.log;
}

__attribute__((noinline)) std::string callers() {
    void *frames[48];
    int count = backtrace(frames, 48);
    std::string text;
    for (int i = 2; i < count; ++i) {
        char word[32];
        std::snprintf(word, sizeof word, "%s%lx", text.empty() ? "" : ",", reinterpret_cast<unsigned long>(frames[i]));
        text += word;
    }
    return text.empty() ? "0" : text;
}

const Memory *home(const void *of) {
    auto &memory = state().memory;
    const char *at = static_cast<const char *>(of);
    auto next = memory.upper_bound(at);
    if (next == memory.begin()) {
        return nullptr;
    }
    const Memory &found = std::prev(next)->second;
    return at <= found.start + found.bytes ? &found : nullptr;
}

std::string pointer(const void *of) {
    if (!of) {
        return "null";
    }
    const Memory *memory = home(of);
    return memory ? memory->name + "+" + std::to_string(static_cast<const char *>(of) - memory->start) : "?";
}

Kernel kernel_of(const char *mangled) {
    int status = 0;
    char *text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = text ? text : mangled;
    std::free(text);
    Kernel kernel;
    kernel.name = mangled;
    // The parameters are what the last pair of parentheses at no depth holds.
    size_t close = name.rfind(')');
    if (close == std::string::npos) {
        return kernel;
    }
    size_t open = close;
    int depth = 0;
    do {
        depth += name[open] == ')' || name[open] == '>' || name[open] == ']';
        depth -= name[open] == '(' || name[open] == '<' || name[open] == '[';
    } while (depth && open-- > 0);
    std::string one;
    depth = 0;
    for (size_t at = open + 1; at < close; ++at) {
        char c = name[at];
        depth += c == '(' || c == '<' || c == '[' || c == '{';
        depth -= c == ')' || c == '>' || c == ']' || c == '}';
        if (c == ',' && depth == 0) {
            kernel.parameters.push_back(one);
            one.clear();
        } else if (!(c == ' ' && one.empty())) {
            one += c;
        }
    }
    if (!one.empty()) {
        kernel.parameters.push_back(one);
    }
    return kernel;
}

std::string argument(std::string type, const void *value) {
    static const std::map<std::string, char> integers = {
        {"bool", 'b'}, {"char", 'c'}, {"signed char", 'c'}, {"unsigned char", 'b'}, {"short", 's'},
        {"unsigned short", 't'}, {"int", 'i'}, {"unsigned int", 'u'}, {"long", 'l'}, {"unsigned long", 'm'},
        {"long long", 'l'}, {"unsigned long long", 'm'}};
    for (const char *suffix : {" const", " volatile", "*restrict", " restrict"}) {
        size_t length = std::strlen(suffix);
        while (type.size() > length && type.compare(type.size() - length, length, suffix) == 0) {
            type.resize(type.size() - length + (suffix[0] == '*'));
        }
    }
    if (!type.empty() && type.back() == '*') {
        const void *to;
        std::memcpy(&to, value, sizeof to);
        return pointer(to);
    }
    auto known = integers.find(type);
    if (known == integers.end()) {
        return "-";
    }
    auto read = [&](auto number) {
        std::memcpy(&number, value, sizeof number);
        return std::to_string(number);
    };
    switch (known->second) {
        case 'b': return read(static_cast<unsigned char>(0));
        case 'c': return read(static_cast<signed char>(0));
        case 's': return read(static_cast<short>(0));
        case 't': return read(static_cast<unsigned short>(0));
        case 'i': return read(0);
        case 'u': return read(0u);
        case 'l': return read(0ll);
        default: return read(0ull);
    }
}

struct Configuration { std::string from; dim3 grid, block; size_t shared; cudaStream_t stream; };
thread_local std::vector<Configuration> pending;
thread_local std::string launched_from;

void write_launch(const std::string &from, const Kernel &kernel, dim3 grid, dim3 block, void **arguments, size_t shared) {
    FILE *to = log();
    std::fprintf(to, "L %s %s %u %u %u %u %u %u %zu", from.c_str(), kernel.name.empty() ? "?" : kernel.name.c_str(), grid.x,
                 grid.y, grid.z, block.x, block.y, block.z, shared);
    for (size_t at = 0; arguments && at < kernel.parameters.size(); ++at) {
        std::fprintf(to, " %s", argument(kernel.parameters[at], arguments[at]).c_str());
    }
    std::fprintf(to, "\n");
}

void write_allocation(const std::string &from, size_t bytes, char space) {
    std::fprintf(log(), "A %s %d %zu %c\n", from.c_str(), state().allocations++, bytes, space);
}

void write_copy(const std::string &from, const void *to, const void *source, size_t bytes, int kind) {
    std::fprintf(log(), "C %s %s %s %zu %d\n", from.c_str(), pointer(to).c_str(), pointer(source).c_str(), bytes, kind);
}

void write_rows(const std::string &from, const void *to, size_t to_pitch, const void *source, size_t source_pitch, size_t width,
                size_t height, int kind) {
    std::fprintf(log(), "R %s %s %s %zu %zu %zu %zu %d\n", from.c_str(), pointer(to).c_str(), pointer(source).c_str(), width,
                 height, to_pitch, source_pitch, kind);
}

void write_set(const std::string &from, const void *to, int value, size_t bytes) {
    std::fprintf(log(), "S %s %s %d %zu\n", from.c_str(), pointer(to).c_str(), value, bytes);
}

void write_free(const std::string &from, const void *of) {
    std::fprintf(log(), "F %s %s\n", from.c_str(), pointer(of).c_str());
}

void write_variable(char *host, const char *name, size_t bytes) {
    state().memory[host] = {host, bytes, std::string("@") + name, 'v'};
    std::fprintf(log(), "V %s %zu\n", name, bytes);
}
} // namespace

#define LOCKED std::lock_guard<std::recursive_mutex> hold(state().lock)
#define API extern "C" __attribute__((noinline, visibility("default")))
