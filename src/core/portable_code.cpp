#include "core/portable_code.hpp"

#include "core/linker_resource.hpp"
#include "core/ltoir_to_ptx.hpp"

namespace cuprum::core {
namespace {

using detail::Code;

std::vector<std::string> modules_of_link(const detail::LinkedFrom& inputs) {
  std::vector<std::string> modules;
  std::vector<const Code*> ltoir;
  for (const auto& code : inputs.codes) {
    if (code->type == Target::ltoir) {
      ltoir.push_back(code.get());
      continue;
    }
    std::vector<std::string> parts = ptx_modules(*code);
    if (parts.empty()) return {};
    modules.insert(modules.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  if (!ltoir.empty()) modules.push_back(ltoir_to_ptx(ltoir, inputs.options, modules));
  return modules;
}

}  // namespace

std::vector<std::string> ptx_modules(const Code& code) {
  if (code.type == Target::ptx) return {code.bytes};
  if (!code.ptx.empty()) return {code.ptx};
  return code.linked_from ? modules_of_link(*code.linked_from) : std::vector<std::string>();
}

std::string portable_image(const Code& code) {
  std::vector<std::string> modules = ptx_modules(code);
  if (modules.empty()) return {};
  if (modules.size() == 1) return std::move(modules.front());
  const std::unique_ptr<LinkState> link = start_driver_link({.name = code.name});
  for (std::string& module : modules) link->add({.type = Target::ptx, .name = code.name, .bytes = std::move(module)});
  return link->complete(Target::cubin);
}

}  // namespace cuprum::core
