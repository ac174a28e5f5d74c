// Stands for the driver where it is asked which GPUs there are: one, of compute capability 9.0.
#include <stddef.h>
#include <string.h>

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}
int cuDeviceGetCount(int *count) {
    *count = 1;
    return 0;
}
int cuDeviceGet(int *device, int) {
    *device = 0;
    return 0;
}
int cuDeviceGetName(char *name, int length, int) {
    strncpy(name, "Stand-in GPU", static_cast<size_t>(length));
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
    switch (attribute) {
    case 1: *value = 1024; break;   // threads of a block
    case 8: *value = 49152; break;  // shared memory of a block
    case 75: *value = 9; break;     // major
    case 97: *value = 232448; break; // shared memory of a block that asks for more
    default: *value = 0;
    }
    return 0;
}
int cuDeviceGetUuid(char *uuid, int) {
    memset(uuid, 1, 16);
    return 0;
}
int cuDeviceGetUuid_v2(char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }
int cuDeviceTotalMem_v2(size_t *bytes, int) {
    *bytes = size_t(1) << 34;
    return 0;
}
int cuDevicePrimaryCtxRetain(void **context, int) {
    static int there;
    *context = &there;
    return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuMemGetInfo_v2(size_t *free, size_t *all) {
    *free = *all = size_t(1) << 34;
    return 0;
}
}
