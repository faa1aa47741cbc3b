#include "softgpu/lower/module/refusals.hpp"

#include "softgpu/lower/module/call_graph.hpp"

namespace softgpu::lower {
namespace {

// A function that calls itself is called on the stack of a host thread, where a thread of the kernel can't wait
// for others.
bool concerns_other_threads(const ptx::Instruction& instruction) {
  using ptx::Opcode;
  switch (instruction.opcode) {
    case Opcode::activemask:
    case Opcode::bar:
    case Opcode::barrier:
    case Opcode::elect:
    case Opcode::match:
    case Opcode::redux:
    case Opcode::shfl:
    case Opcode::vote: return true;
    default: return false;
  }
}

void check_recursive_call(const ptx::Function& called, const ptx::Function& recursive,
                          std::vector<ptx::DiagnosticInPart>& refusals) {
  for (const ptx::Instruction& instruction : called.body) {
    if (!concerns_other_threads(instruction)) continue;
    const std::string where =
        &called == &recursive ? "'" + called.name + "', which is recursive"
                              : "'" + called.name + "', which the recursive function '" + recursive.name + "' calls";
    refusals.push_back({called.part,
                        {.cause = ptx::Diagnostic::Cause::unsupported,
                         .where = instruction.where,
                         .message = "softgpu can't run '" + instruction.text + "' in the function " + where +
                                    ": threads can't wait for each other or exchange values there"}});
  }
}

}  // namespace

std::vector<ptx::DiagnosticInPart> refusals(const ptx::Module& module) {
  const CallGraph calls(module);
  std::vector<bool> used(module.functions.size());
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (!module.functions[i].is_kernel || used[i]) continue;
    for (const std::uint32_t reached : calls.reachable(i)) used[reached] = true;
  }
  std::vector<ptx::DiagnosticInPart> found;
  std::vector<bool> checked(module.functions.size());
  for (std::uint32_t i = 0; i < module.functions.size(); ++i) {
    if (!used[i] || !calls.is_recursive(i)) continue;
    for (const std::uint32_t reached : calls.reachable(i)) {
      if (checked[reached]) continue;
      checked[reached] = true;
      check_recursive_call(module.functions[reached], module.functions[i], found);
    }
  }
  return found;
}

}  // namespace softgpu::lower
