// One program, what it must leave in memory, and whether it did.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "fuzz/ptx/generator/features.hpp"
#include "fuzz/ptx/interpreter/interpreter.hpp"
#include "fuzz/ptx/runner/device.hpp"

namespace ptx_fuzz {

/// "3-5,9", and what it means; throws std::invalid_argument if it means nothing.
std::string write_numbers(const std::set<unsigned>& numbers);
std::set<unsigned> parse_numbers(const std::string& text);

/// A program that was interpreted once and can be run in many ways.
struct Trial {
  Program program;
  Outcome expected;
  Launch launch;
};
Trial make_trial(Program program);
/// The seed's first program that has one result.
Trial defined_trial(std::uint64_t seed, const Features& allowed);

/// Statements are numbered through all functions.
unsigned count_statements(const Program& program);
Program without(Program program, const std::set<unsigned>& numbers);

struct Verdict {
  enum class Kind { same, undefined, differs, failed, crashed, hangs };
  Kind kind = Kind::same;
  std::string text;  // where memory differs, or the driver's error
};
const char* name_of(Verdict::Kind kind);
inline bool is_failure(Verdict::Kind kind) { return kind >= Verdict::Kind::differs; }

/// What the driver did, compared with what the interpreter says.
Verdict judge(const Trial& trial, const DeviceRun& got);

}  // namespace ptx_fuzz
