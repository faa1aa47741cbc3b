#include "core/code/portable_code.hpp"

#include <optional>

#include "core/code/code_image.hpp"
#include "device_image/ptx_text.hpp"

namespace cuprum::core {
namespace {

using detail::Code;
using device_image::Architecture;

/// The one module of PTX that does what the code does; null when there is none, or when it has to be linked.
const std::string* own_ptx(const Code& code) {
  if (code.type == Target::ptx) return &code.bytes;
  return code.ptx.empty() ? nullptr : &code.ptx;
}

}  // namespace

std::vector<std::string> ptx_modules(const Code& code) {
  if (const std::string* ptx = own_ptx(code)) return {*ptx};
  return code.source ? code.source->ptx_modules() : std::vector<std::string>();
}

std::string portable_image(const Code& code) {
  if (const std::string* ptx = own_ptx(code)) return *ptx;
  return code.source ? code.source->image(code.name) : std::string();
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
