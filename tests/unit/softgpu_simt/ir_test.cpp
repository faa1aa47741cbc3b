// What the compiler makes of one thread's code, pass by pass: each file in ir/ is a test in the style of LLVM's
// FileCheck.
//
// A file is LLVM IR with a kernel `@kernel` (marked functions need no declaration) and starts with
//   ; RUN: passes=FIRST..LAST width=W block=XxYxZ
// The passes from FIRST to LAST (which may be the same) of jit/pipeline.cpp's second list run on it, for gangs of W
// lanes and blocks of that shape. What is behind them is compared with the file's CHECK lines: the analysis as text if
// the last one is `analyse`, else the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "llvm/ADT/SmallString.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/jit/pipeline.hpp"
#include "softgpu/simt/analysis_text.hpp"
#include "unit/softgpu_simt/harness.hpp"

namespace softgpu::simt::test {
namespace {

struct Request {
  std::string first, last;
  unsigned width = 0;
  abi::Dim3 block{1, 1, 1};
};

Request request_of(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  char first[64] = {}, last[64] = {};
  Request request;
  const int fields = std::sscanf(line.c_str(), "; RUN: passes=%63[a-z-]..%63[a-z-] width=%u block=%ux%ux%u", first,
                                 last, &request.width, &request.block.x, &request.block.y, &request.block.z);
  if (fields != 6)
    throw std::runtime_error("the first line has to be `; RUN: passes=FIRST..LAST width=W block=XxYxZ` and is `" +
                             line + "`");
  request.first = first;
  request.last = last;
  return request;
}

std::span<const jit::Pass> up_to(const std::string& last) {
  const std::span<const jit::Pass> passes = jit::gang_passes();
  const auto found = std::find_if(passes.begin(), passes.end(), [&](auto& pass) { return pass.name == last; });
  if (found == passes.end()) throw std::runtime_error("there is no pass " + last);
  return passes.first(static_cast<std::size_t>(found - passes.begin()) + 1);
}

// What the passes leave, as text.
std::string transformed(const std::string& text) {
  const Request request = request_of(text);
  const std::span<const jit::Pass> passes = up_to(request.last);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  const auto target =
      llvm::cantFail(llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost()).createTargetMachine());
  llvm::LLVMContext context;
  jit::Compilation compilation;
  compilation.target = target.get();
  compilation.context = &context;
  compilation.code = parse(text, context);
  compilation.code->setDataLayout(target->createDataLayout());
  compilation.thread = compilation.code->getFunction("kernel");
  compilation.width = request.width;
  compilation.shape = jit::shape_of(request.block, request.width);
  jit::run(passes, compilation, request.first);
  if (compilation.width != request.width) throw std::runtime_error("the kernel may not run in step");
  std::string result;
  llvm::raw_string_ostream out(result);
  if (request.last == "analyse") {
    print_analysis(out, *compilation.divergence, *compilation.layout);
    return result;
  }
  for (const llvm::Function& function : *compilation.code)
    if (&function != compilation.thread && !function.isDeclaration()) out << function;
  return result;
}

// Null, or what FileCheck has to say.
std::optional<std::string> mismatch(const std::string& checks, const std::string& text) {
  std::string message;
  llvm::SourceMgr sources;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic& diagnostic, void* to) {
        llvm::raw_string_ostream out(*static_cast<std::string*>(to));
        diagnostic.print("", out, /*ShowColors=*/false);
      },
      &message);
  llvm::FileCheckRequest request;
  request.CheckPrefixes = {"CHECK"};
  request.CommentPrefixes = {"COM", "RUN"};
  request.EnableVarScope = true;
  llvm::FileCheck file_check(request);
  const auto add = [&](const std::string& content, const char* name) {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(content, name);
    llvm::SmallString<0> canonical;
    const std::string kept = file_check.CanonicalizeFile(*buffer, canonical).str();
    buffer = llvm::MemoryBuffer::getMemBufferCopy(kept, name);
    const llvm::StringRef view = buffer->getBuffer();
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    return view;
  };
  if (file_check.readCheckFile(sources, add(checks, "checks"))) return message;
  if (!file_check.checkInput(sources, add(text, "result"))) return message;
  return std::nullopt;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(SOFTGPU_SIMT_IR_TESTS))
    if (entry.path().extension() == ".ll") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class Ir : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Ir, IsAsChecked) {
  const std::string text = read(GetParam());
  const std::string result = transformed(text);
  const auto problem = mismatch(text, result);
  EXPECT_FALSE(problem) << GetParam() << ":\n" << *problem << "The whole result:\n" << result;
}

INSTANTIATE_TEST_SUITE_P(Files, Ir, testing::ValuesIn(files()), [](const auto& file) {
  std::string name = file.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// ---- The tests themselves can fail -------------------------------------------------------------

TEST(IrTests, ChecksThatDoNotHoldAreReported) {
  EXPECT_FALSE(mismatch("; CHECK: one\n; CHECK-NEXT: two\n", "one\ntwo\n"));
  EXPECT_TRUE(mismatch("; CHECK: one\n; CHECK-NEXT: two\n", "one\nthree\ntwo\n"));
  EXPECT_TRUE(mismatch("; CHECK-NOT: two\n", "one\ntwo\n"));
  EXPECT_TRUE(mismatch("no check at all\n", "one\n"));
}

TEST(IrTests, AFirstLineThatDoesNotSayWhatToRunIsRefused) {
  EXPECT_THROW(request_of("define void @kernel() {\n"), std::runtime_error);
  EXPECT_THROW(transformed("; RUN: passes=analyse..nothing width=16 block=64x1x1\n"), std::runtime_error);
}

}  // namespace
}  // namespace softgpu::simt::test
