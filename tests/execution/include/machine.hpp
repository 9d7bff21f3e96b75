// Runs a script of allocations, copies, library calls and kernel launches, and tells what each touched.
//
// Script lines (numbers are decimal, a view is: storage byte-offset itemsize rank sizes... strides...):
//   S id bytes                   a storage without values
//   F view kind lo hi seed       fill with values: kind f (floats of the item size), b (bfloat16) or i (integers in lo..hi)
//   C view view                  copy the second view into the first, element by element
//   M id view                    make storage id a packed copy of this view: what is written into it later does not reach
//                                the view
//   X nin view... nout view...   a library call: the results depend on every operand
//   L kernel n arg...            a launch; arg: p storage byte-offset | i integer | f float
//   O view                       a result of the model
// Answers are JSON, one line for each X, L and O, in order.
#pragma once
#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "checked.hpp"
#include "types.hpp"

namespace run {

struct Value {
  char kind = 'i';
  Arg arg;
  long i = 0;
  double f = 0;
};

// A Metal thread: its place in the grid and in its group.
struct Thread {
  long grid[3], group[3];
};
struct Threads {
  long grid[3], group[3];
  template <class F> void each(F f) const {
    for (long z = 0; z < grid[2]; z++)
      for (long y = 0; y < grid[1]; y++)
        for (long x = 0; x < grid[0]; x++) f(Thread{{x, y, z}, {x % group[0], y % group[1], z % group[2]}});
  }
};

struct Args {
  std::vector<Value> values;
  // Threads and group size stand behind the kernel's own arguments.
  Threads threads(int k) const {
    Threads t;
    for (int d = 0; d < 3; d++) t.grid[d] = values[k + d].i, t.group[d] = std::max(1l, values[k + 3 + d].i);
    return t;
  }
  template <class T> Ptr<T> ptr(int k) { return Ptr<T>(&values[k].arg, 0); }
  template <class T> T num(int k) const { return values[k].kind == 'f' ? T(values[k].f) : T(values[k].i); }
};
using Launch = void (*)(int kernel, Args& args);

struct View {
  int id = 0;
  long byte = 0, item = 1;
  std::vector<long> sizes, strides;

  long count() const {
    long n = 1;
    for (long s : sizes) n *= s;
    return n;
  }
  // f(position among the view's elements, element index in the storage counted from the view's first)
  template <class F> void each(F f) const {
    long n = count();
    std::vector<long> at(sizes.size(), 0);
    long e = 0;
    for (long k = 0; k < n; k++) {
      f(k, e);
      for (int d = int(sizes.size()) - 1; d >= 0; d--) {
        e += strides[d];
        if (++at[d] < sizes[d]) break;
        e -= strides[d] * sizes[d];
        at[d] = 0;
      }
    }
  }
};

class Machine {
  std::map<int, Storage> storages_;
  std::map<int, View> copies_;  // copy -> the view it was made from
  std::istream& in_;

  template <class T> T next() {
    T v{};
    in_ >> v;
    return v;
  }
  View view() {
    View v;
    in_ >> v.id >> v.byte >> v.item;
    int rank = next<int>();
    for (int i = 0; i < rank; i++) v.sizes.push_back(next<long>());
    for (int i = 0; i < rank; i++) v.strides.push_back(next<long>());
    return v;
  }
  Arg arg(const View& v) {
    Arg a;
    a.storage = &storages_[v.id];
    a.start = v.byte;
    return a;
  }
  static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15ull;
    return h ^ (h >> 29);
  }

  static void put(Arg& a, long e, long item, char kind, long lo, long hi, uint64_t h) {
    char buffer[16] = {};
    double unit = double(h >> 40) / double(1 << 24);
    if (kind == 'i') {
      long v = lo + long(h >> 20) % std::max(1l, hi - lo + 1);
      if (item == 1) buffer[0] = char(v);
      else std::memcpy(buffer, &v, std::min(item, 8l));
    } else if (kind == 'b') {
      BFloat16 v = float(unit);
      std::memcpy(buffer, &v, 2);
    } else if (item == 8) {
      std::memcpy(buffer, &unit, 8);
    } else if (item == 2) {
      Half v = float(unit);
      std::memcpy(buffer, &v, 2);
    } else {
      float v = float(unit);
      for (long k = 0; k < item; k += 4) std::memcpy(buffer + k, &v, std::min(4l, item));
    }
    a.write(e, buffer, item);
  }

  uint64_t hashed(const View& v, Arg& a) {
    uint64_t h = 1;
    v.each([&](long, long e) {
      uint64_t word[2] = {};
      a.read(e, word, v.item);
      h = mix(mix(h, word[0]), word[1]);
    });
    return h;
  }

  // What a launch wrote into a copy makes its place in the original out of date.
  void outdate(int id) {
    auto copy = copies_.find(id);
    Storage& s = storages_[id];
    if (copy != copies_.end()) {
      const View& v = copy->second;
      Storage& parent = storages_[v.id];
      v.each([&](long k, long e) {
        long from = k * v.item, to = v.byte + e * v.item;
        if (from < long(s.state.size()) && (s.state[from] & FRESH) && to >= 0 && to + v.item <= long(parent.state.size()))
          for (long b = to; b < to + v.item; b++)
            if (!(parent.state[b] & FRESH)) parent.state[b] |= STALE;
      });
    }
  }
  void settle(const std::vector<int>& written) {
    for (int id : written) outdate(id);
    for (int id : written)
      for (uint8_t& b : storages_[id].state) b &= uint8_t(~FRESH);
  }

  static void json(const Arg& a) {
    std::printf("{");
    if (a.rmin <= a.rmax) std::printf("\"rmin\":%ld,\"rmax\":%ld,", a.rmin, a.rmax);
    if (a.wmin <= a.wmax) std::printf("\"wmin\":%ld,\"wmax\":%ld,", a.wmin, a.wmax);
    if (a.bad_reads) std::printf("\"bad_reads\":%ld,\"first_bad_reads\":%ld,", a.bad_reads, a.first_bad_read);
    if (a.bad_writes) std::printf("\"bad_writes\":%ld,\"first_bad_writes\":%ld,", a.bad_writes, a.first_bad_write);
    if (a.unwritten) std::printf("\"unwritten\":%ld,\"first_unwritten\":%ld,", a.unwritten, a.first_unwritten);
    if (a.misread) std::printf("\"misread\":%ld,\"first_misread\":%ld,", a.misread, a.first_misread);
    if (a.stale) std::printf("\"stale\":%ld,\"first_stale\":%ld,", a.stale, a.first_stale);
    std::printf("\"start\":%ld,\"bytes\":%zu}", a.start, a.storage->data.size());
  }

  void fill() {
    View v = view();
    char kind = next<char>();
    long lo = next<long>(), hi = next<long>();
    uint64_t seed = next<uint64_t>();
    Arg a = arg(v);
    v.each([&](long k, long e) { put(a, e, v.item, kind, lo, hi, mix(seed, k)); });
    settle({v.id});
  }
  void copy(const View& to, const View& from) {
    Arg w = arg(to), r = arg(from);
    std::vector<char> values(from.count() * from.item);
    std::vector<uint8_t> states(from.count());
    from.each([&](long k, long e) {
      long b = r.at(e, from.item);
      states[k] = b < 0 ? 0 : r.storage->state[b];
      r.read(e, &values[k * from.item], from.item);
    });
    to.each([&](long k, long e) {  // places without a value stay without
      if (!(states[k] & WRITTEN)) return;
      w.write(e, &values[k * from.item], to.item);
      long b = w.at(e, to.item);
      for (long i = 0; b >= 0 && i < to.item; i++) w.storage->state[b + i] |= states[k] & STALE;
    });
    settle({to.id});
  }
  void materialise() {
    int id = next<int>();
    View v = view();
    View packed{id, 0, v.item, {v.count()}, {1}};
    copy(packed, v);
    Storage& s = storages_[id];
    for (uint8_t& b : s.state) b |= COPIED;
    s.origin.resize(v.count());
    v.each([&](long k, long e) { s.origin[k] = e; });
    copies_[id] = v;
  }
  void call() {
    int n = next<int>();
    uint64_t h = 7;
    std::printf("{\"args\":[");
    for (int i = 0; i < n; i++) {
      View v = view();
      Arg a = arg(v);
      h = mix(h, hashed(v, a));
      std::printf(i ? "," : "");
      json(a);
    }
    std::vector<int> written;
    n = next<int>();
    for (int i = 0; i < n; i++) {
      View v = view();
      char kind = next<char>();
      Arg a = arg(v);
      v.each([&](long k, long e) { put(a, e, v.item, kind, 0, 1, mix(h + i, k)); });
      written.push_back(v.id);
    }
    settle(written);
    std::printf("]}\n");
  }
  void launch(Launch run) {
    int kernel = next<int>(), n = next<int>();
    Args args;
    std::vector<int> ids;
    for (int i = 0; i < n; i++) {
      Value v;
      v.kind = next<char>();
      if (v.kind == 'p') {
        int id = next<int>();
        v.arg.storage = &storages_[id];
        v.arg.start = next<long>();
        v.arg.compiled = true;
        ids.push_back(id);
      } else if (v.kind == 'i') {
        v.i = next<long>();
      } else {
        v.f = next<double>();
      }
      args.values.push_back(v);
    }
    std::string failed;
    try {
      run(kernel, args);
    } catch (const CheckFailed& e) {
      failed = e.what;
    }
    settle(ids);
    std::printf("{\"args\":[");
    bool first = true;
    for (const Value& v : args.values) {
      if (v.kind != 'p') continue;
      if (!first) std::printf(",");
      first = false;
      json(v.arg);
    }
    for (char& c : failed)
      if (c == '"' || c == '\\' || c < ' ') c = '\'';
    std::printf("],\"failed\":\"%s\"}\n", failed.c_str());
  }
  void output() {
    View v = view();
    Arg a = arg(v);
    uint64_t h = hashed(v, a);
    std::printf("{\"hash\":\"%016lx\",\"args\":[", h);
    json(a);
    std::printf("]}\n");
  }

 public:
  explicit Machine(std::istream& in) : in_(in) {}

  int run(Launch launcher) {
    std::string op;
    while (in_ >> op) {
      if (op == "S") {
        int id = next<int>();
        long bytes = next<long>();
        storages_[id] = {std::vector<char>(bytes), std::vector<uint8_t>(bytes), {}};
        copies_.erase(id);
      } else if (op == "D") {
        int id = next<int>();
        storages_[id] = {};
        copies_.erase(id);
      } else if (op == "F") fill();
      else if (op == "C") {
        View to = view(), from = view();
        copy(to, from);
      }
      else if (op == "M") materialise();
      else if (op == "X") call();
      else if (op == "L") launch(launcher);
      else if (op == "O") output();
      else return 3;
      std::fflush(stdout);
    }
    return 0;
  }
};

inline int machine(Launch launch) { return Machine(std::cin).run(launch); }

}  // namespace run
