// Several PTX modules to one, by the rules of device linking: what one module declares .extern, another defines.
//
//   Linker linker;
//   for (...) if (auto errors = linker.add(module, "main.ptx"); !errors.empty()) ...
//   Module program = std::move(linker).finish();
//
// A symbol of a module is either its own (declared without a linking directive) or shared by name with all modules
// (.visible, .weak, .common, .extern). A module's own symbols may have the name of any other.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "softgpu/ptx/ast.hpp"

namespace softgpu::ptx {

class Linker {
 public:
  // Adds a module under a name for messages. Returns what is wrong, in nvlink's words; nothing is added then.
  std::vector<std::string> add(Module module, std::string name);

  // Whether the module defines something that is declared so far and defined nowhere: what decides if a member of an
  // archive takes part.
  bool is_wanted(const Module& module) const;

  bool empty() const { return result_.parts.empty(); }

  // The modules as one, in the order they were added. What is defined nowhere stays a declaration.
  Module finish() &&;

 private:
  struct Place {
    bool is_function = false;
    std::uint32_t index = 0;  // into result_.functions or result_.variables
  };
  // Where the symbols of a module go.
  struct Plan {
    struct Target {
      std::uint32_t index = 0;
      bool moves = false;  // this module's symbol is the one to keep
    };
    std::vector<Target> functions, variables;
    std::vector<std::string> errors;
  };

  Plan plan(const Module&, const std::string& name) const;
  Plan::Target place(const Function&, std::uint32_t& next, Plan&, const std::string& name) const;
  Plan::Target place(const Variable&, std::uint32_t& next, Plan&, const std::string& name) const;
  void carry_out(const Plan&, Module);
  const std::string& part_of(const Place&) const;
  void make_names_unique();

  Module result_;
  std::unordered_map<std::string, Place> shared_;
};

}  // namespace softgpu::ptx
