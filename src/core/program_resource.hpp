#pragma once

#include <atomic>
#include <cuprum/program.hpp>
#include <optional>
#include <string>

#include "support/counted.hpp"

namespace cuprum::detail {

struct ProgramResource : support::Counted<ProgramResource> {
  std::string source;
  SourceCodeType type = SourceCodeType::cxx;
  ProgramOptions options;
  std::atomic<std::optional<PCHStatusType>> pch_status{std::nullopt};  // of the last compilation
};

}  // namespace cuprum::detail
