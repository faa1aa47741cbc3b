#include "softgpu/jit/linked_code.hpp"

#include <stdexcept>
#include <utility>

#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/Support/MemoryBuffer.h"

namespace softgpu::jit {

namespace jitlink = llvm::jitlink;
using Allocation = jitlink::JITLinkMemoryManager::FinalizedAlloc;

namespace {

// Lives as long as the process, so that code can be released whenever the last user goes.
jitlink::InProcessMemoryManager& memory_manager() {
  static auto& manager = *llvm::cantFail(jitlink::InProcessMemoryManager::Create()).release();
  return manager;
}

struct Outcome {
  void* entry = nullptr;
  Allocation memory;
  std::string problem;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(const char* entry, const std::function<void*(std::string_view)>& resolve, Outcome& outcome)
      : JITLinkContext(nullptr), entry_(entry), resolve_(resolve), outcome_(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return memory_manager(); }

  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> then) override {
    jitlink::AsyncLookupResult found;
    std::string missing;
    for (const auto& [name, flags] : symbols) {
      void* const address = resolve_(std::string_view(name.data(), name.size()));
      if (!address) missing += (missing.empty() ? "" : ", ") + name.str();
      found[name] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    if (missing.empty()) return then->run(std::move(found));
    then->run(llvm::createStringError("the code needs " + missing + ", which softgpu does not provide"));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (const jitlink::Symbol* symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getName() == entry_) outcome_.entry = symbol->getAddress().toPtr<void*>();
    if (outcome_.entry) return llvm::Error::success();
    return llvm::createStringError("the code does not define " + entry_.str());
  }

  void notifyFinalized(Allocation memory) override { outcome_.memory = std::move(memory); }
  void notifyFailed(llvm::Error error) override { outcome_.problem = llvm::toString(std::move(error)); }

 private:
  const llvm::StringRef entry_;
  const std::function<void*(std::string_view)>& resolve_;
  Outcome& outcome_;
};

}  // namespace

struct LinkedCode::Memory {
  Allocation allocation;
};

LinkedCode::LinkedCode(const std::string& object, const char* entry,
                       const std::function<void*(std::string_view)>& resolve) {
  auto graph = jitlink::createLinkGraphFromObject(llvm::MemoryBufferRef(object, "kernel"));
  if (!graph) throw std::runtime_error("the object code can't be read: " + llvm::toString(graph.takeError()));
  Outcome outcome;
  jitlink::link(std::move(*graph), std::make_unique<LinkContext>(entry, resolve, outcome));
  if (!outcome.problem.empty()) throw std::runtime_error("the code can't be linked: " + outcome.problem);
  entry_ = outcome.entry;
  memory_ = std::make_unique<Memory>(std::move(outcome.memory));
}

LinkedCode::~LinkedCode() { llvm::consumeError(memory_manager().deallocate(std::move(memory_->allocation))); }

}  // namespace softgpu::jit
