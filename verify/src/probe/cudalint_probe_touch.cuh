// Notes that the host touches memory: the macro of the pointer's name calls this on one line.
#ifndef CUDALINT_PROBE_TOUCH_CUH
#define CUDALINT_PROBE_TOUCH_CUH

extern "C" void cudalint_probe_touch(const void *pointer, size_t bytes, const char *file, int line);

namespace cudalint_probe {
template <typename Object>
struct Touched { // what is no pointer
    static const void *pointer(const Object &) { return 0; }
    static const size_t bytes = 0;
};
template <typename Element>
struct Touched<Element *> {
    static const void *pointer(Element *const &object) { return (const void *)object; }
    static const size_t bytes = sizeof(Element);
};
template <typename Element, size_t Count>
struct Touched<Element[Count]> {
    static const void *pointer(const Element (&object)[Count]) { return (const void *)object; }
    static const size_t bytes = sizeof(Element) * Count;
};
template <typename Object>
struct Plain {
    typedef Object type;
};
template <typename Object>
struct Plain<const Object> {
    typedef Object type;
};
template <typename Object>
inline Object &touch(Object &object, const char *file, int line) {
    typedef Touched<typename Plain<Object>::type> Kind;
    cudalint_probe_touch(Kind::pointer(object), Kind::bytes, file, line);
    return object;
}
} // namespace cudalint_probe

#define CUDALINT_PROBE_TOUCH(name) (::cudalint_probe::touch(name, __FILE__, __LINE__))
#define CUDALINT_PROBE_TOUCH_ON_LINES(name)                                                                            \
    CUDALINT_PROBE_SECOND(CUDALINT_PROBE_JOIN(CUDALINT_PROBE_TOUCH_, __LINE__), CUDALINT_PROBE_NO_TOUCH, ~)(name)
#define CUDALINT_PROBE_NO_TOUCH(name) name

#endif
