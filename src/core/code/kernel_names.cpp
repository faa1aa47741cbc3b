#include "core/code/kernel_names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <cuprum/error.hpp>
#include <map>
#include <memory>

#include "core/code/code_image.hpp"
#include "support/near_names.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using driver::Api;
using support::text;

constexpr std::size_t most_listed = 16;

// "scale<float>(float*)" for "_Z5scaleIfEvPT_"; empty for what is no mangled name.
std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  if (status != 0 || !symbol.starts_with("_Z")) return {};
  const std::string_view result = name.get();
  return std::string(result.starts_with("void ") ? result.substr(5) : result);
}

// The names, each followed by what it stands for if it is mangled.
std::string listed(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == most_listed) {
      shown.push_back(text("and ", names.size() - most_listed, " more"));
      break;
    }
    const std::string meaning = demangled(name);
    shown.push_back(meaning.empty() ? name : text(name, " (", meaning, ")"));
  }
  return support::join(shown);
}

/// What somebody needs to hear who asks for a kernel that is a template, or has none because all are.
std::string advice_on_templates(std::string_view name) {
  const bool is_instance = name.find('<') != std::string_view::npos;
  return text("; ", is_instance ? "a template is instantiated" : "templates are instantiated",
              " only where the compilation is told to: compile(target, {.name_expressions = {\"",
              is_instance ? std::string(name) : text(name, "<float>"), "\"}})");
}

std::string advice(std::string_view name, const std::vector<std::string>& names) {
  std::string mangled;
  for (const std::string& each : names) {
    const std::string meaning = demangled(each);
    if (meaning.empty()) continue;
    mangled = "; name C++ kernels in name_expressions when compiling, or declare them extern \"C\"";
    if (meaning.substr(0, meaning.find('(')) == name) return text("; '", each, "' is its symbol", mangled);
  }
  const std::string nearest = support::nearest_name(name, names);
  const std::string correction = nearest.empty() ? "" : text("; did you mean '", nearest, "'?");
  if (name.find('<') != std::string_view::npos) return correction + advice_on_templates(name);
  return nearest.empty() ? mangled : correction;
}

}  // namespace

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

void refuse_unknown_kernel(std::string_view name, CUlibrary library, const detail::Code& code) {
  std::string known;
  try {
    const std::vector<std::string> names = kernel_names(library, code);
    known = names.empty() ? text("it has none", advice_on_templates(name))
                          : text("it has ", listed(names), advice(name, names));
  } catch (const Error&) {
    known = "this driver is too old to list those it has";
  }
  throw InvalidArgument(text("there is no kernel '", name, "' in ", title(code), ": ", known));
}

}  // namespace cuprum::core
