// What stands outside of functions.
#include <algorithm>
#include <array>
#include <charconv>

#include "softgpu/ptx/parse.hpp"
#include "softgpu/ptx/parser.hpp"
#include "softgpu/ptx/suggest.hpp"
#include "softgpu/ptx/symbols.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::uint32_t kNewestMajorVersion = 9;
constexpr std::array<std::uint32_t, 27> kTargets = {10, 11, 12, 13, 20, 21, 30, 32, 35, 37, 50, 52,  53, 60,
                                                    61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90, 100, 101};
constexpr std::array<std::uint32_t, 4> kNewestTargets = {103, 110, 120, 121};

// "sm_90a" to 90; nothing when it does not have this form.
std::optional<std::uint32_t> capability_of(std::string_view target) {
  std::string_view digits = target;
  if (digits.starts_with("sm_"))
    digits.remove_prefix(3);
  else if (digits.starts_with("compute_"))
    digits.remove_prefix(8);
  else
    return std::nullopt;
  if (digits.ends_with('a') || digits.ends_with('f')) digits.remove_suffix(1);
  std::uint32_t capability = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), capability);
  if (error != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return capability;
}

const std::vector<std::string_view>& module_directives() {
  static const std::vector<std::string_view> names = {
      ".version", ".target", ".address_size", ".entry", ".func", ".global",  ".const",  ".shared", ".visible",
      ".extern",  ".weak",   ".common",       ".file",  ".loc",  ".section", ".pragma", ".alias",  ".tex"};
  return names;
}

}  // namespace

ParseResult parse(std::string_view text) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  Parser parser(text);
  ParseResult result;
  if (parser.parse()) result.module = parser.take_module();
  result.diagnostics = parser.reader().take_diagnostics();
  return result;
}

bool Parser::parse() {
  try {
    parse_header();
    while (!reader_.at_end()) parse_module_statement_or_skip();
    resolve_relocations();
    resolve_aliases(module_);
  } catch (const StatementAbandoned&) {
    return false;
  } catch (const ModuleAbandoned&) {
    return false;
  }
  return !reader_.failed();
}

void Parser::parse_module_statement_or_skip() {
  try {
    parse_module_statement();
  } catch (const StatementAbandoned&) {
    scopes_.resize(1);
    reader_.skip_module_statement();
  }
}

void Parser::parse_header() {
  parse_version();
  parse_target();
  if (reader_.at_directive(".address_size")) parse_address_size();
}

void Parser::parse_version() {
  if (!reader_.at_directive(".version")) reader_.fail_at_next("'.version', with which a PTX module starts");
  reader_.take();
  const Token number = reader_.peek();
  const std::size_t dot = number.text.find('.');
  std::uint32_t major = 0, minor = 0;
  const auto all = [](std::string_view digits, std::uint32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (number.kind != Token::Kind::double_bits || dot == std::string_view::npos ||
      !all(number.text.substr(0, dot), major) || !all(number.text.substr(dot + 1), minor))
    reader_.fail_at_next("the PTX version, such as 9.0");
  reader_.take();
  if (major > kNewestMajorVersion)
    reader_.fail(number.where, "PTX version " + std::string(number.text) + " is newer than softgpu knows (9.x)",
                 Diagnostic::Cause::version);
  if (major == 0) reader_.fail(number.where, "there is no PTX version " + std::string(number.text));
  module_.version_major = major;
  module_.version_minor = minor;
}

void Parser::parse_target() {
  if (!reader_.at_directive(".target")) reader_.fail_at_next("'.target' behind the version");
  reader_.take();
  do {
    const Token word = reader_.expect_identifier("a target such as sm_90");
    if (const auto capability = capability_of(word.text)) {
      const bool known = std::find(kTargets.begin(), kTargets.end(), *capability) != kTargets.end() ||
                         std::find(kNewestTargets.begin(), kNewestTargets.end(), *capability) != kNewestTargets.end();
      if (!known)
        reader_.fail(word.where, "softgpu does not know the target '" + std::string(word.text) + "'",
                     Diagnostic::Cause::version);
      module_.target = word.text;
      module_.compute_capability = *capability;
    } else if (word.text != "texmode_unified" && word.text != "texmode_independent" && word.text != "debug" &&
               word.text != "map_f64_to_f32") {
      reader_.fail(word.where, "unknown target '" + std::string(word.text) + "'; expected one such as sm_90");
    }
  } while (reader_.accept(","));
  if (module_.target.empty()) reader_.fail_at_next("a target such as sm_90");
}

void Parser::parse_address_size() {
  reader_.take();
  const Location where = reader_.peek().where;
  const std::uint64_t size = reader_.expect_integer("the address size, 64");
  if (size == 32)
    reader_.fail(where, "softgpu runs 64-bit modules only, this one is of 32 bits", Diagnostic::Cause::unsupported);
  if (size != 64) reader_.fail(where, "the address size is 32 or 64, not " + std::to_string(size));
}

void Parser::parse_module_statement() {
  if (reader_.accept(";") || skip_debug_information()) return;
  const Linkage linkage = parse_linkage();
  if (reader_.at_directive(".entry") || reader_.at_directive(".func")) return parse_function(linkage);
  if (reader_.accept_directive(".alias")) return parse_alias();
  const Token& next = reader_.peek();
  if (next.kind == Token::Kind::directive) {
    if (next.text == ".tex" || next.text == ".texref")
      reader_.fail(next.where, "softgpu does not run '.tex' (textures)", Diagnostic::Cause::unsupported);
    if (space_named(next.text)) return parse_variables(linkage);
    reader_.fail(next.where,
                 "unknown directive '" + std::string(next.text) + "'" + did_you_mean(next.text, module_directives()));
  }
  reader_.fail_at_next("a directive such as '.visible .entry' or '.global'");
}

Linkage Parser::parse_linkage() {
  if (reader_.accept_directive(".visible")) return Linkage::visible;
  if (reader_.accept_directive(".extern")) return Linkage::external;
  if (reader_.accept_directive(".weak")) return Linkage::weak;
  if (reader_.accept_directive(".common")) return Linkage::common;
  return Linkage::internal;
}

// .file, .loc, .section, .pragma and the older @@DWARF lines: nothing in them changes what a kernel does.
bool Parser::skip_debug_information() {
  if (reader_.at("@@")) {
    const std::uint32_t line = reader_.take().where.line;
    reader_.skip_line(line);
    return true;
  }
  if (reader_.accept_directive(".file")) return skip_file(), true;
  if (reader_.accept_directive(".loc")) return skip_location(), true;
  if (reader_.accept_directive(".section")) {
    if (!reader_.at("{")) reader_.expect_directive("the name of the section");
    if (!reader_.at("{")) reader_.fail_at_next("'{' behind the section's name");
    reader_.skip_block();
    return true;
  }
  if (reader_.accept_directive(".pragma")) {
    do {
      if (reader_.peek().kind != Token::Kind::string) reader_.fail_at_next("the text of the pragma, in quotes");
      reader_.take();
    } while (reader_.accept(","));
    reader_.expect(";", "behind the pragma");
    return true;
  }
  return false;
}

void Parser::skip_file() {
  reader_.expect_integer("the number of the file");
  if (reader_.peek().kind != Token::Kind::string) reader_.fail_at_next("the name of the file, in quotes");
  reader_.take();
  while (reader_.accept(",")) reader_.expect_integer("the file's time or size");
}

// .loc file line column [, function_name label [+ offset], inlined_at file line column]
void Parser::skip_location() {
  reader_.expect_integer("the number of the file");
  reader_.expect_integer("the line");
  if (reader_.peek().kind == Token::Kind::integer) reader_.take();
  while (reader_.accept(",")) {
    const Token word = reader_.expect_identifier("'function_name' or 'inlined_at'");
    if (word.text == "function_name") {
      reader_.expect_identifier("the label of the function's name");
      if (reader_.accept("+")) reader_.expect_integer("an offset");
    } else if (word.text == "inlined_at") {
      for (const std::string_view what : {"the number of the file", "the line", "the column"})
        reader_.expect_integer(what);
    } else {
      reader_.fail(word.where, "expected 'function_name' or 'inlined_at', found '" + std::string(word.text) + "'");
    }
  }
}

// .alias name, function; both have been declared before.
void Parser::parse_alias() {
  const auto function_named = [this] {
    const Token name = reader_.expect_identifier("a function's name");
    const Binding* binding = find_name(name.text);
    if (!binding || binding->kind != Binding::Kind::function)
      reader_.fail(name.where, "'" + std::string(name.text) + "' is not a function");
    return binding->index;
  };
  const std::uint32_t alias = function_named();
  reader_.expect(",", "between the alias and its function");
  const std::uint32_t target = function_named();
  reader_.expect(";", "behind the alias");
  const std::uint32_t further = module_.functions[target].alias_of;
  const std::uint32_t final_target = further == kNoFunction ? target : further;
  if (final_target != alias) module_.functions[alias].alias_of = final_target;
}

// Initial values may name what is declared further down.
void Parser::resolve_relocations() {
  for (const PendingRelocation& pending : pending_relocations_) {
    Variable& variable = pending.in_function ? module_.functions[pending.function].variables[pending.variable]
                                             : module_.variables[pending.variable];
    Symbol& target = variable.relocations[pending.relocation].target;
    const Binding* binding = scopes_.front().find(target.name);
    if (!binding) {
      reader_.error(pending.where,
                    "'" + target.name + "' is not declared" + did_you_mean(target.name, visible_names()));
      continue;
    }
    target.kind = binding->kind == Binding::Kind::function ? Symbol::Kind::function : Symbol::Kind::module_variable;
    target.index = binding->index;
  }
}

const Binding* Parser::find_name(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const Binding* found = scope->find(name)) return found;
    if (const RegisterRange* range = scope->find_range(name)) {
      const Binding binding{Binding::Kind::register_, 1, add_register(name, range->type), range->where};
      return &scope->names.emplace(name, binding).first->second;
    }
  }
  return nullptr;
}

void Parser::declare(std::string_view name, Binding binding, Scope& scope) {
  if (const RegisterRange* range = scope.find_range(name))
    reader_.fail(binding.where, "'" + std::string(name) + "' is declared twice; the first time in line " +
                                    std::to_string(range->where.line));
  const auto [entry, is_new] = scope.names.emplace(name, binding);
  if (!is_new)
    reader_.fail(binding.where, "'" + std::string(name) + "' is declared twice; the first time in line " +
                                    std::to_string(entry->second.where.line));
}

std::vector<std::string_view> Parser::visible_names() const {
  constexpr std::size_t kMost = 2000;  // for suggestions: there is no sense in comparing with all of a huge module
  std::vector<std::string_view> names;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    for (const auto& [name, binding] : scope->names)
      if (names.size() < kMost) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace softgpu::ptx
