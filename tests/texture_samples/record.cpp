// Writes what the driver's device answers: for each kind a line of hashes and its name, in the form of h200.txt, or, of
// the kinds that are named, the values of some samples, in the form of h200_values.txt.
//
//   CUPRUM_DRIVER=nvidia texture_samples_record > h200.txt
//   CUPRUM_DRIVER=nvidia texture_samples_record "cube f32 point" "cube f32 linear" > h200_values.txt
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

#include "texture_samples/kinds.hpp"

namespace {

using namespace texture_samples;

void write_hashes(const Kind& kind) {
  for (std::size_t first = 0; first < kSamples; first += kChunk)
    std::printf("%08x ", hash_of(run(case_of(kind, first, kChunk)).outputs));
  std::printf("%s\n", kind.name.c_str());
}

void write_values(const Kind& kind) {
  std::printf("%s\n", kind.name.c_str());
  for (const Output& output : run(case_of(kind, 0, kSamples / kValueStep, kValueStep)).outputs)
    std::printf("%x ", output[0]);
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  const auto names = std::span(arguments, static_cast<std::size_t>(count)).subspan(1);
  try {
    for (const Kind& kind : kinds()) {
      if (names.empty())
        write_hashes(kind);
      else if (std::find(names.begin(), names.end(), std::string_view(kind.name)) != names.end())
        write_values(kind);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 1;
  }
  return 0;
}
