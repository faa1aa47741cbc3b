// What a cache holds of a compilation, after somebody else wrote to its file: not taken, or the same bytes when it is
// written again.
#include <string_view>

#include "core/program_cache/entry.hpp"
#include "fuzz/target.hpp"
#include "support/byte_fields.hpp"

using namespace cuprum;

/// A value and its notes as one input.
std::string input_of(const detail::Code& code, std::string_view log) {
  support::FieldWriter out;
  const ProgramCacheEntry entry = core::entry_of(code, log);
  out.add(entry.value).add(entry.notes);
  return out.bytes();
}

std::optional<core::Compiled> read(std::string_view entry) {
  support::FieldReader in(entry);
  const auto value = in.field(), notes = in.field();
  if (!value) return std::nullopt;
  return core::compiled_from({std::string(*value), std::string(notes.value_or(""))});
}

std::vector<std::string> good_inputs() {
  const detail::Code plain{.type = Target::ptx, .name = "plain", .bytes = ".version 9.0\n.target sm_90\n"};
  const detail::Code named{.type = Target::cubin,
                           .bytes = std::string(300, '\x7f'),
                           .ptx = plain.bytes,
                           .symbol_mapping = {{"f<int>", "_Z1fIiEvv"}, {"g", "g"}}};
  return {input_of(plain, ""), input_of(named, "a.cu(1): warning\n")};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto entry = read(bytes);
  if (!entry) return 0;
  const auto again = read(input_of(entry->code, entry->log));
  tests::require(again.has_value(), "what is written can be read");
  tests::require(again->code.bytes == entry->code.bytes && again->code.ptx == entry->code.ptx &&
                     again->code.type == entry->code.type && again->code.name == entry->code.name &&
                     again->code.symbol_mapping == entry->code.symbol_mapping && again->log == entry->log,
                 "an entry stays what it is");
  return 0;
}
