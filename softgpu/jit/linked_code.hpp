// Object code to callable code. LLVM's linker without its JIT session: one object, one export, every import from us.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace softgpu::jit {

class LinkedCode {
 public:
  // Links `object`, whose imports `resolve` gives (null: unknown). Throws std::runtime_error, naming what is missing.
  LinkedCode(const std::string& object, const char* entry, const std::function<void*(std::string_view)>& resolve);
  ~LinkedCode();
  LinkedCode(const LinkedCode&) = delete;
  LinkedCode& operator=(const LinkedCode&) = delete;

  void* entry() const { return entry_; }

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
  void* entry_ = nullptr;
};

}  // namespace softgpu::jit
