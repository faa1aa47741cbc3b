// The statements of a function's body.
#include <utility>

#include "softgpu/ptx/parser.hpp"
#include "softgpu/ptx/suggest.hpp"

namespace softgpu::ptx {
namespace {

constexpr std::size_t kDeepestScope = 200;

}  // namespace

void Parser::parse_body() {
  open_scope(reader_.take().where);
  bind_parameters();
  while (in_function()) {
    if (reader_.at_end()) {
      const Location where = reader_.peek().where;
      scopes_.resize(1);
      reader_.fail(where, "the text ends inside '" + function().name + "': '}' is missing");
    }
    try {
      statement_label_uses_.clear();
      parse_statement();
      // Only now: the uses in a statement that was abandoned have no instruction to point to.
      if (!statement_label_uses_.empty()) {
        std::vector<LabelUse>& uses = scopes_.back().label_uses;
        uses.insert(uses.end(), statement_label_uses_.begin(), statement_label_uses_.end());
      }
    } catch (const StatementAbandoned&) {
      reader_.skip_statement();
    }
  }
}

void Parser::parse_statement() {
  const Token& next = reader_.peek();
  switch (next.kind) {
    case Token::Kind::directive: return parse_directive_statement();
    case Token::Kind::identifier: {
      const Token word = reader_.take();
      if (reader_.accept(":")) return parse_label(word);
      return parse_instruction(word, std::nullopt);
    }
    default: break;
  }
  if (reader_.accept(";")) return;
  if (reader_.at("@@")) {
    skip_debug_information();
  } else if (reader_.at("@")) {
    const Guard guard = parse_guard();
    const Token opcode = reader_.expect_identifier("an instruction behind the predicate");
    parse_instruction(opcode, guard);
  } else if (reader_.at("{")) {
    open_scope(reader_.take().where);
  } else if (reader_.at("}")) {
    reader_.take();
    close_scope();
  } else {
    reader_.fail_at_next("an instruction, a label or a directive");
  }
}

void Parser::parse_directive_statement() {
  const Token& word = reader_.peek();
  if (word.text == ".reg") return parse_registers();
  if (skip_debug_information()) return;
  if (space_named(word.text)) return parse_variables(Linkage::internal);
  if (word.text == ".extern" || word.text == ".visible" || word.text == ".weak")
    return parse_variables(parse_linkage());
  static const std::vector<std::string_view> names = {".reg",    ".local", ".shared", ".param",
                                                      ".global", ".const", ".loc",    ".pragma"};
  if (word.text == ".entry" || word.text == ".func")
    reader_.fail(word.where,
                 "'" + std::string(word.text) + "' inside of '" + function().name + "': is a '}' missing before it?");
  reader_.fail(word.where, "unknown directive '" + std::string(word.text) + "'" + did_you_mean(word.text, names));
}

void Parser::parse_label(const Token& name) {
  if (reader_.accept_directive(".branchtargets")) return parse_branch_targets(name);
  if (reader_.accept_directive(".callprototype")) return parse_prototype(name);
  if (reader_.accept_directive(".calltargets")) return parse_call_targets(name);
  std::vector<Label>& labels = function().labels;
  const auto [entry, is_new] = scopes_.back().labels.emplace(name.text, static_cast<std::uint32_t>(labels.size()));
  if (!is_new)
    reader_.error(name.where, "the label '" + std::string(name.text) + "' is there twice; the first time in line " +
                                  std::to_string(labels[entry->second].where.line));
  labels.push_back({std::string(name.text), static_cast<std::uint32_t>(function().body.size()), name.where});
}

void Parser::parse_branch_targets(const Token& name) {
  const auto index = static_cast<std::uint32_t>(function().branch_targets.size());
  BranchTargets targets;
  targets.name = name.text;
  do {
    const Token label = reader_.expect_identifier("a label");
    statement_label_uses_.push_back(
        {label.text, label.where, true, index, static_cast<std::uint32_t>(targets.labels.size())});
    targets.labels.push_back({Symbol::Kind::unresolved, 0, std::string(label.text)});
  } while (reader_.accept(","));
  reader_.expect(";", "behind the labels");
  declare(name.text, {Binding::Kind::branch_targets, 1, index, name.where});
  function().branch_targets.push_back(std::move(targets));
}

// name: .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;
void Parser::parse_prototype(const Token& name) {
  Prototype prototype;
  prototype.name = name.text;
  if (reader_.at("(")) prototype.results = parse_parameters(false, "results");
  reader_.expect_identifier("'_' in the place of the function's name");
  if (reader_.at("(")) prototype.parameters = parse_parameters(false, "parameters");
  Function ignored;
  parse_performance_directives(ignored);
  reader_.expect(";", "behind the prototype");
  const auto index = static_cast<std::uint32_t>(function().prototypes.size());
  declare(name.text, {Binding::Kind::prototype, 1, index, name.where});
  function().prototypes.push_back(std::move(prototype));
}

// name: .calltargets f, g; which all have the signature of the first.
void Parser::parse_call_targets(const Token& name) {
  Prototype prototype;
  prototype.name = name.text;
  bool first = true;
  do {
    const Token target = reader_.expect_identifier("a function's name");
    const Binding* binding = find_name(target.text);
    if (!binding || binding->kind != Binding::Kind::function) fail_unknown_name(target, "a function");
    if (std::exchange(first, false)) {
      prototype.results = module_.functions[binding->index].results;
      prototype.parameters = module_.functions[binding->index].parameters;
    }
  } while (reader_.accept(","));
  reader_.expect(";", "behind the functions");
  const auto index = static_cast<std::uint32_t>(function().prototypes.size());
  declare(name.text, {Binding::Kind::prototype, 1, index, name.where});
  function().prototypes.push_back(std::move(prototype));
}

void Parser::open_scope(Location where) {
  if (scopes_.size() >= kDeepestScope) {
    reader_.error(where, "blocks are nested more than " + std::to_string(kDeepestScope) + " deep");
    throw ModuleAbandoned();
  }
  scopes_.emplace_back();
}

// Labels of a block are known in it and in the blocks inside: what is not found here may be further out.
void Parser::close_scope() {
  Scope closed = std::move(scopes_.back());
  scopes_.pop_back();
  for (const LabelUse& use : closed.label_uses) {
    if (const auto found = closed.labels.find(use.name); found != closed.labels.end()) {
      resolve_label(use, found->second);
    } else if (in_function()) {
      scopes_.back().label_uses.push_back(use);
    } else {
      std::vector<std::string_view> names;
      for (const auto& [label, index] : closed.labels) names.push_back(label);
      reader_.error(use.where, "there is no label '" + std::string(use.name) + "'" + did_you_mean(use.name, names));
    }
  }
}

void Parser::resolve_label(const LabelUse& use, std::uint32_t label) {
  Symbol& symbol =
      use.in_targets ? function().branch_targets[use.first].labels[use.second]
                     : std::get<Symbol>(std::get<Address>(function().body[use.first].operands[use.second].value).base);
  symbol.kind = Symbol::Kind::label;
  symbol.index = label;
}

}  // namespace softgpu::ptx
