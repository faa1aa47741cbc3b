// The kinds of sampling that softgpu is compared with an H200 in, each at 100,000 places.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "texture_samples/case.hpp"

namespace texture_samples {

inline constexpr std::size_t kSamples = 100'000, kChunk = 5'000;  // a chunk has a hash of its own

inline constexpr std::size_t kValueStep = 500;  // between samples that are kept as they are

struct Kind {
  std::string name;
  Case setting;  // without texels and inputs
};

const std::vector<Kind>& kinds();
// The first word of a kind's name: the image's shape.
std::string group_of(const Kind& kind);

// Numbers by their position: those of one place don't depend on which others are asked for.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t position)
      : state_(seed * 0x9e3779b97f4a7c15 + position * 0xd1342543de82ef95) {}
  std::uint64_t next();
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((next() >> 32) * limit >> 32); }
  float uniform(float low, float high);  // 24 random bits

 private:
  std::uint64_t state_;
};
std::uint64_t seed_of(const std::string& name);

void fill_with_random_texels(Case& it, std::uint64_t seed);
Input random_input(const Case& it, std::uint64_t seed, std::size_t position);

// The case of samples first, first + step, … `count` of them.
Case case_of(const Kind& kind, std::size_t first, std::size_t count, std::size_t step = 1);

std::uint32_t hash_of(std::span<const Output> outputs);

}  // namespace texture_samples
