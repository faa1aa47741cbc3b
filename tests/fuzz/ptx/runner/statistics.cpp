#include "fuzz/ptx/runner/statistics.hpp"

#include <cstdio>
#include <map>
#include <set>

#include "fuzz/ptx/generator/generator.hpp"
#include "fuzz/ptx/interpreter/interpreter.hpp"

namespace ptx_fuzz {
namespace {

std::set<Op> operations_of(const Program& program) {
  std::set<Op> found;
  for (const Function& function : program.functions)
    for (const Instruction& instruction : function.body) found.insert(instruction.op);
  return found;
}

}  // namespace

void print_statistics(const Options& options) {
  std::map<std::string, unsigned> undefined;
  std::map<Op, unsigned> programs;
  unsigned accepted = 0;
  std::size_t instructions = 0;
  for (std::uint64_t seed = options.first_seed; seed < options.last_seed; ++seed) {
    const Program program = generate(seed, 0, options.features);
    const Outcome outcome = interpret(program);
    if (!outcome.undefined.empty()) {
      ++undefined[outcome.undefined];
      continue;
    }
    ++accepted;
    for (const Function& function : program.functions) instructions += function.body.size();
    for (const Op op : operations_of(program)) ++programs[op];
  }
  std::printf("%u programs, %zu instructions\n", accepted, instructions);
  for (const auto& [why, count] : undefined) std::printf("%u without a single result: %s\n", count, why.c_str());
  for (const auto& [op, count] : programs) std::printf("%u with %s\n", count, name_of(op));
}

}  // namespace ptx_fuzz
