#include "core/code/portable_code.hpp"

#include <optional>

#include "core/code/code_image.hpp"
#include "core/compile/linker_resource.hpp"
#include "core/compile/ltoir_to_ptx.hpp"
#include "core/compile/ptx_in_container.hpp"
#include "device_image/ptx_text.hpp"

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

std::optional<Parts> parts_of_link(const detail::LinkedFrom& inputs) {
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

std::optional<Parts> parts_of(const Code& code) {
  if (code.type == Target::ptx) return Parts{{code.bytes}, {}};
  if (!code.ptx.empty()) return Parts{{code.ptx}, {}};
  return code.linked_from ? parts_of_link(*code.linked_from) : std::nullopt;
}

}  // namespace

std::vector<std::string> ptx_modules(const Code& code) {
  std::optional<Parts> parts = parts_of(code);
  return parts && parts->libraries.empty() ? std::move(parts->ptx) : std::vector<std::string>();
}

std::string portable_image(const Code& code) {
  std::optional<Parts> parts = parts_of(code);
  if (!parts || parts->ptx.empty()) return {};
  if (parts->ptx.size() == 1 && parts->libraries.empty()) return std::move(parts->ptx.front());
  const std::unique_ptr<LinkState> link = start_driver_link({.name = code.name});
  for (std::string& ptx : parts->ptx) link->add({.type = Target::ptx, .name = code.name, .bytes = std::move(ptx)});
  for (const Code* library : parts->libraries) link->add(*library);
  return link->complete(Target::cubin).bytes;
}

// The machine code's own header doesn't tell sm_90a from sm_90; its PTX does.
std::string portable_fatbin(const Code& cubin) {
  const std::vector<std::string> ptx = ptx_modules(cubin);
  const std::optional<device_image::Image> image = recognized(cubin);
  if (ptx.empty() || !image) return {};
  const device_image::ImagePart& part = image->parts.at(0);
  const bool is_to_be_linked = part.is_relocatable || ptx.size() > 1;
  Architecture architecture = part.architecture;
  std::vector<device_image::FatbinImage> entries(1);
  for (const std::string& module : ptx) {
    const Architecture target = device_image::read_ptx_header(module).architecture;
    if (target.number == architecture.number) architecture = target;
    entries.push_back({.kind = device_image::EntryKind::ptx,
                       .architecture = target,
                       .contents = module,
                       .options = is_to_be_linked ? "--compile-only" : ""});
  }
  entries.front() = {.kind = device_image::EntryKind::cubin, .architecture = architecture, .contents = cubin.bytes};
  return device_image::write_fatbin(entries);
}

}  // namespace cuprum::core
