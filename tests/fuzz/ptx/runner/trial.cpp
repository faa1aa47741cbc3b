#include "fuzz/ptx/runner/trial.hpp"

#include <cstring>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "fuzz/ptx/generator/generator.hpp"

namespace ptx_fuzz {
namespace {

constexpr unsigned kMostAttempts = 100;
constexpr int kMostWordsShown = 12;

std::string describe_difference(const std::vector<std::uint8_t>& expected, const std::vector<std::uint8_t>& got) {
  std::ostringstream text;
  int shown = 0, differing = 0;
  for (std::size_t i = 0; i + 4 <= expected.size(); i += 4) {
    std::uint32_t right = 0, wrong = 0;
    std::memcpy(&right, &expected[i], 4);
    std::memcpy(&wrong, &got[i], 4);
    if (right == wrong) continue;
    ++differing;
    if (++shown <= kMostWordsShown)
      text << "  byte " << i << ": expected 0x" << std::hex << right << ", got 0x" << wrong << std::dec << "\n";
  }
  text << "  " << differing << " words differ\n";
  return text.str();
}

}  // namespace

std::string write_numbers(const std::set<unsigned>& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto last = first;
    for (auto next = std::next(last); next != numbers.end() && *next == *last + 1; ++next) last = next;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return text;
}

std::set<unsigned> parse_numbers(const std::string& text) {
  std::set<unsigned> numbers;
  std::istringstream in(text);
  for (std::string range; std::getline(in, range, ',');) {
    char* end = nullptr;
    const unsigned long first = std::strtoul(range.c_str(), &end, 10);
    const unsigned long last = *end == '-' ? std::strtoul(end + 1, &end, 10) : first;
    if (*end != '\0') throw std::invalid_argument("'" + text + "' is no list of numbers such as 3-5,9");
    for (unsigned long number = first; number <= last; ++number) numbers.insert(static_cast<unsigned>(number));
  }
  return numbers;
}

Trial make_trial(Program program) {
  Outcome expected = interpret(program);
  Launch launch = make_launch(program);
  return {std::move(program), std::move(expected), std::move(launch)};
}

Trial defined_trial(std::uint64_t seed, const Features& allowed) {
  std::string why;
  for (unsigned attempt = 0; attempt < kMostAttempts; ++attempt) {
    Program program = generate(seed, attempt, allowed);
    Outcome expected = interpret(program);
    if (expected.undefined.empty()) {
      Launch launch = make_launch(program);
      return {std::move(program), std::move(expected), std::move(launch)};
    }
    why = std::move(expected.undefined);
  }
  throw std::runtime_error("seed " + std::to_string(seed) + " gives no program with one result: " + why);
}

unsigned count_statements(const Program& program) {
  unsigned count = 0;
  for (const Function& function : program.functions)
    for (const Instruction& instruction : function.body) count += instruction.op != Op::label;
  return count;
}

Program without(Program program, const std::set<unsigned>& numbers) {
  unsigned number = 0;
  for (Function& function : program.functions)
    std::erase_if(function.body, [&](const Instruction& instruction) {
      return instruction.op != Op::label && numbers.contains(number++);
    });
  return program;
}

const char* name_of(Verdict::Kind kind) {
  constexpr const char* kNames[] = {"same", "undefined", "differs", "failed", "crashed", "hangs"};
  return kNames[static_cast<std::size_t>(kind)];
}

Verdict judge(const Trial& trial, const DeviceRun& got) {
  if (!got.error.empty()) return {Verdict::Kind::failed, got.error};
  if (got.memory == trial.expected.memory) return {};
  return {Verdict::Kind::differs, describe_difference(trial.expected.memory, got.memory)};
}

}  // namespace ptx_fuzz
