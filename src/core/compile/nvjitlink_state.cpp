#include <cuprum/nvjitlink.hpp>

#include "core/compile/link_state.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using nvjitlink::InputType;
using support::text;
using support::without_zero;

// In the order of Target.
constexpr InputType nvjitlink_input_types[] = {InputType::ptx,    InputType::cubin,  InputType::ltoir,
                                               InputType::fatbin, InputType::object, InputType::library};

/// A failed nvJitLinkCreate may leave one, too: it has the log.
struct OwnedHandle {
  OwnedHandle() = default;
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() {
    if (value) nvjitlink::api().nvJitLinkDestroy(&value);
  }

  nvjitlink::Handle value = nullptr;
};

class NvjitlinkState final : public LinkState {
 public:
  explicit NvjitlinkState(const LinkerOptions& options)
      : name_(options.name), arguments_(options.as_arguments(CompilerBackendType::nvjitlink)) {
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments_) pointers.push_back(argument.c_str());
    call<&nvjitlink::Api::nvJitLinkCreate>(nullptr, &handle_.value, static_cast<std::uint32_t>(pointers.size()),
                                           pointers.data());
  }

  // nvJitLink wants PTX with the zero at its end.
  void add(const detail::Code& code) override {
    const std::size_t size = code.bytes.size() + (code.type == Target::ptx ? 1 : 0);
    call<&nvjitlink::Api::nvJitLinkAddData>(&code, handle_.value, nvjitlink_input_types[static_cast<int>(code.type)],
                                            code.bytes.c_str(), size, code.name.c_str());
  }

  Linked complete(Target target) override {
    call<&nvjitlink::Api::nvJitLinkComplete>(nullptr, handle_.value);
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

  template <auto GetSize, auto GetBytes>
  std::string fetch() const {
    std::size_t size = 0;
    nvjitlink::call<GetSize>(handle_.value, &size);
    std::string bytes(size, '\0');
    if (size != 0) nvjitlink::call<GetBytes>(handle_.value, bytes.data());
    return bytes;
  }

  const std::string name_;
  const std::vector<std::string> arguments_;
  OwnedHandle handle_;
};

}  // namespace

std::unique_ptr<LinkState> start_nvjitlink(const LinkerOptions& options) {
  return std::make_unique<NvjitlinkState>(options);
}

}  // namespace cuprum::core
