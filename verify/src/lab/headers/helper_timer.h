// Stands for the header of this name that NVIDIA's samples share: a stop watch.
#pragma once
#include <chrono>

class StopWatchInterface {
    typedef std::chrono::steady_clock Clock;
    Clock::time_point begun;
    float all = 0;
    int sessions = 0;
    bool runs = false;

    float since() const { return std::chrono::duration<float, std::milli>(Clock::now() - begun).count(); }

public:
    void start() { begun = Clock::now(), runs = true; }
    void stop() {
        if (runs) all += since(), ++sessions;
        runs = false;
    }
    void reset() { all = 0, sessions = 0, begun = Clock::now(); }
    // Milliseconds.
    float getTime() { return runs ? all + since() : all; }
    float getAverageTime() { return sessions > 0 ? all / sessions : 0; }
};

inline bool sdkCreateTimer(StopWatchInterface **timer) { return (*timer = new StopWatchInterface) != 0; }
inline bool sdkDeleteTimer(StopWatchInterface **timer) {
    delete *timer;
    *timer = 0;
    return true;
}
inline bool sdkStartTimer(StopWatchInterface **timer) { return *timer && ((*timer)->start(), true); }
inline bool sdkStopTimer(StopWatchInterface **timer) { return *timer && ((*timer)->stop(), true); }
inline bool sdkResetTimer(StopWatchInterface **timer) { return *timer && ((*timer)->reset(), true); }
inline float sdkGetTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getTime() : 0; }
inline float sdkGetAverageTimerValue(StopWatchInterface **timer) { return *timer ? (*timer)->getAverageTime() : 0; }
