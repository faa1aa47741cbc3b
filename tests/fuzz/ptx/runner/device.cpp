#include "fuzz/ptx/runner/device.hpp"

#include <stdexcept>

#include "conformance/driver.hpp"
#include "fuzz/ptx/model/writer.hpp"

namespace ptx_fuzz {
namespace {

struct DriverFailure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void expect(CUresult result, const char* call, const std::string& log = "") {
  if (result != CUDA_SUCCESS)
    throw DriverFailure(std::string(call) + ": " + conformance::name_of(result) + (log.empty() ? "" : "\n" + log));
}

void use_device() {
  static const bool once = [] {
    CUdevice device = 0;
    CUcontext context = nullptr;
    expect(CU(cuInit)(0), "cuInit");
    expect(CU(cuDeviceGet)(&device, 0), "cuDeviceGet");
    expect(CU(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
    expect(CU(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
    // Compilers can't tell how deep recursive functions go.
    expect(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 16384), "cuCtxSetLimit");
    return true;
  }();
  static_cast<void>(once);
}

class Module {
 public:
  Module(const std::string& ptx, unsigned optimisation) {
    std::string log(4096, '\0');
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size()),
                      reinterpret_cast<void*>(std::uintptr_t{optimisation})};
    const CUresult result = CU(cuModuleLoadDataEx)(&module_, ptx.c_str(), 3, options, values);
    expect(result, "cuModuleLoadDataEx", log.c_str());
  }
  ~Module() { CU(cuModuleUnload)(module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUfunction kernel() const {
    CUfunction kernel = nullptr;
    expect(CU(cuModuleGetFunction)(&kernel, module_, "fuzz"), "cuModuleGetFunction");
    return kernel;
  }

 private:
  CUmodule module_ = nullptr;
};

// Device memory that grows as programs need it.
CUdeviceptr memory_of(std::size_t bytes) {
  static CUdeviceptr memory = 0;
  static std::size_t size = 0;
  if (size >= bytes) return memory;
  if (memory != 0) expect(CU(cuMemFree)(memory), "cuMemFree");
  expect(CU(cuMemAlloc)(&memory, bytes), "cuMemAlloc");
  size = bytes;
  return memory;
}

std::vector<std::uint8_t> run(const Launch& launch, unsigned optimisation) {
  use_device();
  const Module module(launch.ptx, optimisation);
  CUdeviceptr memory = memory_of(launch.memory.size());
  expect(CU(cuMemcpyHtoD)(memory, launch.memory.data(), launch.memory.size()), "cuMemcpyHtoD");
  std::array<std::uint32_t, 3> numbers = launch.parameters;
  void* parameters[] = {&memory, &numbers[0], &numbers[1], &numbers[2]};
  expect(CU(cuLaunchKernel)(module.kernel(), launch.blocks, 1, 1, launch.block.x, launch.block.y, launch.block.z, 0,
                            nullptr, parameters, nullptr),
         "cuLaunchKernel");
  expect(CU(cuCtxSynchronize)(), "cuCtxSynchronize");
  std::vector<std::uint8_t> after(launch.memory.size());
  expect(CU(cuMemcpyDtoH)(after.data(), memory, after.size()), "cuMemcpyDtoH");
  return after;
}

}  // namespace

Launch make_launch(const Program& program) {
  return {program.block, program.blocks, program.parameters, program.memory, write_ptx(program)};
}

DeviceRun run_on_device(const Launch& launch, unsigned optimisation) {
  DeviceRun result;
  try {
    result.memory = run(launch, optimisation);
  } catch (const DriverFailure& failure) {
    result.error = failure.what();
  }
  return result;
}

}  // namespace ptx_fuzz
