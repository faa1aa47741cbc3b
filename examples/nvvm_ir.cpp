// NVVM IR: what compilers of other languages hand to NVIDIA's. Here a tiny one, for formulas in x.
//
// The formula becomes a function in NVVM IR; libNVVM compiles it together with a kernel that calls it, and libdevice
// provides the mathematics.
#include <cmath>
#include <cuprum/cuprum.hpp>
#include <string>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

const std::string header = R"(
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
!nvvmir.version = !{!100}
!100 = !{i32 2, i32 0}
)";

// values[i] = formula(values[i]), for i < n.
const std::string kernel_ir = header + R"(
declare double @formula(double)
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

define void @apply(double* %values, i32 %n) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %start = mul i32 %block, %size
  %i = add i32 %start, %thread
  %inside = icmp ult i32 %i, %n
  br i1 %inside, label %compute, label %done
compute:
  %offset = zext i32 %i to i64
  %place = getelementptr double, double* %values, i64 %offset
  %x = load double, double* %place
  %y = call double @formula(double %x)
  store double %y, double* %place
  br label %done
done:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (double*, i32)* @apply, !"kernel", i32 1}
)";

// sqrt(x) * sin(x) + 1
const std::string formula_ir = header + R"(
declare double @__nv_sin(double)
declare double @__nv_sqrt(double)
define double @formula(double %x) {
  %root = call double @__nv_sqrt(double %x)
  %sine = call double @__nv_sin(double %x)
  %product = fmul double %root, %sine
  %sum = fadd double %product, 1.0
  ret double %sum
}
)";

void example() {
  Device device;
  device.set_current();
  // IR with typed pointers is what libNVVM takes for architectures before Blackwell; its PTX runs on newer ones, too.
  Program program(
      kernel_ir, SourceCodeType::nvvm,
      {.name = "apply.ll", .arch = "compute_75", .extra_sources = {{"formula.ll", formula_ir}}, .use_libdevice = true});
  std::cout << "compiled by " << program.backend() << '\n';
  const ObjectCode code = program.compile(Target::ptx);
  check(code.code().find("__nv_sin") == std::string_view::npos, "libdevice is compiled into the kernel");

  constexpr unsigned n = 1000;
  std::vector<double> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = 0.01 * i;
  Stream stream = device.create_stream();
  Buffer buffer = device.allocate(n * sizeof(double), stream);
  buffer.copy_from(std::span(values), stream);
  launch(stream, {.grid = ceil_div(n, 128u), .block = 128}, code.get_kernel("apply"), buffer, n);
  buffer.copy_to(std::span(values), stream);
  stream.sync();
  double largest = 0;
  for (unsigned i = 0; i < n; ++i) {
    const double x = 0.01 * i;
    largest = std::max(largest, std::abs(values[i] - (std::sqrt(x) * std::sin(x) + 1)));
  }
  std::cout << "largest difference to the host's result: " << largest << '\n';
  check(largest < 1e-12, "the formula is computed on the device");

  try {
    Program("define void @broken( {", SourceCodeType::nvvm, {.name = "broken.ll", .arch = "compute_75"})
        .compile(Target::ptx);
  } catch (const CompileError& error) {
    std::cout << error.what() << '\n';
    check(error.source().find("broken") != std::string::npos, "an error shows the line that it is about");
  }
}

}  // namespace

int main() { return run(example); }
