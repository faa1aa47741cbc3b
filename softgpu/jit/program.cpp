#include "softgpu/jit/program.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include "softgpu/jit/host_target.hpp"
#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/jit/kernel_facts.hpp"
#include "softgpu/jit/program_impl.hpp"

namespace softgpu::jit {
namespace {

std::size_t count_kernels(const ptx::Module& module) {
  std::size_t kernels = 0;
  for (const ptx::Function& function : module.functions) kernels += function.is_kernel && function.is_definition;
  return kernels;
}

constexpr std::string_view name_of(const CodeVersion& version) {
  constexpr std::string_view kNames[kVersions] = {"rows",         "line",         "general",
                                                  "rows checked", "line checked", "general checked"};
  return kNames[index_of(version)];
}

bool is_width(unsigned width) { return width == 1 || width == 8 || width == 16 || width == 32; }

}  // namespace

Program::Program(ptx::Module module, std::string text, const CompilerSettings& settings)
    : impl_(std::make_unique<Impl>(std::move(module), std::move(text), settings)) {}
Program::~Program() = default;
const std::vector<KernelFacts>& Program::kernels() const { return impl_->facts; }
const ptx::Module& Program::module() const { return impl_->module; }

Program::Impl::Impl(ptx::Module parsed, std::string ptx_text, const CompilerSettings& compiler_settings)
    : module(std::move(parsed)),
      text(std::move(ptx_text)),
      settings(compiler_settings),
      versions_(count_kernels(module)) {
  const lower::CallGraph graph(module);
  for (const ptx::Function& function : module.functions) {
    if (!function.is_kernel || !function.is_definition) continue;
    functions.push_back(&function);
    facts.push_back(facts_of(graph, function));
  }
}

std::string Program::Impl::key(std::size_t kernel, std::string_view what) const {
  std::string key = code_generation_identity();
  key.append("\n").append(facts[kernel].name).append("\n").append(what).append("\n").append(text);
  return key;
}

// The width that a kernel gets with these settings. It is kept apart from the code: it is needed to know which code to
// ask for, and other settings may lead to the same one.
std::string Program::Impl::width_key(std::size_t kernel) const {
  return key(kernel, "width for " + std::to_string(settings.width));
}

std::string Program::Impl::code_key(std::size_t kernel, unsigned width, const CodeVersion& version) const {
  return key(kernel, std::string(name_of(version)) + " of " + std::to_string(width));
}

unsigned Program::Impl::load_width(std::size_t kernel, ObjectCache* cache) const {
  if (!cache || !cache->enabled()) return 0;
  const std::optional<std::string> stored = cache->load(width_key(kernel));
  const unsigned width = stored && stored->size() == 1 ? static_cast<unsigned char>((*stored)[0]) : 0;
  return is_width(width) ? width : 0;
}

Program::Impl::Found Program::Impl::compiled(std::size_t kernel, abi::Dim3 block, bool checks_access,
                                             ObjectCache* cache) const {
  Versions& versions = versions_.at(kernel);
  const std::lock_guard lock(versions.mutex);
  if (versions.width == 0) versions.width = load_width(kernel, cache);

  std::optional<KernelCompiler> compiler;
  if (versions.width == 0) {
    compiler.emplace(module, *functions[kernel], settings);
    versions.width = compiler->width();
    if (cache) cache->store(width_key(kernel), std::string(1, static_cast<char>(versions.width)));
  }
  const CodeVersion version{shape_of(block, versions.width), checks_access};
  std::shared_ptr<const CompiledKernel>& code = versions.compiled[index_of(version)];
  if (code) return {code, version};

  const bool caching = cache && cache->enabled();
  const std::string place = caching ? code_key(kernel, versions.width, version) : std::string();
  if (caching)
    if (std::optional<std::string> stored = cache->load(place))
      if (std::optional<CompiledKernel> known = from_bytes(std::move(*stored))) {
        code = std::make_shared<const CompiledKernel>(std::move(*known));
        return {code, version};
      }
  if (!compiler) compiler.emplace(module, *functions[kernel], settings);
  code = std::make_shared<const CompiledKernel>(compiler->compile(version));
  if (caching) cache->store(place, to_bytes(*code));
  return {code, version};
}

}  // namespace softgpu::jit
