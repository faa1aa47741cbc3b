// How a value of one thread's code differs between the lanes of a gang.
#pragma once

#include <algorithm>
#include <cstdint>

namespace softgpu::simt {

struct Shape {
  enum class Kind : std::uint8_t {
    unknown,  // not reached yet
    uniform,  // the same in all lanes that run
    strided,  // lane i has lane 0's value + i * stride
    varying,
  };
  Kind kind = Kind::unknown;
  std::int64_t stride = 0;
  // Lane 0's value is a multiple of 2^alignment. Known for integers only.
  std::uint8_t alignment = 0;
  // The stride is right only while a narrower integer it was extended from does not wrap inside the gang;
  // the code that relies on it tests that at run time.
  bool guarded = false;

  static Shape uniform(unsigned alignment = 0) { return {Kind::uniform, 0, clamp(alignment), false}; }
  static Shape strided(std::int64_t stride, unsigned alignment = 0, bool guarded = false) {
    if (stride == 0) return guarded ? varying() : uniform(alignment);
    return {Kind::strided, stride, clamp(alignment), guarded};
  }
  static Shape varying() { return {Kind::varying, 0, 0, false}; }

  bool is_uniform() const { return kind == Kind::uniform; }
  bool is_strided() const { return kind == Kind::strided; }
  bool is_varying() const { return kind == Kind::varying; }
  // Lane 0's value stands for all of them.
  bool has_base() const { return is_uniform() || is_strided(); }

  bool operator==(const Shape&) const = default;

  // The shape of a value that is `a` on one path and `b` on another, where all lanes take the same path.
  static Shape join(const Shape& a, const Shape& b) {
    if (a.kind == Kind::unknown) return b;
    if (b.kind == Kind::unknown) return a;
    if (a.kind != b.kind || a.stride != b.stride) return varying();
    return {a.kind, a.stride, std::min(a.alignment, b.alignment), a.guarded || b.guarded};
  }

 private:
  static std::uint8_t clamp(unsigned alignment) { return static_cast<std::uint8_t>(std::min(alignment, 62U)); }
};

}  // namespace softgpu::simt
