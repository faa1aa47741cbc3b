#include "core/compile/linked_from.hpp"

#include <optional>

#include "core/code/portable_code.hpp"
#include "core/compile/link_state.hpp"
#include "core/compile/ltoir_to_ptx.hpp"
#include "core/compile/ptx_in_container.hpp"

namespace cuprum::core {
namespace {

using detail::Code;
using device_image::Architecture;

/// What a driver that takes PTX alone can link: PTX, and the libraries, which it can search for what is needed.
struct Parts {
  std::vector<std::string> ptx;
  std::vector<const Code*> libraries;
};

void append(std::vector<std::string>& modules, std::vector<std::string> more) {
  modules.insert(modules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::optional<Parts> parts_of(const LinkedFrom& inputs) {
  const auto architecture = device_image::parse_architecture(inputs.options.arch.value_or("")).value_or(Architecture());
  const bool optimizes = inputs.options.link_time_optimization.value_or(false);
  Parts parts;
  std::vector<const Code*> ltoir;
  std::vector<std::string> others;  // that LTO-IR is linked with
  for (const auto& code : inputs.codes) {
    const bool is_container = code->type != Target::ptx && code->type != Target::cubin && code->type != Target::ltoir;
    if (code->type == Target::ltoir || (is_container && optimizes && holds_ltoir(*code))) {
      ltoir.push_back(code.get());
      continue;
    }
    std::vector<std::string> modules = is_container ? ptx_in_container(*code, architecture) : ptx_modules(*code);
    if (code->type == Target::library) {
      parts.libraries.push_back(code.get());
      append(others, std::move(modules));
    } else if (modules.empty()) {
      return std::nullopt;
    } else {
      append(parts.ptx, std::move(modules));
    }
  }
  if (!ltoir.empty()) {
    append(others, parts.ptx);
    parts.ptx.push_back(ltoir_to_ptx(ltoir, inputs.options, others));
  }
  return parts;
}

std::string link_for_the_driver(const std::string& name, std::vector<std::string> ptx,
                                const std::vector<const Code*>& libraries) {
  const std::unique_ptr<LinkState> link = start_driver_link({.name = name});
  for (std::string& module : ptx) link->add({.type = Target::ptx, .name = name, .bytes = std::move(module)});
  for (const Code* library : libraries) link->add(*library);
  return link->complete(Target::cubin).bytes;
}

class Modules final : public detail::PortableSource {
 public:
  explicit Modules(std::vector<std::string> ptx) : ptx_(std::move(ptx)) {}
  std::vector<std::string> ptx_modules() const override { return ptx_; }
  std::string image(const std::string& name) const override { return link_for_the_driver(name, ptx_, {}); }

 private:
  std::vector<std::string> ptx_;
};

}  // namespace

std::shared_ptr<const detail::PortableSource> source_of_modules(std::vector<std::string> ptx) {
  return std::make_shared<Modules>(std::move(ptx));
}

std::vector<std::string> LinkedFrom::ptx_modules() const {
  std::optional<Parts> parts = parts_of(*this);
  return parts && parts->libraries.empty() ? std::move(parts->ptx) : std::vector<std::string>();
}

std::string LinkedFrom::image(const std::string& name) const {
  std::optional<Parts> parts = parts_of(*this);
  if (!parts || parts->ptx.empty()) return {};
  if (parts->ptx.size() == 1 && parts->libraries.empty()) return std::move(parts->ptx.front());
  return link_for_the_driver(name, std::move(parts->ptx), parts->libraries);
}

}  // namespace cuprum::core
