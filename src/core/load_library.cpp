#include "core/load_library.hpp"

#include <array>
#include <cuprum/error.hpp>

#include "core/portable_code.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using support::text;

struct Loaded {
  CUresult result;
  std::size_t entry_point;
  CUlibrary library;
};

// A library belongs to no context, so a driver may put off looking at the code until a context needs it. Asking for the
// module of the current context makes it look now.
Loaded load(const std::string& image) {
  CUlibrary library = nullptr;
  CUresult result =
      driver::try_call<&Api::cuLibraryLoadData>(&library, image.data(), nullptr, nullptr, 0u, nullptr, nullptr, 0u);
  if (result != CUDA_SUCCESS) return {result, driver::detail::index_of_cuLibraryLoadData, nullptr};
  CUmodule module = nullptr;
  result = driver::try_call<&Api::cuLibraryGetModule>(&module, library);
  if (result == CUDA_SUCCESS) return {result, 0, library};
  driver::release<&Api::cuLibraryUnload>(library);
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
std::string compiler_log(const std::string& ptx) {
  std::string log(std::size_t{16} << 10, '\0');
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  if (driver::try_call<&Api::cuModuleLoadDataEx>(&module, ptx.data(), static_cast<unsigned>(options.size()),
                                                 options.data(), values.data()) == CUDA_SUCCESS) {
    driver::release<&Api::cuModuleUnload>(module);
  }
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  return log;
}

[[noreturn]] void refuse(const Loaded& failed, const detail::Code& code, const std::string& ptx,
                         const Context& context) {
  const std::string doing = text("loading object code '", code.name, "' (", code.type, ") on device ", context.device);
  if (is_compile_error(failed.result, code.type) && !ptx.empty()) {
    const char* name = "";
    const char* description = "";
    driver::api().cuGetErrorName(failed.result, &name);
    driver::api().cuGetErrorString(failed.result, &description);
    throw CompileError(text(doing, ": the driver could not compile the PTX: ", name, " (",
                            static_cast<int>(failed.result), "): ", description),
                       compiler_log(ptx));
  }
  driver::detail::raise(failed.result, failed.entry_point, doing);
}

}  // namespace

CUlibrary load_library(const detail::Code& code, const Context& context) {
  if (code.type == Target::ltoir) {
    throw InvalidArgument(
        text("object code '", code.name,
             "' is of type ltoir, input of the linker, and can't be loaded; compile to cubin or ptx"));
  }
  Loaded loaded = load(code.bytes);
  std::string ptx = code.type == Target::ptx ? code.bytes : std::string();
  if (loaded.result == CUDA_ERROR_NO_BINARY_FOR_GPU && code.type == Target::cubin) {
    ptx = portable_image(code);
    if (!ptx.empty()) loaded = load(ptx);
  }
  if (loaded.result != CUDA_SUCCESS) refuse(loaded, code, ptx, context);
  return loaded.library;
}

}  // namespace cuprum::core
