#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include "core/base/context.hpp"
#include "core/code/portable_code.hpp"
#include "core/compile/link_state.hpp"
#include "core/compile/linker_options.hpp"
#include "device_image/recognize.hpp"
#include "driver/release.hpp"
#include "support/c_string.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using support::text;

// In the order of Target.
constexpr CUjitInputType driver_input_types[] = {CU_JIT_INPUT_PTX,       CU_JIT_INPUT_CUBIN,  CU_JIT_INPUT_NVVM,
                                                 CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY};

/// Where the driver writes what it has to say, until the link is destroyed.
class LogBuffer {
 public:
  char* data() { return characters_.data(); }
  static constexpr std::size_t size = std::size_t{64} << 10;
  std::string text() const { return characters_.substr(0, characters_.find('\0')); }

 private:
  std::string characters_ = std::string(size, '\0');
};

// A driver that runs no machine code makes something else that it can load.
Target type_of(std::string_view image) {
  using device_image::ImageKind;
  const auto recognized = device_image::recognize(device_image::bytes_of(image));
  if (recognized && recognized->kind == ImageKind::ptx) return Target::ptx;
  return recognized && recognized->kind == ImageKind::fatbin ? Target::fatbin : Target::cubin;
}

class DriverLinkState final : public LinkState {
 public:
  explicit DriverLinkState(const LinkerOptions& options)
      : name_(options.name), context_(context_for(Device().device_id())) {
    set(CU_JIT_INFO_LOG_BUFFER, info_.data());
    set(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(LogBuffer::size));
    set(CU_JIT_ERROR_LOG_BUFFER, error_.data());
    set(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, reinterpret_cast<void*>(LogBuffer::size));
    for (const JitSetting& setting : jit_settings(options)) {
      set(setting.option, reinterpret_cast<void*>(static_cast<std::intptr_t>(setting.value)));
    }
    call<&Api::cuLinkCreate>(nullptr, static_cast<unsigned>(options_.size()), options_.data(), values_.data(), &state_);
  }

  ~DriverLinkState() override {
    ContextGuard guard(context_, std::nothrow);
    if (guard.entered()) driver::release<&Api::cuLinkDestroy>(state_);
  }

  // The driver wants PTX with the zero at its end. It only reads the data, whatever its prototype says.
  void add(const detail::Code& code) override {
    if (code.type == Target::ltoir) {
      throw InvalidArgument(text("'", code.name, "' is LTO-IR, which only nvJitLink links; '", name_,
                                 "' is linked by the driver. Install nvJitLink, or compile to ptx or cubin"));
    }
    // A driver that takes no machine code finds PTX in the same image.
    if (std::string fatbin = code.type == Target::cubin ? portable_fatbin(code) : ""; !fatbin.empty()) {
      return add({.type = Target::fatbin, .name = code.name, .bytes = std::move(fatbin)});
    }
    const std::size_t size = code.bytes.size() + (code.type == Target::ptx ? 1 : 0);
    call<&Api::cuLinkAddData>(&code, state_, driver_input_types[static_cast<int>(code.type)],
                              const_cast<char*>(code.bytes.c_str()), size,
                              support::c_string(code.name, "the name of object code"), 0u, nullptr, nullptr);
  }

  Linked complete(Target) override {
    void* image = nullptr;
    std::size_t size = 0;
    call<&Api::cuLinkComplete>(nullptr, state_, &image, &size);
    const std::string_view bytes(static_cast<const char*>(image), size);
    return {type_of(bytes), std::string(bytes)};
  }

  std::string info_log() const override { return info_.text(); }
  std::string error_log() const override { return error_.text(); }
  void* handle() const override { return state_; }

 private:
  void set(CUjit_option option, void* value) {
    options_.push_back(option);
    values_.push_back(value);
  }

  /// A failure that the linker has explained is the inputs' fault; any other is the driver's. `input` is what the call
  /// is about, if it is about one.
  template <auto Entry, typename... Arguments>
  void call(const detail::Code* input, Arguments... arguments) {
    ContextGuard guard(context_);
    const CUresult result = driver::try_call<Entry>(arguments...);
    if (result == CUDA_SUCCESS) return;
    const std::size_t entry_point = (driver::api().*Entry).index;
    const std::string doing =
        text("linking ", input ? title_of_input(*input) + " into '" : "'", name_, "' on device ", context_.device);
    if (error_log().empty()) driver::detail::raise(result, entry_point, doing);
    try {
      driver::detail::raise(result, entry_point, doing);
    } catch (const Error& error) {
      throw LinkError(error.what(), error_log());
    }
  }

  const std::string name_;
  const ContextRecord& context_;
  LogBuffer info_;
  LogBuffer error_;
  std::vector<CUjit_option> options_;
  std::vector<void*> values_;
  CUlinkState state_ = nullptr;
};

}  // namespace

std::unique_ptr<LinkState> start_driver_link(const LinkerOptions& options) {
  return std::make_unique<DriverLinkState>(options);
}

}  // namespace cuprum::core
