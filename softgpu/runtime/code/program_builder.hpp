// One program of one or several PTX modules: what loading an image and cuLink* have in common.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "softgpu/jit/program.hpp"
#include "softgpu/ptx/linker.hpp"
#include "softgpu/runtime/code/device_code.hpp"
#include "softgpu/runtime/code/jit_options.hpp"

namespace softgpu::runtime {

// What a program is put together for: a link tells more strictly, and with another code, what is defined nowhere.
enum class ProgramUse { link, load };

class ProgramBuilder {
 public:
  explicit ProgramBuilder(unsigned compute_capability, const KernelLimits& limits = {})
      : compute_capability_(compute_capability), limits_(limits) {}

  // A module's text, checked for itself. Throws Failure with the log.
  ptx::Module parse(const PtxPart& part) const;

  // Links a module with those that are there. Throws Failure with the log, and then is what it was before.
  void add(ptx::Module module, PtxPart part);
  void add(PtxPart part);

  // Whether the module defines what the others lack.
  bool wants(const ptx::Module& module) const { return linker_.is_wanted(module); }

  const std::vector<PtxPart>& parts() const { return parts_; }

  // The program, to be compiled with these settings. Throws Failure when something is used that is defined nowhere.
  std::shared_ptr<const jit::Program> finish(ProgramUse use, const jit::CompilerSettings& settings = {}) &&;

 private:
  const unsigned compute_capability_;
  const KernelLimits limits_;
  ptx::Linker linker_;
  std::vector<PtxPart> parts_;
};

// What ptxas -v says of each kernel, for the information log.
std::string resource_usage(const jit::Program& program);

}  // namespace softgpu::runtime
