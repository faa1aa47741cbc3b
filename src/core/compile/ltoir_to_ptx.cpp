// nvJitLink turns LTO-IR into PTX only when it gets nothing else, and then it takes the LTO-IR for a whole program: it
// drops functions that no kernel of it calls, and keeps the others to itself. Functions that other modules call are
// saved by a kernel that takes their addresses, made for the purpose and removed again, and made visible afterwards.
#include "core/compile/ltoir_to_ptx.hpp"

#include <cuprum/program.hpp>
#include <set>

#include "core/compile/link_state.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;

constexpr std::string_view keeper_name = "cuprum_keeps_functions";

/// Functions that the driver itself provides: the system calls of PTX.
const std::set<std::string, std::less<>> system_calls = {"vprintf", "malloc", "free", "__assertfail"};

using NamesFound = std::set<std::string, std::less<>>;

std::size_t skip_space(std::string_view ptx, std::size_t at) {
  const std::size_t next = ptx.find_first_not_of(" \t\r\n", at);
  return next == std::string_view::npos ? ptx.size() : next;
}

/// The name of the function whose `.func` ends at `at`: behind what it returns, which is in parentheses.
std::string_view function_name(std::string_view ptx, std::size_t at) {
  at = skip_space(ptx, at);
  if (at < ptx.size() && ptx[at] == '(') at = skip_space(ptx, std::min(ptx.find(')', at), ptx.size() - 1) + 1);
  const std::size_t end = std::min(ptx.find_first_of(" \t\r\n(;", at), ptx.size());
  return ptx.substr(at, end - at);
}

/// Calls `visit` with where each `.func` starts, the word before it, and the function's name.
template <typename Visit>
void for_each_function(std::string_view ptx, Visit&& visit) {
  constexpr std::string_view directive = ".func";
  for (std::size_t at = ptx.find(directive); at != std::string_view::npos; at = ptx.find(directive, at + 1)) {
    const std::size_t end = ptx.find_last_not_of(" \t", at - 1) + 1;  // of the word before, on the same line
    const std::size_t start = ptx.find_last_of(" \t\r\n", end - 1) + 1;
    visit(at, at == 0 || end <= start ? std::string_view() : ptx.substr(start, end - start),
          function_name(ptx, at + directive.size()));
  }
}

NamesFound functions_needed_by(const std::vector<std::string>& modules) {
  NamesFound needed = {};
  NamesFound defined = system_calls;
  for (const std::string& module : modules) {
    for_each_function(module, [&](std::size_t, std::string_view linkage, std::string_view name) {
      if (linkage == ".extern") needed.emplace(name);
      if (linkage == ".visible" || linkage == ".weak") defined.emplace(name);
    });
  }
  std::erase_if(needed, [&](const std::string& name) { return defined.contains(name); });
  return needed;
}

/// LTO-IR that uses the functions. Their parameters don't matter to an address.
std::string keeper_of(const NamesFound& functions, const std::optional<std::string>& arch) {
  std::string declarations;
  std::string uses;
  for (const std::string& name : functions) {
    declarations += text("extern \"C\" __device__ void ", name, "();\n");
    uses += text("  *functions++ = reinterpret_cast<void*>(", name, ");\n");
  }
  const std::string source =
      text(declarations, "extern \"C\" __global__ void ", keeper_name, "(void** functions) {\n", uses, "}\n");
  return std::string(Program(source, {.name = std::string(keeper_name), .arch = arch}).compile(Target::ltoir).code());
}

void remove_keeper(std::string& ptx) {
  const std::size_t start = ptx.find(text(".visible .entry ", keeper_name, "("));
  const std::size_t end = start == std::string::npos ? start : ptx.find("\n}", start);
  if (end != std::string::npos) ptx.erase(start, end + 2 - start);
}

std::string with_visible(const std::string& ptx, const NamesFound& functions) {
  std::string result;
  std::size_t done = 0;
  for_each_function(ptx, [&](std::size_t at, std::string_view linkage, std::string_view name) {
    if (!linkage.empty() || !functions.contains(name)) return;
    result.append(ptx, done, at - done).append(".visible ");
    done = at;
  });
  return result.append(ptx, done);
}

}  // namespace

std::string ltoir_to_ptx(const std::vector<const detail::Code*>& ltoir, const LinkerOptions& options,
                         const std::vector<std::string>& others) {
  LinkerOptions to_ptx = options;
  to_ptx.ptx = true;
  const NamesFound needed = functions_needed_by(others);
  const std::unique_ptr<LinkState> link = start_nvjitlink(to_ptx);
  for (const detail::Code* code : ltoir) link->add(*code);
  if (needed.empty()) return link->complete(Target::ptx).bytes;
  link->add({.type = Target::ltoir, .name = std::string(keeper_name), .bytes = keeper_of(needed, options.arch)});
  std::string ptx = link->complete(Target::ptx).bytes;
  remove_keeper(ptx);
  return with_visible(ptx, needed);
}

}  // namespace cuprum::core
