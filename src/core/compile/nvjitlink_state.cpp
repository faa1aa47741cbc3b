#include <cuprum/nvjitlink.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/code/code_image.hpp"
#include "core/compile/link_state.hpp"
#include "device_image/architecture.hpp"
#include "support/c_string.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using nvjitlink::InputType;
using support::text;
using support::without_zero;

// In the order of Target.
constexpr InputType nvjitlink_input_types[] = {InputType::ptx,    InputType::cubin,  InputType::ltoir,
                                               InputType::fatbin, InputType::object, InputType::library};

/// Links that were begun on a thread and given up on another. nvJitLink (13.0) ruins its memory when any thread but
/// that one completes or destroys them, and a later link crashes: they wait until it links again.
class GivenUpLinks {
 public:
  static const std::shared_ptr<GivenUpLinks>& of_this_thread() {
    thread_local const auto mine = std::make_shared<GivenUpLinks>();
    return mine;
  }

  void add(nvjitlink::Handle handle) {
    std::lock_guard lock(mutex_);
    handles_.push_back(handle);
  }

  /// On the thread whose they are.
  void destroy() {
    std::vector<nvjitlink::Handle> handles;
    {
      std::lock_guard lock(mutex_);
      handles.swap(handles_);
    }
    for (nvjitlink::Handle handle : handles) nvjitlink::api().nvJitLinkDestroy(&handle);
  }

 private:
  std::mutex mutex_;
  std::vector<nvjitlink::Handle> handles_;
};

/// A failed nvJitLinkCreate may leave one, too: it has the log.
struct OwnedHandle {
  OwnedHandle() { makers->destroy(); }
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() {
    if (!value) return;
    if (is_complete || makers == GivenUpLinks::of_this_thread()) {
      nvjitlink::api().nvJitLinkDestroy(&value);
    } else {
      makers->add(value);
    }
  }

  nvjitlink::Handle value = nullptr;
  bool is_complete = false;
  const std::shared_ptr<GivenUpLinks> makers = GivenUpLinks::of_this_thread();
};

class NvjitlinkState final : public LinkState {
 public:
  explicit NvjitlinkState(const LinkerOptions& options)
      : name_(options.name),
        architecture_(device_image::parse_architecture(options.arch.value_or(""))),
        arguments_(options.as_arguments(CompilerBackendType::nvjitlink)) {
    std::vector<const char*> pointers = support::c_strings(arguments_, "an option of the linker");
    call<&nvjitlink::Api::nvJitLinkCreate>(nullptr, &handle_.value, static_cast<std::uint32_t>(pointers.size()),
                                           pointers.data());
  }

  // nvJitLink wants PTX with the zero at its end.
  void add(const detail::Code& code) override {
    check_architecture(code);
    const std::size_t size = code.bytes.size() + (code.type == Target::ptx ? 1 : 0);
    call<&nvjitlink::Api::nvJitLinkAddData>(&code, handle_.value, nvjitlink_input_types[static_cast<int>(code.type)],
                                            code.bytes.c_str(), size,
                                            support::c_string(code.name, "the name of object code"));
  }

  Linked complete(Target target) override {
    call<&nvjitlink::Api::nvJitLinkComplete>(nullptr, handle_.value);
    handle_.is_complete = true;
    if (target == Target::ptx) {
      return {target, without_zero(
                          fetch<&nvjitlink::Api::nvJitLinkGetLinkedPtxSize, &nvjitlink::Api::nvJitLinkGetLinkedPtx>())};
    }
    return {target, fetch<&nvjitlink::Api::nvJitLinkGetLinkedCubinSize, &nvjitlink::Api::nvJitLinkGetLinkedCubin>()};
  }

  std::string info_log() const override {
    return without_zero(fetch<&nvjitlink::Api::nvJitLinkGetInfoLogSize, &nvjitlink::Api::nvJitLinkGetInfoLog>());
  }
  std::string error_log() const override {
    return without_zero(fetch<&nvjitlink::Api::nvJitLinkGetErrorLogSize, &nvjitlink::Api::nvJitLinkGetErrorLog>());
  }
  void* handle() const override { return handle_.value; }

 private:
  /// `input` is what the call is about, if it is about one.
  template <auto Entry, typename... Arguments>
  void call(const detail::Code* input, Arguments... arguments) const {
    try {
      nvjitlink::call<Entry>(arguments...);
    } catch (const LibraryError& error) {
      throw LinkError(text("nvJitLink could not link '", name_, "': ", input ? title_of_input(*input) + ": " : "",
                           error.call(), " failed with code ", error.code(), " (", error.description(),
                           ") with the options ", support::join(arguments_, " ")),
                      handle_.value ? error_log() : "");
    }
  }

  /// Machine code for a later device, or another family of them, is what nvJitLink (13.0) refuses as well; but it keeps
  /// a lock then, for which every other thread that links waits forever.
  void check_architecture(const detail::Code& code) const {
    if (code.type != Target::cubin || !architecture_) return;
    const std::optional<device_image::Image> image = recognized(code);
    if (!image || image->parts.empty()) return;
    const unsigned number = image->parts.front().architecture.number;
    const bool is_usable = number / 10 == architecture_->number / 10 && number <= architecture_->number;
    if (number == 0 || is_usable) return;
    throw LinkError(
        text("nvJitLink could not link '", name_, "': ", title_of_input(code),
             " is machine code for another architecture than that of the options ", support::join(arguments_, " ")),
        "");
  }

  template <auto GetSize, auto GetBytes>
  std::string fetch() const {
    std::size_t size = 0;
    nvjitlink::call<GetSize>(handle_.value, &size);
    std::string bytes(size, '\0');
    if (size != 0) nvjitlink::call<GetBytes>(handle_.value, bytes.data());
    return bytes;
  }

  const std::string name_;
  const std::optional<device_image::Architecture> architecture_;
  const std::vector<std::string> arguments_;
  OwnedHandle handle_;
};

}  // namespace

std::unique_ptr<LinkState> start_nvjitlink(const LinkerOptions& options) {
  return std::make_unique<NvjitlinkState>(options);
}

}  // namespace cuprum::core
