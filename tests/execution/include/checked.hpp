// Pointers that record what is touched and never touch what is not theirs.
//
// Each launch argument is an Arg: a place in a Storage. Indices are elements relative to the pointer the
// kernel was given, as in the analyser's reports. An access outside the storage is counted and kept away from
// memory: reads give zero, writes are dropped.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace run {

constexpr uint8_t WRITTEN = 1;  // holds a value
constexpr uint8_t STALE = 2;    // a newer value was written into a copy of this place and stayed there
constexpr uint8_t FRESH = 4;    // written by the current launch
constexpr uint8_t COPIED = 8;   // as the runtime's copy left it

struct Storage {
  std::vector<char> data;
  std::vector<uint8_t> state;  // one per byte
  // Of a packed copy: which element of the view's base, counted from the view's first, each element came from.
  std::vector<long> origin;
};

struct Arg {
  Storage* storage = nullptr;
  long start = 0;  // byte of the storage the pointer points at
  bool compiled = false;  // whether indices are those of a kernel, not of the tensor's own layout
  long rmin = 1, rmax = 0, wmin = 1, wmax = 0;
  long bad_reads = 0, bad_writes = 0, unwritten = 0, stale = 0, misread = 0;
  long first_bad_read = 0, first_bad_write = 0, first_unwritten = 0, first_stale = 0, first_misread = 0;

  static void widen(long& lo, long& hi, long e) {
    if (lo > hi) lo = hi = e;
    else if (e < lo) lo = e;
    else if (e > hi) hi = e;
  }
  static void count(long& n, long& first, long e) {
    if (n++ == 0) first = e;
  }

  // Byte position of element e of width n, or -1 outside of the storage.
  long at(long e, long n) const {
    long b = start + e * n;
    return b < 0 || b + n > long(storage->data.size()) ? -1 : b;
  }

  void read(long e, void* to, long n) {
    widen(rmin, rmax, e);
    long b = at(e, n);
    if (b < 0) {
      count(bad_reads, first_bad_read, e);
      std::memset(to, 0, n);
      return;
    }
    uint8_t s = storage->state[b];
    if (!(s & WRITTEN)) count(unwritten, first_unwritten, e);
    if (s & STALE) count(stale, first_stale, e);
    // The kernel was compiled for the base: it means the element that is as far from the first one there.
    if (compiled && (s & COPIED) && b / n < long(storage->origin.size()) && storage->origin[b / n] != b / n) count(misread, first_misread, e);
    std::memcpy(to, storage->data.data() + b, n);
  }

  void write(long e, const void* from, long n) {
    widen(wmin, wmax, e);
    long b = at(e, n);
    if (b < 0) return count(bad_writes, first_bad_write, e);
    // An op fills a copy by the copy's own layout, a kernel by the layout it was compiled for.
    uint8_t kept = compiled ? 0 : storage->state[b] & COPIED;
    std::memset(storage->state.data() + b, WRITTEN | FRESH | kept, n);
    std::memcpy(storage->data.data() + b, from, n);
  }
};

// A pointer parameter. Kernel text is rewritten to go through get() and put(); there is no other way to the
// memory. With no Arg behind it, it is an ordinary pointer to the kernel's own memory.
template <class T> struct Ptr {
  using V = std::remove_const_t<T>;
  Arg* arg = nullptr;
  long i = 0;
  T* raw = nullptr;

  Ptr() = default;
  Ptr(std::nullptr_t) {}
  Ptr(T* p) : raw(p) {}
  Ptr(Arg* a, long at) : arg(a), i(at) {}
  template <class U, class = std::enable_if_t<std::is_same_v<T, const U>>>
  Ptr(const Ptr<U>& p) : arg(p.arg), i(p.i), raw(p.raw) {}

  V load(long k = 0) const {
    if (!arg) return raw[i + k];
    V v;
    arg->read(i + k, &v, sizeof(V));
    return v;
  }
  void store(V v, long k = 0) const {
    if constexpr (!std::is_const_v<T>) {
      if (arg) arg->write(i + k, &v, sizeof(V));
      else raw[i + k] = v;
    }
  }
  Ptr operator+(long k) const {
    Ptr p = *this;
    p.i += k;
    return p;
  }
  Ptr operator-(long k) const { return *this + (-k); }
  Ptr& operator+=(long k) {
    i += k;
    return *this;
  }
  explicit operator bool() const { return arg || raw; }
};

// Plain arrays and checked pointers alike.
template <class T> std::remove_const_t<T> get(const Ptr<T>& p, long k) { return p.load(k); }
template <class T> std::remove_const_t<T> get(T* p, long k) { return p[k]; }
template <class T, class U> void put(const Ptr<T>& p, long k, U v) { p.store(T(v), k); }
template <class T, class U> void put(T* p, long k, U v) { p[k] = T(v); }

struct CheckFailed {
  std::string what;
};

}  // namespace run
