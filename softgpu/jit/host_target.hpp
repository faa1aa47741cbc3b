// The CPU that code is made for.
#pragma once

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}  // namespace llvm

namespace softgpu::jit {

// A target machine for this CPU with all its features, position-independent, -O3. Each is for one thread at a time.
// Initialises LLVM's code generator on first use. Throws std::runtime_error.
std::unique_ptr<llvm::TargetMachine> make_host_target();

// Everything besides the PTX that decides what code comes out: CPU, its features, LLVM, and this very build of
// softgpu. Needs none of LLVM's code generator.
const std::string& code_generation_identity();

}  // namespace softgpu::jit
