
#line 1 "cudalint"
namespace cudalint_signature {
template <typename cudalint_t> struct cudalint_kind {
    enum : unsigned { cudalint_number = 0, cudalint_bytes = 0 };
};
#define CUDALINT_KIND(cudalint_type, cudalint_value)                                                                   \
    template <> struct cudalint_kind<cudalint_type> {                                                                  \
        enum : unsigned { cudalint_number = cudalint_value, cudalint_bytes = sizeof(cudalint_type) };                  \
    };
CUDALINT_KIND(float, 1)
CUDALINT_KIND(double, 1)
CUDALINT_KIND(bool, 2)
CUDALINT_KIND(char, 2)
CUDALINT_KIND(signed char, 2)
CUDALINT_KIND(unsigned char, 2)
CUDALINT_KIND(short, 2)
CUDALINT_KIND(unsigned short, 2)
CUDALINT_KIND(int, 2)
CUDALINT_KIND(unsigned, 2)
CUDALINT_KIND(long, 2)
CUDALINT_KIND(unsigned long, 2)
CUDALINT_KIND(long long, 2)
CUDALINT_KIND(unsigned long long, 2)
#undef CUDALINT_KIND
template <typename cudalint_t> struct cudalint_target : cudalint_kind<cudalint_t> {};
template <typename cudalint_t> struct cudalint_target<const cudalint_t> : cudalint_target<cudalint_t> {};
template <typename cudalint_t> struct cudalint_target<volatile cudalint_t> : cudalint_target<cudalint_t> {};
template <typename cudalint_t> struct cudalint_target<const volatile cudalint_t> : cudalint_target<cudalint_t> {};
template <typename cudalint_t> struct cudalint_target<cudalint_t *> : cudalint_target<cudalint_t> {};
template <typename cudalint_t> struct cudalint_parameter {
    enum : unsigned { cudalint_number = 0, cudalint_bytes = 0 };
};
template <typename cudalint_t> struct cudalint_parameter<cudalint_t *> : cudalint_target<cudalint_t> {};
// A reference is passed as a pointer.
template <typename cudalint_t> struct cudalint_held {
    enum : unsigned { cudalint_bytes = sizeof(cudalint_t) };
};
template <typename cudalint_t> struct cudalint_held<cudalint_t &> : cudalint_held<cudalint_t *> {};
template <typename cudalint_t> struct cudalint_held<cudalint_t &&> : cudalint_held<cudalint_t *> {};
struct cudalint_row {
    unsigned cudalint_size, cudalint_number, cudalint_bytes;
};
template <unsigned cudalint_count> struct cudalint_rows {
    unsigned cudalint_number;
    cudalint_row cudalint_list[cudalint_count + 1];
};
template <typename cudalint_t> struct cudalint_of;
template <typename... cudalint_p> struct cudalint_of<void (*)(cudalint_p...)> {
    typedef cudalint_rows<sizeof...(cudalint_p)> cudalint_type;
    static __device__ constexpr cudalint_type cudalint_make() {
        return {sizeof...(cudalint_p),
                {{cudalint_held<cudalint_p>::cudalint_bytes, cudalint_parameter<cudalint_p>::cudalint_number,
                  cudalint_parameter<cudalint_p>::cudalint_bytes}...,
                 {0, 0, 0}}};
    }
};
}
extern "C" __device__ const cudalint_signature::cudalint_of<decltype(&KERNEL)>::cudalint_type cudalint_table =
    cudalint_signature::cudalint_of<decltype(&KERNEL)>::cudalint_make();
