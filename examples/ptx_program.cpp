// PTX, written by hand: compiled to machine code, linked with CUDA C++, and complained about.
#include <cuprum/cuprum.hpp>
#include <string>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

// Counts the bits that are set: one instruction of the GPU, in a function that other code can call.
const char* const count_bits_ptx = R"(
.version 7.0
.target sm_70
.address_size 64

.visible .func (.param .b32 count) count_bits(.param .b32 word)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [word];
  popc.b32     %r2, %r1;
  st.param.b32 [count], %r2;
  ret;
}

.visible .entry count_all(.param .u64 words)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64       %rd1, [words];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32            %r1, %tid.x;
  mul.wide.u32       %rd2, %r1, 4;
  add.u64            %rd3, %rd1, %rd2;
  ld.global.u32      %r2, [%rd3];
  popc.b32           %r3, %r2;
  st.global.u32      [%rd3], %r3;
  ret;
}
)";

// The same from CUDA C++, which calls the function in PTX.
const char* const caller_source = R"(
extern "C" __device__ int count_bits(unsigned word);
extern "C" __global__ void count_pairs(unsigned* words) {
  words[threadIdx.x] = count_bits(words[threadIdx.x]) + count_bits(~words[threadIdx.x]);
}
)";

std::vector<unsigned> run_on(const std::vector<unsigned>& words, const Kernel& kernel) {
  Device device;
  Stream stream = device.create_stream();
  Buffer buffer = device.allocate(words.size() * sizeof(unsigned), stream);
  buffer.copy_from(std::span(words), stream);
  launch(stream, {.grid = 1, .block = static_cast<unsigned>(words.size())}, kernel, buffer);
  std::vector<unsigned> result(words.size());
  buffer.copy_to(std::span(result), stream);
  stream.sync();
  return result;
}

void example() {
  Device().set_current();
  const std::vector<unsigned> words = {0, 1, 0xff, 0xffffffff};

  // PTX can be loaded as it is; the driver compiles it.
  const ObjectCode loaded = ObjectCode::from_ptx(count_bits_ptx, {.name = "count_bits.ptx"});
  check(run_on(words, loaded.get_kernel("count_all")) == std::vector<unsigned>{0, 1, 8, 32}, "PTX runs as it is");

  // As a program it is compiled ahead, with options.
  Program program(count_bits_ptx, SourceCodeType::ptx, {.name = "count_bits.ptx", .max_register_count = 32});
  std::cout << "compiled by " << program.backend() << '\n';
  const ObjectCode machine_code = program.compile(Target::cubin);
  check(run_on(words, machine_code.get_kernel("count_all")) == std::vector<unsigned>{0, 1, 8, 32},
        "PTX runs as machine code");

  // And it links with what other compilers make.
  const ObjectCode caller = Program(caller_source, {.relocatable_device_code = true}).compile(Target::ptx);
  const ObjectCode linked = Linker({caller, loaded}).link(Target::cubin);
  check(run_on(words, linked.get_kernel("count_pairs")) == std::vector<unsigned>(4, 32), "CUDA C++ calls PTX");

  std::string wrong = count_bits_ptx;
  wrong.replace(wrong.find("popc.b32 "), 9, "popd.b32 ");
  try {
    Program(wrong, SourceCodeType::ptx, {.name = "wrong.ptx"}).compile(Target::cubin);
  } catch (const CompileError& error) {
    std::cout << error.what() << '\n';
    check(error.log().find("popd") != std::string::npos, "an error names the instruction");
  }
}

}  // namespace

int main() { return run(example); }
