// From the addresses of generated instructions back to the lines of the PTX.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class Module;
}  // namespace llvm

namespace softgpu::jit {

// Gives each function a scope of its own, in which its code names the lines that it comes from. Before that one scope
// is everybody's: see lower/.
void give_lines_to_functions(llvm::Module&);

// The line table of an object, with offsets into its code.
class LineTable {
 public:
  // An object without a line table, or with one that can't be read, has no lines.
  explicit LineTable(const std::string& object);

  // Where the code holds this symbol; empty when it doesn't.
  std::optional<std::size_t> offset_of_entry() const { return entry_; }
  // Of the instruction at this offset. Empty when it belongs to no line.
  std::optional<std::uint32_t> line_at(std::size_t offset) const;

 private:
  struct Row {
    std::size_t offset;
    std::uint32_t line;  // 0: none
  };
  std::optional<std::size_t> entry_;
  std::vector<Row> rows_;  // by offset; each holds up to the next
};

}  // namespace softgpu::jit
