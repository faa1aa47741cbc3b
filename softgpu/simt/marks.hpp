// Marked functions as LLVM sees them.
#pragma once

#include <optional>

#include "llvm/IR/InstrTypes.h"
#include "softgpu/abi/marks.hpp"

namespace softgpu::simt {

inline std::optional<abi::Mark> mark_of(const llvm::Function* function) {
  if (!function || !function->isDeclaration()) return std::nullopt;
  const llvm::StringRef name = function->getName();
  if (!name.starts_with("softgpu.")) return std::nullopt;
  return abi::mark_named({name.data(), name.size()});
}

inline std::optional<abi::Mark> mark_of(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(value);
  return call ? mark_of(call->getCalledFunction()) : std::nullopt;
}

}  // namespace softgpu::simt
