#include <cuprum/object_code.hpp>
#include <map>
#include <ostream>

#include "core/closable.hpp"
#include "core/kernel_resource.hpp"
#include "core/load_library.hpp"
#include "core/object_code_resource.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum {

using core::ContextGuard;
using detail::Access;
using detail::ObjectCodeResource;
using driver::Api;
using support::text;

namespace {

ObjectCode from_bytes(Target type, std::string_view bytes, ObjectCodeOptions options) {
  if (bytes.empty()) throw InvalidArgument(text("object code of type ", type, " is empty"));
  return Access::make_code(
      std::make_shared<ObjectCodeResource>(detail::Code{.type = type,
                                                        .name = std::move(options.name),
                                                        .bytes = std::string(bytes),
                                                        .symbol_mapping = std::move(options.symbol_mapping)}));
}

// What a user can ask for: name expressions for the symbols that have one, the symbols themselves for the rest.
std::vector<std::string> kernel_names(CUlibrary library, const detail::Code& code) {
  std::map<std::string, std::string> expression_of;
  for (const auto& [expression, symbol] : code.symbol_mapping) expression_of[symbol] = expression;
  unsigned count = 0;
  driver::call<&Api::cuLibraryGetKernelCount>(&count, library);
  std::vector<CUkernel> kernels(count);
  if (count != 0) driver::call<&Api::cuLibraryEnumerateKernels>(kernels.data(), count, library);
  std::vector<std::string> names;
  for (CUkernel kernel : kernels) {
    const char* symbol = nullptr;
    driver::call<&Api::cuKernelGetName>(&symbol, kernel);
    auto expression = expression_of.find(symbol);
    names.push_back(expression == expression_of.end() ? symbol : expression->second);
  }
  return names;
}

[[noreturn]] void refuse_unknown_kernel(std::string_view name, CUlibrary library, const detail::Code& code) {
  std::string known;
  try {
    const std::vector<std::string> names = kernel_names(library, code);
    known = names.empty() ? "it has none" : text("it has ", support::join(names));
    bool mangled = false;
    for (const std::string& each : names) mangled = mangled || each.starts_with("_Z");
    if (mangled) known += "; name C++ kernels in name_expressions when compiling, or declare them extern \"C\"";
  } catch (const Error&) {
    known = "this driver is too old to list those it has";
  }
  throw InvalidArgument(text("there is no kernel '", name, "' in object code '", code.name, "': ", known));
}

}  // namespace

ObjectCodeResource::~ObjectCodeResource() {
  if (library_) driver::release<&Api::cuLibraryUnload>(library_);
}

CUlibrary ObjectCodeResource::library(const core::Context& context) {
  std::lock_guard lock(mutex_);
  if (!library_) library_ = core::load_library(code, context);
  return library_;
}

ObjectCode ObjectCode::from_ptx(std::string_view code, ObjectCodeOptions options) {
  return from_bytes(Target::ptx, code, std::move(options));
}

ObjectCode ObjectCode::from_cubin(std::string_view code, ObjectCodeOptions options) {
  return from_bytes(Target::cubin, code, std::move(options));
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
  const core::Context& context = core::context_for(Device().device_id());
  ContextGuard guard(context);
  CUlibrary library = resource_->library(context);
  std::string symbol(name);
  const auto& mapping = resource_->code.symbol_mapping;
  if (auto mapped = mapping.find(symbol); mapped != mapping.end()) symbol = mapped->second;
  CUkernel kernel = nullptr;
  const CUresult result = driver::try_call<&Api::cuLibraryGetKernel>(&kernel, library, symbol.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) refuse_unknown_kernel(name, library, resource_->code);
  if (result != CUDA_SUCCESS) {
    driver::detail::raise(result, driver::detail::index_of_cuLibraryGetKernel,
                          text("finding kernel '", name, "' in object code '", resource_->code.name, "'"));
  }
  return Access::make_kernel(core::make_kernel(kernel, std::move(symbol), resource_));
}

std::string_view ObjectCode::code() const { return resource_->code.bytes; }

Target ObjectCode::code_type() const { return resource_->code.type; }

const std::string& ObjectCode::name() const { return resource_->code.name; }

const std::unordered_map<std::string, std::string>& ObjectCode::symbol_mapping() const {
  return resource_->code.symbol_mapping;
}

CUlib_st* ObjectCode::handle() const {
  const core::Context& context = core::context_for(Device().device_id());
  ContextGuard guard(context);
  return resource_->library(context);
}

std::ostream& operator<<(std::ostream& out, Target target) {
  constexpr const char* names[] = {"ptx", "cubin", "ltoir", "fatbin", "object", "library", "pch"};
  return out << names[static_cast<int>(target)];
}

}  // namespace cuprum
