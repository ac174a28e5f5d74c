// Stands for the header of this name that NVIDIA's samples share: options of the command line (`-n=4`, `--n=4`), and data files.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifndef STRCASECMP
#include <strings.h>
#define STRCASECMP strcasecmp
#define STRNCASECMP strncasecmp
#define STRCPY(to, bytes, from) strcpy(to, from)
#define FOPEN(file, name, mode) (file = fopen(name, mode))
#define FOPEN_FAIL(result) (result == NULL)
#define SSCANF sscanf
#define SPRINTF sprintf
#endif

// What stands behind an option's name, and `=` where there is one; nothing where no argument is that option.
inline const char *cudalint_option(int argc, const char **argv, const char *name) {
    size_t length = strlen(name);
    if (length > 0 && name[length - 1] == '=') --length;
    for (int i = 1; i < argc; ++i) {
        const char *text = argv[i];
        while (*text == '-') ++text;
        if (text == argv[i] || strncasecmp(text, name, length) != 0) continue;
        if (text[length] == '\0') return text + length;
        if (text[length] == '=') return text + length + 1;
    }
    return NULL;
}

inline bool checkCmdLineFlag(int argc, const char **argv, const char *name) {
    return cudalint_option(argc, argv, name) != NULL;
}
inline int getCmdLineArgumentInt(int argc, const char **argv, const char *name) {
    const char *text = cudalint_option(argc, argv, name);
    return text ? atoi(text) : 0;
}
inline float getCmdLineArgumentFloat(int argc, const char **argv, const char *name) {
    const char *text = cudalint_option(argc, argv, name);
    return text ? static_cast<float>(atof(text)) : 0;
}
inline bool getCmdLineArgumentString(int argc, const char **argv, const char *name, char **value) {
    const char *text = cudalint_option(argc, argv, name);
    *value = const_cast<char *>(text);
    return text != NULL;
}
template <typename T>
inline bool getCmdLineArgumentValue(int argc, const char **argv, const char *name, T *value) {
    const char *text = cudalint_option(argc, argv, name);
    if (text) *value = static_cast<T>(atof(text));
    return text != NULL;
}

// The file itself, where there is one; its folders are not looked for.
inline char *sdkFindFilePath(const char *name, const char *) {
    FILE *file = fopen(name, "rb");
    if (!file) return NULL;
    fclose(file);
    return strdup(name);
}
