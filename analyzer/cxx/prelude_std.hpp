// The parts of the standard library that generated code names. Declarations only: nothing is ever run,
// libclang just has to see through the text. No system header is needed.
using int8_t = __INT8_TYPE__; using int16_t = __INT16_TYPE__; using int32_t = __INT32_TYPE__; using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__; using uint16_t = __UINT16_TYPE__; using uint32_t = __UINT32_TYPE__; using uint64_t = __UINT64_TYPE__;
using size_t = __SIZE_TYPE__; using uintptr_t = __UINTPTR_TYPE__; using intptr_t = __INTPTR_TYPE__;
#define NULL nullptr
#define CHAR_BIT 8
extern "C" char* getenv(const char*); extern "C" int printf(const char*, ...);
namespace std {
using ::size_t; using ::uintptr_t; using ::int64_t; using ::int32_t; using ::uint8_t; using ::uint32_t; using ::uint64_t;
using nullptr_t = decltype(nullptr);
template <class T> struct strip_ref { using type = T; };
template <class T> struct strip_ref<T&> { using type = T; };
template <class T> struct strip_ref<T&&> { using type = T; };
template <class T> struct strip_ref<const T&> { using type = T; };
template <class T> using remove_reference_t = typename strip_ref<T>::type;
template <class T> using decay_t = typename strip_ref<T>::type;
template <class T> using remove_const_t = T;
template <class T> using make_unsigned_t = uint64_t;
template <class T> using make_signed_t = int64_t;
template <class A, class B> inline constexpr bool is_same_v = false;
template <class T> inline constexpr bool is_signed_v = true;
template <class T> inline constexpr bool is_integral_v = true;
template <class T> constexpr remove_reference_t<T>&& move(T&& x) noexcept { return static_cast<remove_reference_t<T>&&>(x); }
template <class E> class initializer_list {
  const E* first; size_t count;
 public:
  constexpr initializer_list() : first(nullptr), count(0) {}
};
template <class T, size_t N> struct array {
  T items[N ? N : 1];
  T* data(); const T* data() const; const T* cbegin() const; T* begin(); T& operator[](size_t);
};
template <class T> struct vector {
  vector(); explicit vector(size_t); vector(initializer_list<T>);
  vector& operator=(initializer_list<T>);
  T& operator[](size_t); T& at(size_t); T* data(); size_t size() const; T* begin(); T* end();
  void push_back(T); template <class... A> void emplace_back(A&&...); void reserve(size_t); void clear();
};
struct string { string(); string(const char*); const char* c_str() const; };
string operator+(const string&, const string&);
template <class T> string to_string(T);
struct stringstream { string str(); };
template <class T> stringstream& operator<<(stringstream&, const T&);
struct ostream {};
template <class T> ostream& operator<<(ostream&, const T&);
extern ostream cerr, cout;
struct runtime_error { runtime_error(const string&); };
struct nullopt_t {};
inline constexpr nullopt_t nullopt{};
template <class T> struct optional { optional(); optional(nullopt_t); optional(T); explicit operator bool() const; T& operator*(); };
template <class K, class V> struct pair { K first; V second; };
template <class A, class B> pair<decay_t<A>, decay_t<B>> make_pair(A&&, B&&);
template <class K, class V> struct unordered_map { V& operator[](const K&); void reserve(size_t); template <class... A> void emplace(A&&...); };
template <class T> struct no_delete {};
template <class T, class D = no_delete<T>> struct unique_ptr {
  unique_ptr(); unique_ptr(nullptr_t); template <class... A> unique_ptr(A&&...) {}
  T* get() const; T* release(); void reset(T* = nullptr); T* operator->() const; T& operator*() const; T& operator[](size_t) const;
};
template <class T, class D> struct unique_ptr<T[], D> {
  unique_ptr(); unique_ptr(nullptr_t); template <class... A> unique_ptr(A&&...) {}
  T* get() const; T* release(); void reset(T* = nullptr); T& operator[](size_t) const;
};
template <class T, class D> bool operator==(const unique_ptr<T, D>&, nullptr_t); template <class T, class D> bool operator!=(const unique_ptr<T, D>&, nullptr_t);
template <class T> struct shared_ptr { T* get() const; T* operator->() const; };
template <class T, class... A> unique_ptr<T> make_unique(A&&...);
template <class F> struct function { function(); template <class G> function(G) {} template <class... A> int operator()(A...) const; };
template <class... T> struct tuple {};
template <size_t I, class T> struct tuple_element { using type = int; };
template <size_t I, class T> using tuple_element_t = int;
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr void swap(T&, T&) {}
template <class T> constexpr T min(initializer_list<T>);
template <class T> constexpr T max(initializer_list<T>);
template <class T> struct numeric_limits {
  static constexpr T infinity() { return T(); } static constexpr T quiet_NaN() { return T(); }
  static constexpr T max() { return T(); } static constexpr T min() { return T(); } static constexpr T lowest() { return T(); }
};
template <class T> struct atomic { atomic(T); T load() const; void store(T); };
struct once_flag {};
template <class F> void call_once(once_flag&, F) {}
#define MATH1(f) template <class T> auto f(T x) { return x; }
MATH1(sqrt) MATH1(exp) MATH1(exp2) MATH1(log) MATH1(log2) MATH1(log10) MATH1(log1p) MATH1(expm1) MATH1(sin) MATH1(cos) MATH1(tan)
MATH1(asin) MATH1(acos) MATH1(atan) MATH1(sinh) MATH1(cosh) MATH1(tanh) MATH1(asinh) MATH1(acosh) MATH1(atanh) MATH1(erf) MATH1(erfc)
MATH1(lgamma) MATH1(tgamma) MATH1(floor) MATH1(ceil) MATH1(trunc) MATH1(round) MATH1(nearbyint) MATH1(rint) MATH1(abs) MATH1(fabs)
#undef MATH1
template <class T> long lrint(T); template <class T> bool isnan(T); template <class T> bool isinf(T); template <class T> bool signbit(T); template <class T> bool isfinite(T);
template <class A, class B> auto pow(A a, B) { return a; }
template <class A, class B> auto fmod(A a, B) { return a; }
template <class A, class B> auto atan2(A a, B) { return a; }
template <class A, class B> auto copysign(A a, B) { return a; }
template <class A, class B> auto hypot(A a, B) { return a; }
template <class A, class B> auto nextafter(A a, B) { return a; }
template <class A, class B> auto fmax(A a, B) { return a; }
template <class A, class B> auto fmin(A a, B) { return a; }
template <class T> auto frexp(T x, int*) { return x; }
template <class T> auto ldexp(T x, int) { return x; }
}
