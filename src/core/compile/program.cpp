#include <cuprum/device.hpp>
#include <cuprum/program.hpp>
#include <filesystem>
#include <ostream>

#include "core/base/closable.hpp"
#include "core/base/deferred.hpp"
#include "core/code/object_code_resource.hpp"
#include "core/compile/link_state.hpp"
#include "core/compile/nvrtc_compilation.hpp"
#include "core/compile/nvvm_compilation.hpp"
#include "core/compile/precompiled_header.hpp"
#include "core/compile/program_options.hpp"
#include "core/compile/program_resource.hpp"
#include "core/program_cache/use.hpp"
#include "support/enumeration.hpp"
#include "support/read_file.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using core::Compiled;
using core::NvrtcCompilation;
using detail::Access;
using detail::Code;
using detail::Kept;
using detail::ProgramResource;
using support::text;

namespace {

std::vector<std::string> nvrtc_arguments(const ProgramOptions& options, Target target) {
  std::vector<std::string> arguments = options.as_arguments(CompilerBackendType::nvrtc, target);
  for (const std::string& folder : nvrtc::info().header_folders) arguments.push_back("--include-path=" + folder);
  return arguments;
}

Code result_of(const NvrtcCompilation& compilation, const ProgramResource& program, Target target,
               const CompileOptions& options) {
  Code code{.type = target, .name = program.options.name};
  for (const std::string& expression : options.name_expressions) {
    code.symbol_mapping[expression] = compilation.lowered_name(expression);
  }
  if (program.options.fdevice_syntax_only.value_or(false)) return code;  // which makes no code
  if (target == Target::ltoir) {
    code.bytes = compilation.ltoir();
  } else {
    code.ptx = compilation.ptx();
    code.bytes = target == Target::cubin ? compilation.cubin() : code.ptx;
  }
  return code;
}

[[noreturn]] void refuse_target(const ProgramResource& program, Target target, const char* possible) {
  throw InvalidArgument(text("'", program.options.name, "' is ", core::title(program.type),
                             ", which can't be compiled to ", target, ", only to ", possible));
}

Compiled compile_cxx(ProgramResource& program, Target target, const CompileOptions& options) {
  if (target != Target::ptx && target != Target::cubin && target != Target::ltoir)
    refuse_target(program, target, "cubin, ptx, ltoir and pch");
  const std::vector<std::string> arguments = nvrtc_arguments(program.options, target);
  std::optional<NvrtcCompilation> compilation;
  const auto run = [&] {
    compilation.emplace(program);
    for (const std::string& expression : options.name_expressions) compilation->add_name(expression);
    compilation->run(arguments);
  };
  run();
  if (program.options.pch.value_or(false) || program.options.create_pch) {
    std::optional<PCHStatusType> status = compilation->pch_status();
    if (!status) {  // the compiler had too little room for it, and has more now
      run();
      status = compilation->pch_status();
    }
    program.pch_status = status.value_or(PCHStatusType::failed);
  }
  return {result_of(*compilation, program, target, options), compilation->log()};
}

void refuse_names(const ProgramResource& program, const CompileOptions& options) {
  if (options.name_expressions.empty()) return;
  throw InvalidArgument(text("'", program.options.name, "' is ", core::title(program.type),
                             ": name expressions are for CUDA C++; ask for the symbols themselves"));
}

Compiled compile_nvvm(const ProgramResource& program, Target target, const CompileOptions& options) {
  refuse_names(program, options);
  if (target != Target::ptx && target != Target::ltoir) refuse_target(program, target, "ptx and ltoir");
  core::NvvmResult result =
      core::compile_nvvm(program, program.options.as_arguments(CompilerBackendType::nvvm, target));
  if (target == Target::ptx && !result.code.empty() && result.code.back() == '\0') result.code.pop_back();
  return {{.type = target, .name = program.options.name, .bytes = std::move(result.code)}, std::move(result.log)};
}

Compiled compile_ptx(const ProgramResource& program, Target target, const CompileOptions& options) {
  refuse_names(program, options);
  if (target != Target::cubin && target != Target::ptx) refuse_target(program, target, "cubin and ptx");
  const CompilerBackendType linker = core::linker_of(program.options);
  const std::vector<std::string> arguments = program.options.as_arguments(linker, target);
  Code ptx{.type = Target::ptx, .name = program.options.name, .bytes = program.source};
  if (target == Target::ptx) return {std::move(ptx)};
  Compiled result{{.type = target, .name = ptx.name, .ptx = ptx.bytes}};
  try {
    const auto link = core::start_link(core::linker_options(program.options), linker);
    link->add(ptx);
    core::Linked linked = link->complete(target);
    result.code.type = linked.type;
    result.code.bytes = std::move(linked.bytes);
    result.log = link->info_log();
  } catch (const LinkError& error) {
    throw CompileError({.summary = text(core::title(linker), " could not compile the PTX of '", result.code.name,
                                        "' with the options ", support::join(arguments, " ")),
                        .log = error.log().empty() ? error.what() : error.log(),
                        .options = arguments});
  }
  return result;
}

std::shared_ptr<void> native_program(const ProgramResource& program) {
  switch (program.type) {
    case SourceCodeType::ptx: {
      std::shared_ptr<core::LinkState> link =
          core::start_link(core::linker_options(program.options), core::linker_of(program.options));
      link->add({.type = Target::ptx, .name = program.options.name, .bytes = program.source});
      return {link, link->handle()};
    }
    case SourceCodeType::nvvm: return core::make_nvvm_program(program);
    case SourceCodeType::cxx: break;
  }
  const auto compilation = std::make_shared<NvrtcCompilation>(program);
  return {compilation, compilation->handle()};
}

SourceCodeType type_of_file(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".ptx") return SourceCodeType::ptx;
  return ending == ".ll" || ending == ".bc" ? SourceCodeType::nvvm : SourceCodeType::cxx;
}

}  // namespace

namespace {

/// Compilers that take text stop at a NUL, and would leave out the rest without a word. At the end it does no harm.
void check_text(std::string_view source, const std::string& name) {
  const std::size_t nul = source.find('\0');
  if (nul == std::string_view::npos || source.find_first_not_of('\0', nul) == std::string_view::npos) return;
  throw InvalidArgument(
      text("the source of program '", name, "' has a NUL character at byte ", nul, ", where compilers take it to end"));
}

}  // namespace

Program::Program(std::string_view source, ProgramOptions options)
    : Program(source, SourceCodeType::cxx, std::move(options)) {}

Program::Program(std::string_view source, SourceCodeType type, ProgramOptions options) {
  if (source.empty()) throw InvalidArgument(text("the source of program '", options.name, "' is empty"));
  if (type != SourceCodeType::cxx && type != SourceCodeType::ptx && type != SourceCodeType::nvvm)
    throw InvalidArgument(text("the source of program '", options.name, "' is ", type, ": it can be c++, ptx or nvvm"));
  if (type != SourceCodeType::nvvm) check_text(source, options.name);
  for (const ExtraSource& extra : options.extra_sources) {
    if (extra.source.empty()) {
      throw InvalidArgument(text("the extra source '", extra.name, "' of program '", options.name, "' is empty"));
    }
  }
  *this = Access::make<Program, ProgramResource>(source, type, std::move(options));
}

Program Program::from_file(const std::string& path, ProgramOptions options) {
  if (options.name == ProgramOptions().name) options.name = path;
  return Program(support::read_file(path), type_of_file(path), std::move(options));
}

ObjectCode Program::compile(Target target, const CompileOptions& options) const {
  const Kept<ProgramResource> program = Access::keep(*this);
  const auto compile = [&] {
    switch (program->type) {
      case SourceCodeType::ptx: return compile_ptx(*program, target, options);
      case SourceCodeType::nvvm: return compile_nvvm(*program, target, options);
      case SourceCodeType::cxx: break;
    }
    return compile_cxx(*program, target, options);
  };
  if (target == Target::pch && program->type == SourceCodeType::cxx) {
    return Access::make_code(
        core::make_deferrable<detail::ObjectCodeResource>(core::make_precompiled_header(*program, options)));
  }
  Compiled compiled = core::cached_or(compile, {program->source, program->type, program->options, target, options});
  if (options.log) *options.log << compiled.log;
  return Access::make_code(core::make_deferrable<detail::ObjectCodeResource>(std::move(compiled.code)));
}

void* Program::handle() const {
  const Kept<ProgramResource> program = Access::try_keep(*this);
  if (!program) return nullptr;
  std::lock_guard lock(program->native_mutex);
  if (!program->native) program->native = native_program(*program);
  return program->native.get();
}

CompilerBackendType Program::backend() const {
  const Kept<ProgramResource> program = Access::keep(*this);
  switch (program->type) {
    case SourceCodeType::ptx: return core::linker_of(program->options);
    case SourceCodeType::nvvm: return CompilerBackendType::nvvm;
    case SourceCodeType::cxx: break;
  }
  return CompilerBackendType::nvrtc;
}

std::optional<PCHStatusType> Program::pch_status() const { return Access::keep(*this)->pch_status; }

void Program::close() { Access::close(*this); }

}  // namespace cuprum::inline CUPRUM_ABI

namespace cuprum::core {

const char* title(SourceCodeType type) {
  constexpr const char* titles[] = {"CUDA C++", "PTX", "NVVM IR"};
  const char* const* title = support::entry_of(titles, type);
  return title ? *title : "an unknown kind";
}

const char* title(CompilerBackendType backend) {
  constexpr const char* titles[] = {"NVRTC", "libNVVM", "nvJitLink", "the driver's linker"};
  const char* const* title = support::entry_of(titles, backend);
  return title ? *title : "an unknown kind";
}

}  // namespace cuprum::core

namespace cuprum::inline CUPRUM_ABI {

std::ostream& operator<<(std::ostream& out, SourceCodeType type) {
  return support::print_word(out, {"c++", "ptx", "nvvm"}, type);
}

std::ostream& operator<<(std::ostream& out, CompilerBackendType backend) {
  return support::print_word(out, {"NVRTC", "NVVM", "nvJitLink", "driver"}, backend);
}

std::ostream& operator<<(std::ostream& out, PCHStatusType status) {
  return support::print_word(out, {"created", "not_attempted", "failed"}, status);
}

}  // namespace cuprum::inline CUPRUM_ABI
