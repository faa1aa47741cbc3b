#include "ptx/batch.hpp"

#include <cstdio>
#include <memory>

namespace ptx_test {
namespace {

std::string register_type(std::size_t bytes) { return bytes <= 2 ? ".b16" : bytes == 4 ? ".b32" : ".b64"; }
std::string memory_type(std::size_t bytes) { return bytes == 1 ? ".u8" : ".b" + std::to_string(8 * bytes); }

}  // namespace

std::string hex(std::uint64_t bits, std::size_t bytes) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%0*llx", static_cast<int>(2 * bytes), static_cast<unsigned long long>(bits));
  return text;
}

std::string batch_kernel(const std::vector<std::size_t>& sizes, const std::vector<std::string>& statements) {
  const std::string names = "abce";  // d is the result
  std::string text = kHeader;
  text += ".visible .entry batch(.param .u64 out, .param .u32 count";
  for (std::size_t i = 1; i < sizes.size(); ++i) text += ", .param .u64 in" + std::to_string(i);
  text +=
      ")\n{\n.reg .pred %done; .reg .b32 %i, %n, %t; .reg .b64 %out, %step, %at, %offset;\n"
      "mov.u32 %i, %ctaid.x;\nmov.u32 %n, %ntid.x;\nmov.u32 %t, %tid.x;\nmad.lo.u32 %i, %i, %n, %t;\n"
      "ld.param.u32 %n, [count];\nsetp.ge.u32 %done, %i, %n;\n@%done bra END;\n";
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const std::string name(1, names[i - 1]), size = std::to_string(sizes[i]);
    text += ".reg " + register_type(sizes[i]) + " " + name + ";\nld.param.u64 %at, [in" + std::to_string(i) +
            "];\nmul.wide.u32 %offset, %i, " + size + ";\nadd.u64 %at, %at, %offset;\nld.global" +
            memory_type(sizes[i]) + " " + name + ", [%at];\n";
  }
  const std::string size = std::to_string(sizes[0]);
  text += "ld.param.u64 %out, [out];\nmul.wide.u32 %offset, %i, " + size +
          ";\nadd.u64 %out, %out, %offset;\nmul.wide.u32 %step, %n, " + size + ";\n";
  for (const std::string& statement : statements)
    text +=
        "{\n.reg " + register_type(sizes[0]) +
        " d; .reg .pred p, q; .reg .b16 h, h2; .reg .b32 r, r2; .reg .b64 l, l2; .reg .f32 x, x2; .reg .f64 y, y2;\n" +
        statement + "\nst.global" + memory_type(sizes[0]) + " [%out], d;\nadd.u64 %out, %out, %step;\n}\n";
  return text + "END:\nret;\n}\n";
}

std::vector<std::byte> run_batch(const std::string& text, std::size_t count,
                                 const std::vector<std::pair<const void*, std::size_t>>& inputs,
                                 std::size_t output_bytes) {
  conformance::TestModule module(text.c_str());
  CUfunction kernel = module.function("batch");
  if (kernel == nullptr) return {};

  conformance::DeviceMemory output(output_bytes);
  std::vector<std::unique_ptr<conformance::DeviceMemory>> memory;
  std::vector<CUdeviceptr> pointers;
  for (const auto& [data, bytes] : inputs) {
    memory.push_back(std::make_unique<conformance::DeviceMemory>(bytes));
    pointers.push_back(memory.back()->get());
    EXPECT_SUCCESS(CU(cuMemcpyHtoD)(pointers.back(), data, bytes));
  }
  CUdeviceptr out = output.get();
  auto n = static_cast<unsigned>(count);
  std::vector<void*> parameters = {&out, &n};
  for (CUdeviceptr& pointer : pointers) parameters.push_back(&pointer);

  constexpr unsigned kBlock = 128;
  EXPECT_SUCCESS(CU(cuLaunchKernel)(kernel, (n + kBlock - 1) / kBlock, 1, 1, kBlock, 1, 1, 0, nullptr,
                                    parameters.data(), nullptr));
  std::vector<std::byte> result(output_bytes);
  EXPECT_SUCCESS(CU(cuMemcpyDtoH)(result.data(), out, output_bytes));
  return result;
}

}  // namespace ptx_test
