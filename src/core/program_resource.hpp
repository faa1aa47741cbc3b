#pragma once

#include <cuprum/program.hpp>
#include <string>

#include "support/counted.hpp"

namespace cuprum::detail {

struct ProgramResource : support::Counted<ProgramResource> {
  std::string source;
  ProgramOptions options;
};

}  // namespace cuprum::detail
