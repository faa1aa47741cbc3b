// What is the same for all raw tables: choosing a library that suits NVRTC, and from codes to exceptions.
#include "toolchain/library_table.hpp"

#include <algorithm>
#include <cuprum/nvjitlink.hpp>
#include <cuprum/nvml.hpp>
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <span>

#include "driver_abi/entry_points.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

using detail::Library;
using support::text;

struct Row {
  const char* name;
  int since;
};

#define CUPRUM_ENTRY_POINT(name, since, result, parameters) {#name, since},
constexpr Row nvrtc_rows[] = {
#include <cuprum/detail/nvrtc_entry_points.def>
};
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) {#name, since},
constexpr Row nvjitlink_rows[] = {
#include <cuprum/detail/nvjitlink_entry_points.def>
};
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) {#name, since},
constexpr Row nvvm_rows[] = {
#include <cuprum/detail/nvvm_entry_points.def>
};
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) {#name, since},
constexpr Row nvml_rows[] = {
#include <cuprum/detail/nvml_entry_points.def>
};

template <typename Result, typename Function>
std::string ask(Function get_words, int code) {
  const char* words = get_words ? get_words(static_cast<Result>(code)) : nullptr;
  return words ? words : "no description";
}

std::string nvrtc_words(int code) { return ask<nvrtc::Result>(nvrtc::api().nvrtcGetErrorString.function, code); }
std::string nvvm_words(int code) { return ask<nvvm::Result>(nvvm::api().nvvmGetErrorString.function, code); }
std::string nvml_words(int code) { return ask<nvml::Result>(nvml::api().nvmlErrorString.function, code); }

// nvJitLink has no function that describes its codes.
std::string nvjitlink_words(int code) {
  constexpr const char* words[] = {
      "success",
      "unrecognized option",
      "option -arch=sm_NN not given",
      "invalid input",
      "compiling PTX failed",
      "compiling NVVM IR failed",
      "internal error",
      "problem with the thread pool",
      "unrecognized input",
      "the finalizer failed",
      "null input",
      "incompatible options",
      "incorrect input type",
      "architectures don't match",
      "the library is older than its input",
      "a fat binary lacks the architecture",
      "unrecognized -arch value",
      "unsupported -arch value",
      "needs -lto",
  };
  return code >= 0 && code < static_cast<int>(std::size(words)) ? words[code] : "no description";
}

struct Facts {
  const char* title;
  std::span<const Row> rows;
  std::string (*words)(int code);
  const LibraryInfo& (*info)();
};

const Facts& facts(Library library) {
  static const Facts table[] = {
      {"NVRTC", nvrtc_rows, nvrtc_words, []() -> const LibraryInfo& { return nvrtc::info(); }},
      {"nvJitLink", nvjitlink_rows, nvjitlink_words, nvjitlink::info},
      {"libNVVM", nvvm_rows, nvvm_words, nvvm::info},
      {"NVML", nvml_rows, nvml_words, nvml::info},
  };
  return table[static_cast<int>(library)];
}

}  // namespace

void detail::raise_library_error(Library library, std::size_t entry_point, int code) {
  const Facts& about = facts(library);
  LibraryError error({about.title, about.info().path, about.rows[entry_point].name, code, about.words(code)});
  const bool not_supported = library == Library::nvml && (code == static_cast<int>(nvml::Result::not_supported) ||
                                                          code == static_cast<int>(nvml::Result::function_not_found));
  if (not_supported) throw NotSupported(error.what(), code);
  throw error;
}

void detail::raise_missing_entry_point(Library library, std::size_t entry_point) {
  const Facts& about = facts(library);
  const Row& row = about.rows[entry_point];
  throw NotSupported(
      text(row.name, " is not in ", about.info().path, ": ",
           row.since ? text("it came with the ", about.title, " of CUDA ", driver_abi::CudaVersion{row.since}, ". ")
                     : "",
           "Install a newer ", about.title),
      library == Library::nvml ? std::optional(static_cast<int>(nvml::Result::function_not_found)) : std::nullopt);
}

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::toolchain {

OpenLibrary open_companion_of_nvrtc(const Item& item) {
  Findings findings = look_for(item, surroundings());
  try {
    const std::string& how = nvrtc::info().how;
    const auto found_like_nvrtc = std::find_if(findings.found.begin(), findings.found.end(),
                                               [&](const Located& located) { return located.how == how; });
    if (found_like_nvrtc != findings.found.end()) {
      std::rotate(findings.found.begin(), found_like_nvrtc, found_like_nvrtc + 1);
    }
  } catch (const NotSupported&) {
    // Without NVRTC there is nothing to suit.
  }
  return open_first(item, std::move(findings));
}

}  // namespace cuprum::toolchain
