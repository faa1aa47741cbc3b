#include <atomic>
#include <cuprum/nvjitlink.hpp>

#include "core/base/closable.hpp"
#include "core/base/deferred.hpp"
#include "core/code/code_image.hpp"
#include "core/compile/linker_resource.hpp"
#include "core/compile/nvrtc_compilation.hpp"
#include "device_image/recognize.hpp"
#include "support/log.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::LinkedFrom;
using detail::Access;
using detail::Code;
using detail::Kept;
using detail::LinkerResource;
using support::text;

namespace {

/// Why nvJitLink can't be used; empty when it can. Without nvJitLinkVersion it is older than CUDA 12.3.
std::string objection_to_nvjitlink() {
  try {
    if (nvjitlink::api().nvJitLinkVersion) return {};
    return text("nvJitLink is too old, older than CUDA 12.3: ", nvjitlink::info().path);
  } catch (const NotSupported& missing) {
    return missing.what();
  }
}

std::unique_ptr<core::LinkState> start(const LinkedFrom& inputs, CompilerBackendType backend) {
  auto state = core::start_link(inputs.options, backend);
  for (const auto& code : inputs.codes) state->add(*code);
  return state;
}

/// nvJitLink leaves machine code that is not relocatable out, without a word.
void check_input(const Code& code) {
  if (code.type == Target::pch) {
    throw InvalidArgument(text("'", code.name, "' is a precompiled header: there is nothing in it to link"));
  }
  if (code.type != Target::cubin) return;
  const auto image = core::recognized(code);
  const bool is_final = image && image->kind == device_image::ImageKind::cubin && !image->parts.front().is_relocatable;
  if (is_final) {
    throw InvalidArgument(text(core::title_of_input(code), " is machine code that can't be linked any more: compile it",
                               " with relocatable_device_code = true, or to ptx or ltoir"));
  }
}

/// A state that can be completed here: with nvJitLink none that another thread has begun (nvjitlink_state.cpp).
void prepare(LinkerResource& linker) {
  const bool is_others =
      linker.backend == CompilerBackendType::nvjitlink && linker.thread != std::this_thread::get_id();
  if (linker.is_linked || is_others) linker.state = start(*linker.inputs, linker.backend);
  linker.thread = std::this_thread::get_id();
  linker.is_linked = true;
}

void check_target(Target target, const LinkerOptions& options) {
  const bool makes_ptx = options.ptx.value_or(false);
  if (target == (makes_ptx ? Target::ptx : Target::cubin)) return;
  if (target == Target::ptx) {
    throw InvalidArgument(text("linking '", options.name, "' to ptx needs the options ptx and link_time_optimization"));
  }
  if (target == Target::cubin) {
    throw InvalidArgument(text("linking '", options.name, "' to cubin contradicts the option ptx: leave it out"));
  }
  throw InvalidArgument(text("'", options.name, "' can't be linked to ", target, ", only to cubin and ptx"));
}

}  // namespace

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

std::string title_of_input(const Code& code) {
  std::optional<device_image::Image> image;
  try {
    image = device_image::recognize(device_image::bytes_of(code.bytes));
  } catch (const device_image::Damaged&) {
    // It has no architecture to tell of.
  }
  return text("'", code.name, "' (", code.type, image ? " for " + device_image::architectures(*image) : "", ")");
}

std::unique_ptr<LinkState> start_link(const LinkerOptions& options, CompilerBackendType backend) {
  return backend == CompilerBackendType::driver ? start_driver_link(options) : start_nvjitlink(options);
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

Linker::Linker(const std::vector<ObjectCode>& codes, LinkerOptions options) {
  if (codes.empty()) throw InvalidArgument(text("there is nothing to link in linker '", options.name, "'"));
  const CompilerBackendType backend = options.backend ? *options.backend : which_backend();
  options.as_arguments(backend);  // complains of what is wrong with them
  if (backend == CompilerBackendType::nvjitlink && !options.arch) options.arch = core::default_architecture();
  auto inputs = std::make_shared<LinkedFrom>(std::move(options));
  for (const ObjectCode& code : codes) {
    const std::shared_ptr<detail::ObjectCodeResource>& held = Access::keep(code);
    check_input(held->code);
    inputs->codes.emplace_back(held, &held->code);
  }
  auto state = start(*inputs, backend);
  *this = Access::make<Linker, LinkerResource>(std::move(inputs), backend, std::move(state));
}

ObjectCode Linker::link(Target target) {
  const Kept<LinkerResource> linker = Access::keep(*this);
  const LinkedFrom& inputs = *linker->inputs;
  check_target(target, inputs.options);
  prepare(*linker);
  core::Linked result = linker->state->complete(target);
  Code linked{.type = result.type, .name = inputs.options.name, .bytes = std::move(result.bytes)};
  for (const auto& code : inputs.codes)
    linked.symbol_mapping.insert(code->symbol_mapping.begin(), code->symbol_mapping.end());
  // The driver's linker makes what its own driver loads.
  if (linker->backend == CompilerBackendType::nvjitlink && target == Target::cubin) linked.source = linker->inputs;
  return Access::make_code(core::make_deferrable<detail::ObjectCodeResource>(std::move(linked)));
}

std::string Linker::get_info_log() const { return Access::keep(*this)->state->info_log(); }

std::string Linker::get_error_log() const { return Access::keep(*this)->state->error_log(); }

CompilerBackendType Linker::backend() const { return Access::keep(*this)->backend; }

void* Linker::handle() const {
  const Kept<LinkerResource> linker = Access::try_keep(*this);
  return linker ? linker->state->handle() : nullptr;
}

void Linker::close() { Access::close(*this); }

CompilerBackendType Linker::which_backend() {
  const std::string objection = objection_to_nvjitlink();
  if (objection.empty()) return CompilerBackendType::nvjitlink;
  static std::atomic_flag told;
  if (!told.test_and_set()) {
    support::log(
        text("the driver's linker is used, which links no LTO-IR and no code newer than the driver: ", objection));
  }
  return CompilerBackendType::driver;
}

}  // namespace cuprum::inline CUPRUM_ABI
