#include "softgpu/jit/symbols.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "softgpu/exec/runtime_calls.hpp"

namespace softgpu::jit {
namespace {

struct Symbol {
  std::string_view name;
  void* address;
};

template <typename Function>
constexpr Symbol symbol(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

using Copy = void*(void*, const void*, std::size_t);
using Fill = void*(void*, int, std::size_t);
using Compare = int(const void*, const void*, std::size_t);
using Float1 = float(float);
using Float2 = float(float, float);
using Float3 = float(float, float, float);
using Double1 = double(double);
using Double2 = double(double, double);
using Double3 = double(double, double, double);

// What LLVM's code generator itself calls: block copies, and operations that the CPU has no instruction for.
const std::array kCodeGeneratorCalls = {
    symbol<Copy>("memcpy", std::memcpy),
    symbol<Copy>("memmove", std::memmove),
    symbol<Fill>("memset", std::memset),
    symbol<Compare>("memcmp", std::memcmp),
    symbol<Float3>("fmaf", fmaf),
    symbol<Double3>("fma", fma),
    symbol<Float2>("fmodf", fmodf),
    symbol<Double2>("fmod", fmod),
    symbol<Float1>("sinf", sinf),
    symbol<Float1>("cosf", cosf),
    symbol<Float1>("exp2f", exp2f),
    symbol<Float1>("log2f", log2f),
    symbol<Float1>("floorf", floorf),
    symbol<Float1>("ceilf", ceilf),
    symbol<Float1>("truncf", truncf),
    symbol<Float1>("rintf", rintf),
    symbol<Float1>("nearbyintf", nearbyintf),
    symbol<Float1>("roundevenf", roundevenf),
    symbol<Double1>("floor", floor),
    symbol<Double1>("ceil", ceil),
    symbol<Double1>("trunc", trunc),
    symbol<Double1>("rint", rint),
    symbol<Double1>("nearbyint", nearbyint),
    symbol<Double1>("roundeven", roundeven),
};

}  // namespace

void* find_symbol(std::string_view name) {
  for (const exec::RuntimeCall& call : exec::runtime_calls())
    if (call.symbol == name) return call.address;
  for (const Symbol& entry : kCodeGeneratorCalls)
    if (entry.name == name) return entry.address;
  return nullptr;
}

}  // namespace softgpu::jit
