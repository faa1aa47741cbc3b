#pragma once

#include <atomic>
#include <cuprum/program.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "support/counted.hpp"

namespace cuprum::inline CUPRUM_ABI::detail {

struct ProgramResource : support::Counted<ProgramResource> {
  std::string source;
  SourceCodeType type = SourceCodeType::cxx;
  ProgramOptions options;
  std::atomic<std::optional<PCHStatusType>> pch_status{std::nullopt};  // of the last compilation

  std::mutex native_mutex;
  std::shared_ptr<void> native = {};  // Program::handle(), once it was asked for
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
