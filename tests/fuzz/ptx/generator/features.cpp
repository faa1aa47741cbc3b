#include "fuzz/ptx/generator/features.hpp"

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
    {"pieces", &Features::pieces}, {"warps", &Features::warps},     {"exits", &Features::exits},
    {"calls", &Features::calls},
};

}  // namespace

Features parse_features(std::string_view list) {
  Features features;
  for (const Name& name : kNames) features.*name.feature = false;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    const Name* found = nullptr;
    for (const Name& name : kNames)
      if (name.text == word) found = &name;
    if (found == nullptr) {
      std::string known;
      for (const Name& name : kNames) known += (known.empty() ? "" : ", ") + std::string(name.text);
      throw std::invalid_argument("there is no feature '" + std::string(word) + "'; there are " + known);
    }
    features.*found->feature = true;
  }
  return features;
}

}  // namespace ptx_fuzz
