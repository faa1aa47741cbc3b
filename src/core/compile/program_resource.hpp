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
  ProgramResource(std::string_view the_source, SourceCodeType the_type, ProgramOptions the_options)
      : source(the_source), type(the_type), options(std::move(the_options)) {}

  std::uint64_t number() const noexcept { return 0; }

  const std::string source;
  const SourceCodeType type;
  const ProgramOptions options;
  std::atomic<std::optional<PCHStatusType>> pch_status{std::nullopt};  // of the last compilation

  std::mutex native_mutex;
  std::shared_ptr<void> native = {};  // Program::handle(), once it was asked for
};

}  // namespace cuprum::inline CUPRUM_ABI::detail
