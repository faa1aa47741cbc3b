#include "softgpu/jit/line_table.hpp"

#include <algorithm>

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "softgpu/jit/compiled_kernel.hpp"

namespace softgpu::jit {

using namespace llvm;

void give_lines_to_functions(Module& module) {
  if (module.debug_compile_units().empty()) return;
  DICompileUnit* unit = *module.debug_compile_units().begin();
  DIBuilder builder(module, /*AllowUnresolved=*/false, unit);
  DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  for (Function& function : module) {
    if (function.isDeclaration()) continue;
    DISubprogram* scope = builder.createFunction(unit->getFile(), function.getName(), "", unit->getFile(), 0, type, 0,
                                                 DINode::FlagZero, DISubprogram::SPFlagDefinition);
    function.setSubprogram(scope);
    for (Instruction& instruction : instructions(function)) {
      const DebugLoc& there = instruction.getDebugLoc();
      if (there || isa<CallBase>(instruction))
        instruction.setDebugLoc(DILocation::get(module.getContext(), there ? there.getLine() : 0, 0, scope));
    }
  }
  builder.finalize();
}

namespace {

// The program of a line table (DWARF 5, 6.2), of which only addresses and lines count here.
class LineProgram {
 public:
  LineProgram(StringRef section, std::uint64_t first_address)
      : data_(section, /*IsLittleEndian=*/true, /*AddressSize=*/8), address_(first_address) {}

  template <typename Emit>
  void run(Emit&& emit) {
    if (!read_header()) return consumeError(at_.takeError());
    while (at_ && at_.tell() < end_) {
      const std::uint8_t opcode = data_.getU8(at_);
      if (opcode >= opcode_base_) {
        const unsigned adjusted = opcode - opcode_base_;
        address_ += adjusted / line_range_ * instruction_length_;
        line_ += line_base_ + static_cast<int>(adjusted % line_range_);
        emit(address_, line_);
      } else if (opcode == 0) {
        if (extended() == dwarf::DW_LNE_end_sequence) emit(address_, 0);
      } else {
        if (standard(opcode) == dwarf::DW_LNS_copy) emit(address_, line_);
      }
    }
    consumeError(at_.takeError());
  }

 private:
  bool read_header() {
    const std::uint64_t length = data_.getU32(at_);
    end_ = at_.tell() + length;
    const unsigned version = data_.getU16(at_);
    if (version >= 5) data_.skip(at_, 2);  // sizes of addresses and of selectors
    const std::uint64_t header_length = data_.getU32(at_);
    const std::uint64_t program = at_.tell() + header_length;
    instruction_length_ = data_.getU8(at_);
    if (version >= 4) data_.skip(at_, 1);  // operations per instruction
    data_.skip(at_, 1);                    // default of is_stmt
    line_base_ = static_cast<std::int8_t>(data_.getU8(at_));
    line_range_ = data_.getU8(at_);
    opcode_base_ = data_.getU8(at_);
    operands_.clear();
    for (unsigned i = 1; i < opcode_base_; ++i) operands_.push_back(data_.getU8(at_));
    const bool readable = static_cast<bool>(at_) && version >= 2 && version <= 5 && line_range_ != 0;
    if (readable) at_.seek(program);
    return readable;
  }

  std::uint8_t extended() {
    const std::uint64_t length = data_.getULEB128(at_);
    const std::uint64_t next = at_.tell() + length;
    const std::uint8_t opcode = data_.getU8(at_);  // an address to set is that of the code, which is known
    if (at_) at_.seek(next);
    return opcode;
  }

  std::uint8_t standard(std::uint8_t opcode) {
    switch (opcode) {
      case dwarf::DW_LNS_advance_pc: address_ += data_.getULEB128(at_) * instruction_length_; break;
      case dwarf::DW_LNS_advance_line: line_ += static_cast<int>(data_.getSLEB128(at_)); break;
      case dwarf::DW_LNS_const_add_pc: address_ += (255 - opcode_base_) / line_range_ * instruction_length_; break;
      case dwarf::DW_LNS_fixed_advance_pc: address_ += data_.getU16(at_); break;
      default:
        for (unsigned i = 0; i < operands_[opcode - 1]; ++i) data_.getULEB128(at_);
    }
    return opcode;
  }

  DataExtractor data_;
  DataExtractor::Cursor at_{0};
  std::uint64_t end_ = 0, address_;
  unsigned instruction_length_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0, line_ = 1;
  SmallVector<std::uint8_t, 16> operands_;
};

std::optional<std::size_t> offset_of_entry_in(const object::ObjectFile& file) {
  for (const object::SymbolRef& symbol : file.symbols()) {
    Expected<StringRef> name = symbol.getName();
    Expected<std::uint64_t> value = symbol.getValue();
    const bool found = name && value && *name == kEntryName;
    if (!name) consumeError(name.takeError());
    if (!value) {
      consumeError(value.takeError());
      continue;
    }
    if (found) return *value;
  }
  return std::nullopt;
}

}  // namespace

LineTable::LineTable(const std::string& object) {
  Expected<std::unique_ptr<object::ObjectFile>> file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "kernel"));
  if (!file) {
    consumeError(file.takeError());
    return;
  }
  entry_ = offset_of_entry_in(**file);
  for (const object::SectionRef& section : (*file)->sections()) {
    Expected<StringRef> name = section.getName();
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (*name != ".debug_line") continue;
    Expected<StringRef> contents = section.getContents();
    if (!contents) {
      consumeError(contents.takeError());
      return;
    }
    LineProgram(*contents, 0).run([&](std::uint64_t address, int line) {
      rows_.push_back({address, static_cast<std::uint32_t>(std::max(line, 0))});
    });
  }
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.offset < b.offset; });
}

std::optional<std::uint32_t> LineTable::line_at(std::size_t offset) const {
  const auto behind = std::upper_bound(rows_.begin(), rows_.end(), offset,
                                       [](std::size_t wanted, const Row& row) { return wanted < row.offset; });
  if (behind == rows_.begin() || behind == rows_.end() || std::prev(behind)->line == 0) return std::nullopt;
  return std::prev(behind)->line;
}

}  // namespace softgpu::jit
