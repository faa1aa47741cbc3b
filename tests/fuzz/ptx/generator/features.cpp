#include "fuzz/ptx/generator/features.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace ptx_fuzz {
namespace {

struct Name {
  std::string_view text;
  bool Features::* feature;
};

constexpr Name kNames[] = {
    {"loops", &Features::loops},   {"gotos", &Features::gotos},     {"memory", &Features::memory},
    {"floats", &Features::floats}, {"atomics", &Features::atomics}, {"barriers", &Features::barriers},
    {"pieces", &Features::pieces}, {"warps", &Features::warps},     {"signals", &Features::signals},
    {"exits", &Features::exits},   {"calls", &Features::calls},     {"recursion", &Features::recursion},
};

}  // namespace

Features parse_features(std::string_view list) {
  Features features;
  if (!list.starts_with('-'))
    for (const Name& name : kNames) features.*name.feature = false;
  while (!list.empty()) {
    std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    const bool wanted = !word.starts_with('-');
    if (!wanted) word.remove_prefix(1);
    const auto* found =
        std::find_if(std::begin(kNames), std::end(kNames), [&](auto& name) { return name.text == word; });
    if (found == std::end(kNames)) {
      std::string known;
      for (const Name& name : kNames) known += (known.empty() ? "" : ", ") + std::string(name.text);
      throw std::invalid_argument("there is no feature '" + std::string(word) + "'; there are " + known);
    }
    features.*found->feature = wanted;
  }
  return features;
}

}  // namespace ptx_fuzz
