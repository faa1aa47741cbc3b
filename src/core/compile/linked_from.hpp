#pragma once

#include <cuprum/linker.hpp>
#include <memory>
#include <string>
#include <vector>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

/// What code was linked from, and how: enough to link it once more, as PTX.
class LinkedFrom final : public detail::PortableSource {
 public:
  explicit LinkedFrom(LinkerOptions the_options) : options(std::move(the_options)) {}

  std::vector<std::string> ptx_modules() const override;
  std::string image(const std::string& name) const override;

  std::vector<std::shared_ptr<const detail::Code>> codes;
  LinkerOptions options;
};

}  // namespace cuprum::core
