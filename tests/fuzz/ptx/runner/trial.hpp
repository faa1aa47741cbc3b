// One program, interpreted and run.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "fuzz/ptx/generator/features.hpp"
#include "fuzz/ptx/model/program.hpp"

namespace ptx_fuzz {

/// Which program: that of a seed, without some of its statements. Statements are numbered through all functions.
struct Choice {
  std::uint64_t seed = 0;
  std::set<unsigned> without;
};

/// "3-5,9", and what it means; throws std::invalid_argument if it means nothing.
std::string write_numbers(const std::set<unsigned>& numbers);
std::set<unsigned> parse_numbers(const std::string& text);

/// The seed's first program that has one result.
Program defined_program(std::uint64_t seed, const Features& allowed);
unsigned count_statements(const Program& program);
Program without(Program program, const std::set<unsigned>& numbers);

struct Verdict {
  enum class Kind { same, undefined, differs, failed, crashed, hangs };
  Kind kind = Kind::same;
  std::string text;  // where memory differs, or the driver's error
};
const char* name_of(Verdict::Kind kind);
inline bool is_failure(Verdict::Kind kind) { return kind >= Verdict::Kind::differs; }

/// Runs the program on the driver and compares with what the interpreter says.
Verdict try_program(const Program& program);

}  // namespace ptx_fuzz
