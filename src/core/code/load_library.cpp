#include "core/code/load_library.hpp"

#include <array>
#include <cuprum/error.hpp>
#include <optional>

#include "core/base/device_facts.hpp"
#include "core/code/code_image.hpp"
#include "core/code/portable_code.hpp"
#include "device_image/ptx_text.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using device_image::Image;
using driver::Api;
using support::text;

struct Loaded {
  CUresult result;
  std::size_t entry_point;
  CUlibrary library;
};

// A library belongs to no context, so a driver may put off looking at the code until a context needs it. Asking for the
// module of the current context makes it look now. `known` is the library of this image, if there is one already.
Loaded load(const std::string& image, CUlibrary& known) {
  CUlibrary library = known;
  CUresult result = CUDA_SUCCESS;
  if (!library) {
    result =
        driver::try_call<&Api::cuLibraryLoadData>(&library, image.data(), nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  }
  if (result != CUDA_SUCCESS) return {result, driver::detail::index_of_cuLibraryLoadData, nullptr};
  CUmodule module = nullptr;
  result = driver::try_call<&Api::cuLibraryGetModule>(&module, library);
  if (result == CUDA_SUCCESS) return {result, 0, known = library};
  if (!known) driver::release<&Api::cuLibraryUnload>(library);
  return {result, driver::detail::index_of_cuLibraryGetModule, nullptr};
}

// Text that doesn't look like PTX at all is an invalid image to some drivers.
bool is_compile_error(CUresult result, Target type) {
  return (result == CUDA_ERROR_INVALID_IMAGE && type == Target::ptx) || result == CUDA_ERROR_INVALID_PTX ||
         result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || result == CUDA_ERROR_JIT_COMPILATION_DISABLED ||
         result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND;
}

// The driver's compiler log. Buffers for it can't be given to cuLibraryLoadData, which may write them later; loading
// once more as a module yields it now.
std::string compiler_log(const std::string& image) {
  std::string log(std::size_t{16} << 10, '\0');
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  if (driver::try_call<&Api::cuModuleLoadDataEx>(&module, image.data(), static_cast<unsigned>(options.size()),
                                                 options.data(), values.data()) == CUDA_SUCCESS) {
    driver::release<&Api::cuModuleUnload>(module);
  }
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  return log;
}

std::string describe(const detail::Code& code, const std::optional<Image>& image) {
  return text(title(code), " (", code.type, image ? " for " + architectures(*image) : "", ")");
}

// What the driver refuses with a log, it refuses because of what is in the code.
[[noreturn]] void refuse(const Loaded& failed, const std::string& tried, const std::string& doing, Target type) {
  const char* name = "";
  const char* description = "";
  driver::api().cuGetErrorName(failed.result, &name);
  driver::api().cuGetErrorString(failed.result, &description);
  const auto summary = [&](const char* what) {
    return text(doing, ": the driver ", what, ": ", name, " (", static_cast<int>(failed.result), "): ", description);
  };
  if (is_compile_error(failed.result, type))
    throw CompileError(summary("could not compile the PTX"), compiler_log(tried));
  if (failed.result == CUDA_ERROR_NO_BINARY_FOR_GPU) {
    driver::detail::raise(failed.result, failed.entry_point,
                          text(doing, ", which takes no such machine code: load PTX, or a fatbin that holds it"));
  }
  if (failed.result == CUDA_ERROR_NOT_SUPPORTED) {
    if (const std::string log = compiler_log(tried); !log.empty())
      throw NotSupported(text(summary("can't run the code"), '\n', log), failed.result);
  }
  driver::detail::raise(failed.result, failed.entry_point, doing);
}

[[noreturn]] void refuse_architecture(const std::string& what, const DeviceFacts& device) {
  const auto [major, minor] = device.compute_capability;
  throw NotSupported(text("loading ", what, ": nothing in it runs on device ", device.device,
                          ", which has compute capability ", major, '.', minor, "; compile for sm_", major, minor,
                          ", or to PTX for compute_", major, minor, " or older"));
}

void refuse_what_is_not_loaded(const detail::Code& code) {
  if (code.type == Target::ptx || code.type == Target::cubin || code.type == Target::fatbin) return;
  if (code.type == Target::pch) {
    throw InvalidArgument(text(title(code), " is a precompiled header: there is nothing in it to load"));
  }
  throw InvalidArgument(text(title(code), " is of type ", code.type,
                             ", input of the linker, and can't be loaded; link it, or compile to cubin or ptx"));
}

// PTX of what a cubin was made from, to run it where the cubin can't. Empty where there is none for the device.
std::string portable(const detail::Code& code, unsigned capability) {
  std::string image = portable_image(code);
  return runs_ptx(capability, device_image::read_ptx_header(image).architecture) ? image : std::string();
}

unsigned capability_of(const DeviceFacts& device) {
  return static_cast<unsigned>(device.compute_capability.major * 10 + device.compute_capability.minor);
}

}  // namespace

CUlibrary load_library(const detail::Code& code, const ContextRecord& context, detail::LoadedCode& loaded) {
  refuse_what_is_not_loaded(code);
  const std::optional<Image> image = recognized(code);
  const DeviceFacts& device = device_facts(context.device);
  const bool fits = !image || runs_on(capability_of(device), *image);
  Loaded result{.result = CUDA_ERROR_NO_BINARY_FOR_GPU, .entry_point = 0, .library = nullptr};
  const std::string* tried = &code.bytes;
  if (fits) result = load(code.bytes, loaded.own);
  std::string ptx;
  if (result.result == CUDA_ERROR_NO_BINARY_FOR_GPU && code.type == Target::cubin) {
    ptx = portable(code, capability_of(device));
    if (!ptx.empty()) result = load(*(tried = &ptx), loaded.portable);
  }
  if (result.result == CUDA_SUCCESS) return result.library;
  const std::string what = describe(code, image);
  if (!fits && tried == &code.bytes) refuse_architecture(what, device);
  refuse(result, *tried, text("loading ", what, " on device ", context.device), code.type);
}

}  // namespace cuprum::core
