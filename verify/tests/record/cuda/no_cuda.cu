// record: memcheck racecheck
#include <cstdio>
int main() {
    std::printf("no device is used\n");
    return 0;
}
