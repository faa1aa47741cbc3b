#include "core/program_cache/key.hpp"

#include <algorithm>
#include <cuprum/linker.hpp>
#include <cuprum/nvjitlink.hpp>
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <cuprum/pathfinder.hpp>
#include <filesystem>

#include "core/program_cache/file_identity.hpp"
#include "core/program_cache/included_files.hpp"
#include "support/content_hash.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::FieldWriter;
using support::text;

/// To be raised whenever what is written below changes, or what is stored under the key.
constexpr std::uint64_t key_version = 1;

/// The option whose point is something else than the code; null when there is none.
const char* side_effect(const ProgramOptions& options) {
  if (options.time) return "time";
  if (options.fdevice_time_trace) return "fdevice_time_trace";
  if (options.fdevice_syntax_only.value_or(false)) return "fdevice_syntax_only";
  if (options.pch.value_or(false)) return "pch";
  if (options.create_pch) return "create_pch";
  if (options.use_pch) return "use_pch";
  return nullptr;
}

void write_library(FieldWriter& key, const LibraryInfo& info) {
  key.add(static_cast<std::uint64_t>(info.version));
  write_identity(key, info.path);
}

void write_nvrtc(FieldWriter& key) {
  const nvrtc::Info& info = nvrtc::info();
  write_library(key, info);
  write_identity(key, info.builtins);
  key.add(std::uint64_t{info.header_folders.size()});
  for (const std::string& folder : info.header_folders) write_identity(key, folder);
}

/// Where the compiler looks for headers, as program.cpp tells it.
IncludeSearch include_search(const ProgramOptions& options, ProgramCacheResource* notes) {
  const bool beside_includer = !options.no_source_include.value_or(false);
  return {.source_folder = options.name.substr(0, options.name.rfind('/') + 1),
          .beside_includer = beside_includer,
          .user_folders = options.include_path,
          .compiler_folders = nvrtc::info().header_folders,
          .notes = notes};
}

/// What stands before the first line of the source: it may ask for headers and the time as the source may.
std::string definitions(const ProgramOptions& options) {
  std::string lines;
  for (const Macro& macro : options.define_macro) {
    lines += text("#define ", macro.name, " ", macro.value.value_or("1"), "\n");
  }
  return lines;
}

/// What only CUDA C++ has. Returns what is in the way.
std::string write_cxx(FieldWriter& key, std::string_view source, const ProgramOptions& options,
                      ProgramCacheResource* notes) {
  write_nvrtc(key);
  // Debug information has the folder in which relative paths are to be understood.
  const bool names_folder = options.debug.value_or(false) || options.lineinfo.value_or(false);
  std::error_code error;
  key.add(names_folder ? std::filesystem::current_path(error).string() : std::string());
  const std::string all = definitions(options).append(source);
  return write_included_files(all, options.pre_include, include_search(options, notes), key);
}

void write_nvvm(FieldWriter& key, const ProgramOptions& options) {
  write_library(key, nvvm::info());
  key.add(std::uint64_t{options.extra_sources.size()});
  for (const ExtraSource& extra : options.extra_sources) key.add(extra.name).add(extra.source);
  if (options.use_libdevice.value_or(false)) {
    write_identity(key, pathfinder::locate(pathfinder::Kind::bitcode_lib, "device").path);
  }
}

CompilerBackendType backend_of(SourceCodeType type, const ProgramOptions& options) {
  switch (type) {
    case SourceCodeType::ptx: return options.linker ? *options.linker : Linker::which_backend();
    case SourceCodeType::nvvm: return CompilerBackendType::nvvm;
    case SourceCodeType::cxx: break;
  }
  return CompilerBackendType::nvrtc;
}

std::string write_compiler(FieldWriter& key, CompilerBackendType backend, std::string_view source,
                           const ProgramOptions& options, ProgramCacheResource* notes) {
  switch (backend) {
    case CompilerBackendType::nvrtc: return write_cxx(key, source, options, notes);
    case CompilerBackendType::nvvm: write_nvvm(key, options); return {};
    case CompilerBackendType::nvjitlink: write_library(key, nvjitlink::info()); return {};
    case CompilerBackendType::driver: break;
  }
  return "it is compiled by the driver, which has a cache of its own";
}

}  // namespace

ProgramCacheKey program_cache_key(std::string_view source, SourceCodeType type, const ProgramOptions& options,
                                  Target target, const ProgramCacheKeyOptions& key_options,
                                  ProgramCacheResource* notes) {
  const char* const option = type == SourceCodeType::cxx ? side_effect(options) : nullptr;
  if (option) {
    return {.obstacle = text("the option ", option, " is for what the compiler does besides the code, a side effect")};
  }
  const bool is_compilation =
      target == Target::cubin || target == Target::ltoir || (target == Target::ptx && type != SourceCodeType::ptx);
  if (!is_compilation) return {.obstacle = text("a program of ", type, " is not compiled to become ", target)};
  std::vector<std::string> names = key_options.name_expressions;
  std::sort(names.begin(), names.end());
  const CompilerBackendType backend = backend_of(type, options);
  FieldWriter key;
  key.add(key_version)
      .add(static_cast<std::uint64_t>(type))
      .add(static_cast<std::uint64_t>(target))
      .add(options.name)
      .add(source)
      .add_all(options.as_arguments(backend, target))
      .add_all(names)
      .add(key_options.extra_digest);
  std::string obstacle = write_compiler(key, backend, source, options, notes);
  if (!obstacle.empty() && key_options.extra_digest.empty()) return {.obstacle = std::move(obstacle)};
  return {.key = to_string(support::content_hash(key.bytes()))};
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

std::string make_program_cache_key(std::string_view source, SourceCodeType type, const ProgramOptions& options,
                                   Target target, const ProgramCacheKeyOptions& key_options) {
  core::ProgramCacheKey result = core::program_cache_key(source, type, options, target, key_options, nullptr);
  if (result.obstacle.empty()) return std::move(result.key);
  throw InvalidArgument(support::text("the program '", options.name, "' has no cache key: ", result.obstacle));
}

}  // namespace cuprum::inline CUPRUM_ABI
