// Video instructions: the same for each half or byte of a word.
#include <algorithm>
#include <cstdlib>

#include "ptx/batch.hpp"
#include "ptx/run_kernel.hpp"

namespace ptx_test {
namespace {

using U = std::uint32_t;
using Compute = int (*)(int, int);

const std::vector<U> kWords = {0,          1,          0x80,       0x8000,     0x7fff7f7f,
                               0x80008080, 0xffffffff, 0x12fe8001, 0xdeadbeef, 0x00ff01fe};

// Part k of `word`, which has as many bits as `width` says.
int part(U word, unsigned width, unsigned k, bool sign) {
  const int value = static_cast<int>(word >> (width * k) & ((1u << width) - 1));
  return sign && value >> (width - 1) ? value - (1 << width) : value;
}

int saturate(int value, unsigned width, bool sign) {
  return sign ? std::clamp(value, -(1 << (width - 1)), (1 << (width - 1)) - 1) : std::clamp(value, 0, (1 << width) - 1);
}

int average(int a, int b) { return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1; }

struct Operation {
  const char* name;
  Compute compute;
};
const Operation kOperations[] = {{"vadd", [](int a, int b) { return a + b; }},
                                 {"vsub", [](int a, int b) { return a - b; }},
                                 {"vabsdiff", [](int a, int b) { return std::abs(a - b); }},
                                 {"vmin", [](int a, int b) { return std::min(a, b); }},
                                 {"vmax", [](int a, int b) { return std::max(a, b); }},
                                 {"vavrg", average}};

class Video : public PtxTest, public testing::WithParamInterface<unsigned> {};

TEST_P(Video, ComputesWithPartsOfWords) {
  const unsigned width = GetParam();
  const std::string parts = width == 8 ? "4" : "2";
  for (const auto& [name, compute] : kOperations) {
    Batch<U, U, U> batch(kWords, kWords);
    for (unsigned types = 0; types < 16; ++types) {
      const bool sign_d = types & 1, sign_a = types & 2, sign_b = types & 4, sat = types & 8;
      const auto type = [](bool sign) { return sign ? ".s32" : ".u32"; };
      batch.add(name + parts + type(sign_d) + type(sign_a) + type(sign_b) + (sat ? ".sat" : "") + " d, a, b, a;",
                [=, of = compute](U a, U b) {
                  U result = 0;
                  for (unsigned k = 0; k < 32 / width; ++k) {
                    const int value = of(part(a, width, k, sign_a), part(b, width, k, sign_b));
                    const auto bits = static_cast<U>(sat ? saturate(value, width, sign_d) : value);
                    result |= (bits & ((1u << width) - 1)) << (width * k);
                  }
                  return result;
                });
    }
    batch.run();
  }
}

TEST_P(Video, AddsUpDistances) {
  const unsigned width = GetParam();
  const std::string name = width == 8 ? "vabsdiff4" : "vabsdiff2";
  Batch<U, U, U, U> batch(kWords, kWords, {0, 1, 0xffffff00});
  for (const bool sign : {false, true})
    batch.add(name + (sign ? ".s32.s32.s32" : ".u32.u32.u32") + ".add d, a, b, c;", [=](U a, U b, U c) {
      for (unsigned k = 0; k < 32 / width; ++k)
        c += static_cast<U>(std::abs(part(a, width, k, sign) - part(b, width, k, sign)));
      return c;
    });
  batch.run();
}

INSTANTIATE_TEST_SUITE_P(Widths, Video, testing::Values(8, 16));

}  // namespace
}  // namespace ptx_test
