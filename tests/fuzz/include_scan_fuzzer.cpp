// Looking for includes in any text. Where the text has nothing that could hide one (no comments, no literals, no joined
// lines), a plain search for lines that begin with #include finds no more than the scan does.
#include <algorithm>
#include <string_view>

#include "core/program_cache/include_scan.hpp"
#include "fuzz/target.hpp"

namespace {

using Reference = cuprum::core::IncludeScan::Reference;

constexpr std::string_view kBlanks = " \t";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}

bool is_plain(std::string_view text) {
  return text.find_first_of("/\\?'%R\v\f\r") == text.npos && text.find('\0') == text.npos;
}

// `#include <name>` or `#include "name"`; an empty name when the line is something else.
Reference plain_include(std::string_view line) {
  line = without_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = without_blanks(line.substr(7));
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return {};
  const std::size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  if (end == line.npos) return {};
  return {std::string(line.substr(1, end - 1)), line[0] == '"'};
}

}  // namespace

std::vector<std::string> good_inputs() {
  return {
      "#include <cuda_fp16.h>\n#include \"mine.h\"\nint a;\n",
      "/* #include <not> */ #include <yes>\n// \\\n#include <no>\n#include \"after\"\n",
      "#if __has_include(<x.h>)\n#define H <x.h>\n#include H\n#endif\n",
      "auto s = R\"x(\n#include <text>\n)x\";\n?\?=include <trigraph>\n%:include <digraph>\n#inc\\\nlude <joined>\n",
      "__DATE__ __TIME__\n#include_next <n>\n#import <m>\n'\"'\n#include \"q\"\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scan = cuprum::core::scan_includes(text);
  if (!is_plain(text)) return 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    const Reference include = plain_include(line);
    // An unpaired quotation mark before it may hide it, as far as the scan can know.
    if (include.name.empty() || text.substr(0, end - line.size()).find('"') != text.npos) continue;
    cuprum::tests::require(
        !scan.obstacle.empty() || std::ranges::find(scan.references, include) != scan.references.end(),
        "a plain include is found");
  }
  return 0;
}
