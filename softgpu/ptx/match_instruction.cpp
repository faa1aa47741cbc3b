// Finds the rows of the instruction table that an opcode with its suffixes matches, or says why none does.
#include <algorithm>
#include <unordered_map>

#include "softgpu/ptx/instruction_table.hpp"
#include "softgpu/ptx/suggest.hpp"

namespace softgpu::ptx {
namespace {

struct WrittenSuffix {
  std::string_view text;
  Suffix suffix = 0;
  std::size_t offset = 0;
};

// Walks along a row's places and gives each a suffix, and notes how far it got and what could have followed there.
// Only the types must stand in order, as for ptxas: CUDA's own headers write vote.ballot.sync and atom.add.relaxed.gpu.
class SuffixMatcher {
 public:
  explicit SuffixMatcher(const std::vector<WrittenSuffix>& written) : written_(written), used_(written.size()) {}

  bool matches(const InstructionRow& row) { return matches(row, 0, 0); }
  std::size_t furthest() const { return furthest_; }
  // The first suffix that has no place, in the row that goes furthest, and what could stand in its place.
  std::size_t stray() const { return stray_; }
  const SuffixSet& expected() const { return expected_; }

 private:
  bool matches(const InstructionRow& row, std::size_t place, std::size_t count) {
    if (place == row.places.size()) {
      note(count, {});
      return count == written_.size();
    }
    const SuffixPlace& here = row.places[place];
    note(count, here.allowed);
    bool type_is_left = false;
    for (std::size_t i = 0; i < written_.size(); ++i) {
      const bool type = is_type(written_[i].suffix);
      if (used_[i] || (type && type_is_left)) continue;
      type_is_left |= type;
      if (!here.allowed.test(written_[i].suffix)) continue;
      used_[i] = true;
      const bool rest_matches = matches(row, place + 1, count + 1);
      used_[i] = false;
      if (rest_matches) return true;
    }
    return here.skip != 0 && matches(row, place + here.skip, count);
  }

  void note(std::size_t count, const SuffixSet& allowed) {
    if (count < furthest_) return;
    if (count > furthest_) {
      expected_.reset();
      stray_ = static_cast<std::size_t>(std::find(used_.begin(), used_.end(), false) - used_.begin());
    }
    furthest_ = count;
    expected_ |= allowed;
  }

  const std::vector<WrittenSuffix>& written_;
  std::vector<bool> used_;
  std::size_t furthest_ = 0, stray_ = 0;
  SuffixSet expected_;
};

bool glob_matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() != '*')
    return !text.empty() && text.front() == pattern.front() && glob_matches(pattern.substr(1), text.substr(1));
  for (std::size_t i = 0; i <= text.size(); ++i)
    if (glob_matches(pattern.substr(1), text.substr(i))) return true;
  return false;
}

const RefusedInstruction* find_refused(std::string_view text) {
  for (const RefusedInstruction& refused : refused_instructions())
    if (glob_matches(refused.pattern, text)) return &refused;
  return nullptr;
}

using RowsByOpcode = std::unordered_map<Opcode, std::vector<const InstructionRow*>>;
const std::vector<const InstructionRow*>& rows_of(Opcode opcode) {
  static const RowsByOpcode index = [] {
    RowsByOpcode map;
    for (const InstructionRow& row : instruction_rows()) map[row.opcode].push_back(&row);
    return map;
  }();
  static const std::vector<const InstructionRow*> none;
  const auto found = index.find(opcode);
  return found == index.end() ? none : found->second;
}

std::vector<std::string_view> all_opcodes() {
  return {
#define OPCODE(identifier, spelling) spelling,
#include "softgpu/ptx/opcodes.def"
#undef OPCODE
  };
}

std::string list_of(const SuffixSet& set) {
  std::string list;
  for (std::size_t i = 0; i < set.size(); ++i)
    if (set.test(i)) (list += list.empty() ? "" : " ") += spelling_of_suffix(i);
  return list;
}

void explain(InstructionForm& form, std::string_view text, const std::vector<WrittenSuffix>& written,
             const SuffixMatcher& matcher) {
  const std::string expected = list_of(matcher.expected());
  if (matcher.furthest() == written.size()) {
    form.problem = "'" + std::string(text) + "' is not complete";
    if (!expected.empty()) form.problem += "; it goes on with one of " + expected;
    return;
  }
  const WrittenSuffix& stray = written[matcher.stray()];
  form.problem_offset = stray.offset;
  form.problem = "unexpected '" + std::string(stray.text) + "' in '" + std::string(text) + "'";
  form.problem += expected.empty() ? "; nothing can follow here" : "; expected one of " + expected;
}

void check_vector_size(InstructionForm& form) {
  const unsigned width = form.prototype.vector_width;
  if (width == 1) return;
  const unsigned element = bits(form.prototype.types.back());
  const bool may_have_256 = form.prototype.opcode == Opcode::ld || form.prototype.opcode == Opcode::st;
  if (width * element <= 128 || (may_have_256 && width * element == 256 && element >= 32)) return;
  form.rows.clear();
  form.problem = "'" + form.prototype.text + "' is too large: vectors have up to 128 bits" +
                 (may_have_256 ? ", or 256 of 32-bit or 64-bit elements" : "");
}

}  // namespace

InstructionForm match_instruction(std::string_view text) {
  InstructionForm form;
  form.prototype.text = text;
  const auto refuse = [&] {
    const RefusedInstruction* refused = find_refused(text);
    if (refused) {
      form.cause = Diagnostic::Cause::unsupported;
      form.problem = "softgpu does not run '" + std::string(text) + "' (" + std::string(refused->reason) + ")";
    }
    return refused != nullptr;
  };

  std::string_view rest = text;
  const std::string_view opcode_text = take_suffix(rest);
  const auto opcode = opcode_named(opcode_text);
  if (!opcode) {
    form.problem = "unknown instruction '" + std::string(text) + "'" + did_you_mean(opcode_text, all_opcodes());
    return form;
  }
  form.prototype.opcode = *opcode;

  std::vector<WrittenSuffix> written;
  while (!rest.empty()) {
    const auto offset = static_cast<std::size_t>(rest.data() - text.data());
    const std::string_view word = take_suffix(rest);
    if (const auto space = space_named(word); space && !form.prototype.space) {
      form.prototype.space = space;
      continue;
    }
    const auto suffix = suffix_named(word);
    if (!suffix) {
      if (refuse()) return form;
      form.problem_offset = offset;
      form.problem = "unknown suffix '" + std::string(word) + "' in '" + std::string(text) + "'" +
                     did_you_mean(word, all_suffixes());
      return form;
    }
    written.push_back({word, *suffix, offset});
  }

  if (written.size() > form.prototype.modifiers.capacity()) {
    form.problem = "'" + std::string(text) + "' has more suffixes than any instruction";
    return form;
  }
  SuffixMatcher matcher(written);
  bool wrong_space = false;
  for (const InstructionRow* row : rows_of(*opcode)) {
    if (!matcher.matches(*row)) continue;
    const auto& space = form.prototype.space;
    if (space ? (row->spaces >> static_cast<unsigned>(*space)) & 1 : row->space_optional || row->spaces == 0)
      form.rows.push_back(row);
    else
      wrong_space = true;
  }
  if (!form.rows.empty()) {
    for (const WrittenSuffix& suffix : written) add_suffix(form.prototype, suffix.suffix);
    check_vector_size(form);
    return form;
  }
  if (refuse()) return form;
  if (wrong_space) {
    form.problem = form.prototype.space ? "'" + std::string(text) + "' can't have the state space " +
                                              std::string(spelling(*form.prototype.space))
                                        : "'" + std::string(text) + "' needs a state space";
  } else {
    explain(form, text, written, matcher);
  }
  return form;
}

}  // namespace softgpu::ptx
