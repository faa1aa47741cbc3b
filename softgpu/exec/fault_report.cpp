#include "softgpu/exec/fault_report.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
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

}  // namespace

void report_fault(const Running& what, Outcome outcome) {
  if (what.fault.instruction == 0) return;
  static std::atomic<std::uint64_t> reported{~std::uint64_t{0}};
  if (reported.exchange(what.block->grid_id) == what.block->grid_id) return;
  const CodeLines* const lines = what.launch->code.lines;
  const auto line = lines ? lines->line_of(what.fault.instruction) : std::nullopt;
  const std::string action =
      outcome == Outcome::illegal_address ? "illegal access to " + address_of(what.fault) : "illegal instruction";
  std::fprintf(stderr, "softgpu: kernel %s, block %s, %s: %s%s\n", what.launch->kernel_name.c_str(),
               text(what.block->index).c_str(), threads_of(what).c_str(), action.c_str(),
               line ? (", in line " + std::to_string(*line) + " of the PTX").c_str() : "");
}

}  // namespace softgpu::exec
