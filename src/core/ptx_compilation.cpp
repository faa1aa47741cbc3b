#include "core/ptx_compilation.hpp"

#include <cuprum/nvjitlink.hpp>

#include "support/text.hpp"

namespace cuprum::core {
namespace {

using nvjitlink::Api;
using nvjitlink::Result;
using support::text;

template <auto GetSize, auto GetBytes>
std::string fetch(nvjitlink::Handle handle) {
  std::size_t size = 0;
  nvjitlink::call<GetSize>(handle, &size);
  std::string bytes(size, '\0');
  if (size != 0) nvjitlink::call<GetBytes>(handle, bytes.data());
  return bytes;
}

std::string without_zero(std::string text) {
  if (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

/// A failed nvJitLinkCreate may leave one, too: it has the log.
struct OwnedHandle {
  OwnedHandle() = default;
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;
  ~OwnedHandle() {
    if (value) nvjitlink::api().nvJitLinkDestroy(&value);
  }
  operator nvjitlink::Handle() const { return value; }

  nvjitlink::Handle value = nullptr;
};

class Compilation {
 public:
  Compilation(const detail::ProgramResource& source, const std::vector<std::string>& arguments)
      : source_(source), arguments_(arguments) {
    std::vector<const char*> pointers;
    for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
    check(nvjitlink::try_call<&Api::nvJitLinkCreate>(&handle_.value, static_cast<std::uint32_t>(pointers.size()),
                                                     pointers.data()));
  }

  // nvJitLink wants PTX with the zero at its end.
  PtxResult run() {
    check(nvjitlink::try_call<&Api::nvJitLinkAddData>(handle_.value, nvjitlink::InputType::ptx, source_.source.c_str(),
                                                      source_.source.size() + 1, source_.options.name.c_str()));
    check(nvjitlink::try_call<&Api::nvJitLinkComplete>(handle_.value));
    return {fetch<&Api::nvJitLinkGetLinkedCubinSize, &Api::nvJitLinkGetLinkedCubin>(handle_),
            without_zero(fetch<&Api::nvJitLinkGetInfoLogSize, &Api::nvJitLinkGetInfoLog>(handle_))};
  }

 private:
  void check(Result result) const {
    if (result == Result::success) return;
    const std::string log =
        handle_ ? without_zero(fetch<&Api::nvJitLinkGetErrorLogSize, &Api::nvJitLinkGetErrorLog>(handle_)) : "";
    throw CompileError(
        {.summary = text("nvJitLink could not compile the PTX of '", source_.options.name, "' (code ",
                         static_cast<int>(result), ") with the options ", support::join(arguments_, " ")),
         .log = log,
         .options = arguments_});
  }

  const detail::ProgramResource& source_;
  const std::vector<std::string>& arguments_;
  OwnedHandle handle_;
};

}  // namespace

PtxResult compile_ptx(const detail::ProgramResource& program, const std::vector<std::string>& arguments) {
  return Compilation(program, arguments).run();
}

}  // namespace cuprum::core
