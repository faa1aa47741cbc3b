#include "softgpu/jit/linked_code.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

#include "softgpu/jit/kernel_compiler.hpp"
#include "softgpu/jit/symbols.hpp"
#include "unit/softgpu_jit/kernels.hpp"

namespace softgpu::jit {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

CompiledKernel compiled_scale() {
  const auto program = program_of(kScale);
  return KernelCompiler(program->module(), program->module().functions[0], {}).compile({abi::BlockShape::rows, false});
}

TEST(LinkedCode, NamesWhatIsMissing) {
  const CompiledKernel kernel = compiled_scale();
  EXPECT_THAT([&] { LinkedCode(kernel.object, kEntryName, [](std::string_view) { return nullptr; }); },
              ThrowsMessage<std::runtime_error>(HasSubstr("softgpu.variable.bias")));
  EXPECT_THAT(
      [&] {
        LinkedCode(kernel.object, "other", [](std::string_view) {
          static int anything;
          return static_cast<void*>(&anything);
        });
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("does not define other")));
}

TEST(LinkedCode, RefusesWhatIsNoObject) {
  EXPECT_THAT([&] { LinkedCode("garbage", kEntryName, [](std::string_view) { return nullptr; }); },
              ThrowsMessage<std::runtime_error>(HasSubstr("can't be read")));
  EXPECT_THROW(LinkedCode(compiled_scale().object.substr(0, 100), kEntryName, [](std::string_view) { return nullptr; }),
               std::runtime_error);
}

TEST(Symbols, AreOnlyThoseOfTheList) {
  EXPECT_NE(find_symbol("softgpu_rt_trap"), nullptr);
  EXPECT_NE(find_symbol("memcpy"), nullptr);
  EXPECT_EQ(find_symbol("system"), nullptr);
  EXPECT_EQ(find_symbol("softgpu_rt_"), nullptr);
}

}  // namespace
}  // namespace softgpu::jit
