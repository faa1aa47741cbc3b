// Building blocks of floating-point code: formats, saturation, and rounding that is not to nearest.
//
// All are straight-line code without library calls, so that simt/ can widen it. Formats narrower than f32 are computed
// in float: for +, -, *, / and sqrt of f16 and bf16, float has enough bits that rounding twice does no harm.
#pragma once

#include "softgpu/lower/values/types.hpp"

namespace softgpu::lower {

// An element as stored (half, i16 for bf16, float, double) as the float or double that it is computed in.
llvm::Value* widen(Builder&, llvm::Value* element, ptx::Type element_type);
// A float (double for f64) rounded to nearest even to an element.
llvm::Value* narrow(Builder&, llvm::Value*, ptx::Type element_type);

// Clamped to what becomes infinite in f16 and not much more. LLVM 19 takes an integer that has few digits for one that
// a half can hold, however large it is, unless the code says that this can't be.
llvm::Value* near_half(Builder&, llvm::Value* value);
// Says so where a float made of an integer becomes a half. Registers are values by then.
void keep_integers_near_half(llvm::Function&);

// Clamped to [0, 1], NaN to 0.
llvm::Value* saturate(Builder&, llvm::Value* value);
// Negative values to 0, NaN stays.
llvm::Value* relu(Builder&, llvm::Value* value);

enum class Rounding : std::uint8_t {
  nearest,
  zero,
  down,
  up,
  odd,  // inexact results get an odd last bit: rounding again, to a format 2 or more bits shorter, is then exact
};

// An exact result as the nearest double and what is missing: value + error is the exact result. Where a double is
// wanted only the sign of `error` counts; where a float is, it must also be smaller than half a step of the double. A
// NaN there means that nothing is missing.
struct Exact {
  llvm::Value* value;
  llvm::Value* error;
};

// Of floats or of doubles.
Exact exact_sum(Builder&, llvm::Value* a, llvm::Value* b);
Exact exact_product(Builder&, llvm::Value* a, llvm::Value* b);
Exact exact_fma(Builder&, llvm::Value* a, llvm::Value* b, llvm::Value* c);
Exact exact_quotient(Builder&, llvm::Value* a, llvm::Value* b);
Exact exact_root(Builder&, llvm::Value* a);

// As float or double. A sum that is exactly zero has its sign from the terms (see signed_zero).
llvm::Value* round_exact(Builder&, const Exact&, llvm::Type*, Rounding);
// Rounded down, x + y = 0 is -0 unless both terms are +0; rounded to nearest it would be +0.
Exact signed_zero(Builder&, const Exact& sum, llvm::Value* x, llvm::Value* y);

// float or double to half by a rounding mode; float to bfloat16 bits.
llvm::Value* round_to_half(Builder&, llvm::Value*, Rounding);
llvm::Value* round_to_bfloat(Builder&, llvm::Value* single, Rounding);

// `nearest`, moved by one step where it lies on the wrong side of the exact result. `above` and `below` say on which
// side it lies.
llvm::Value* step(Builder&, llvm::Value* nearest, llvm::Value* above, llvm::Value* below, Rounding);

}  // namespace softgpu::lower
