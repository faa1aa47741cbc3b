// A Program's kernels linked against the variables of one context.
#include <array>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "softgpu/jit/line_table.hpp"
#include "softgpu/jit/linked_code.hpp"
#include "softgpu/jit/pipeline.hpp"
#include "softgpu/jit/program_impl.hpp"
#include "softgpu/jit/symbols.hpp"
#include "softgpu/lower/lower.hpp"

namespace softgpu::jit {

struct Image::Impl {
  // Asked for after a fault only.
  struct Lines final : exec::CodeLines {
    Lines(std::shared_ptr<const CompiledKernel> object_code, const void* entry_point)
        : compiled(std::move(object_code)), entry(reinterpret_cast<std::uintptr_t>(entry_point)) {}
    std::optional<std::uint32_t> line_of(std::uintptr_t instruction) const override {
      const LineTable table(compiled->object);
      const auto offset = table.offset_of_entry();
      return offset ? table.line_at(instruction - (entry - *offset)) : std::nullopt;
    }
    const std::shared_ptr<const CompiledKernel> compiled;
    const std::uintptr_t entry;
  };
  struct Linked {
    std::unique_ptr<LinkedCode> memory;
    std::unique_ptr<Lines> lines;
    exec::KernelCode code;
  };
  struct Versions {
    std::mutex mutex;
    std::array<Linked, kVersions> linked;  // by index_of
  };

  Impl(std::shared_ptr<const Program> owner, std::vector<void*> addresses, std::shared_ptr<ObjectCache> disk)
      : program(std::move(owner)),
        variables(std::move(addresses)),
        cache(std::move(disk)),
        versions(program->kernels().size()) {}

  void* resolve(std::string_view symbol) const;
  Linked link(const std::shared_ptr<const CompiledKernel>&) const;

  const std::shared_ptr<const Program> program;
  const std::vector<void*> variables;
  const std::shared_ptr<ObjectCache> cache;
  std::vector<Versions> versions;
};

void* Image::Impl::resolve(std::string_view symbol) const {
  if (!symbol.starts_with(kVariablePrefix)) return find_symbol(symbol);
  symbol.remove_prefix(kVariablePrefix.size());
  const std::vector<ptx::Variable>& declared = program->module().variables;
  for (std::size_t i = 0; i < declared.size(); ++i)
    if (declared[i].name == symbol) return variables.at(i);
  return nullptr;
}

Image::Impl::Linked Image::Impl::link(const std::shared_ptr<const CompiledKernel>& code) const {
  const CompiledKernel& compiled = *code;
  Linked linked;
  linked.memory = std::make_unique<LinkedCode>(compiled.object, kEntryName,
                                               [this](std::string_view symbol) { return resolve(symbol); });
  void* const entry = linked.memory->entry();
  if (compiled.suspends)
    linked.code.start_gang = reinterpret_cast<abi::StartGang>(entry);
  else
    linked.code.run_block = reinterpret_cast<abi::RunBlock>(entry);
  linked.code.width = compiled.width;
  linked.code.stack_bytes = compiled.stack_bytes;
  linked.code.finds_addresses = compiled.finds_addresses;
  linked.lines = std::make_unique<Lines>(code, entry);
  linked.code.lines = linked.lines.get();
  return linked;
}

Image::Image(std::shared_ptr<const Program> program, std::vector<void*> variables, std::shared_ptr<ObjectCache> cache)
    : impl_(std::make_unique<Impl>(std::move(program), std::move(variables), std::move(cache))) {}
Image::~Image() = default;

exec::KernelCode Image::code(std::size_t kernel, abi::Dim3 block, bool checks_access) try {
  const Program::Impl::Found found = impl_->program->impl().compiled(kernel, block, checks_access, impl_->cache.get());
  Impl::Versions& versions = impl_->versions.at(kernel);
  const std::lock_guard lock(versions.mutex);
  Impl::Linked& linked = versions.linked[index_of(found.version)];
  if (!linked.memory) linked = impl_->link(found.code);
  return linked.code;
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& error) {
  throw CompileFailure("kernel '" + impl_->program->kernels().at(kernel).name + "' can't be compiled: " + error.what());
}

void* Image::function_address(std::uint32_t index_in_module) {
  return reinterpret_cast<void*>(lower::function_address(index_in_module));
}

}  // namespace softgpu::jit
