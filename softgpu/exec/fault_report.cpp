#include "softgpu/exec/fault_report.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>

namespace softgpu::exec {
namespace {

std::string text(const abi::Dim3& index) {
  return "(" + std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z) + ")";
}

abi::Dim3 index_of(std::uint32_t thread, const abi::Dim3& size) {
  return {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

// Lanes run in step, so one of these it was.
std::string threads_of(const Running& what) {
  const abi::Block& block = *what.block;
  const std::uint32_t all = block.size.x * block.size.y * block.size.z;
  const std::uint32_t last = std::min(block.running + what.launch->code.width, all) - 1;
  const std::string first = text(index_of(block.running, block.size));
  return last == block.running ? "thread " + first
                               : "one of the threads " + first + " to " + text(index_of(last, block.size));
}

std::string address_of(const FaultSite& fault) {
  if (!fault.address_known) return "an address that can't exist";
  char address[32];
  std::snprintf(address, sizeof address, "0x%" PRIxPTR, fault.address);
  return std::string("address ") + address;
}

std::string line_of(const Running& what) {
  const CodeLines* const lines = what.launch->code.lines;
  const auto line = lines ? lines->line_of(what.fault.instruction) : std::nullopt;
  return line ? ", in line " + std::to_string(*line) + " of the PTX" : "";
}

std::string problem_of(const Running& what, Outcome outcome) {
  if (what.problem[0] != '\0') return what.problem;
  if (what.fault.instruction == 0) return {};
  switch (outcome) {
    case Outcome::illegal_address: return "illegal access to " + address_of(what.fault) + line_of(what);
    case Outcome::misaligned_address: return "misaligned access to " + address_of(what.fault) + line_of(what);
    default: return "illegal instruction" + line_of(what);
  }
}

}  // namespace

std::string describe_block(const GridLaunch& launch, const abi::Block& block) {
  return "kernel " + launch.kernel_name + ", block " + text(block.index);
}

std::string describe_fault(const Running& what, Outcome outcome) {
  if (outcome == Outcome::completed) return {};
  const std::string problem = problem_of(what, outcome);
  if (problem.empty() || outcome == Outcome::assertion) return problem;
  return describe_block(*what.launch, *what.block) + ", " + threads_of(what) + ": " + problem;
}

void print_reason(Outcome outcome, const std::string& reason) {
  if (reason.empty() || outcome == Outcome::assertion || outcome == Outcome::trap) return;
  std::string lines = "softgpu: " + reason + "\n";
  for (std::size_t end = lines.find('\n'); end + 1 < lines.size(); end = lines.find('\n', end + 1))
    lines.insert(end + 1, "softgpu: ");
  std::fputs(lines.c_str(), stderr);
}

}  // namespace softgpu::exec
