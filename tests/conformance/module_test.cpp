#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

using Module = DriverTest;

TEST_F(Module, FindsKernelsByName) {
  const TestModule module(kKernels);
  const CUfunction function = module.function("increment");
  const char* name = nullptr;
  ASSERT_SUCCESS(CU(cuFuncGetName)(&name, function));
  EXPECT_STREQ(name, "increment");
  CUmodule owner = nullptr;
  ASSERT_SUCCESS(CU(cuFuncGetModule)(&owner, function));
  EXPECT_EQ(owner, module.get());
  CUfunction missing = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&missing, module.get(), "no_such_kernel"));
}

TEST_F(Module, EnumeratesItsKernels) {
  const TestModule module(kKernels);
  unsigned count = 0;
  ASSERT_SUCCESS(CU(cuModuleGetFunctionCount)(&count, module.get()));
  EXPECT_EQ(count, 9u);
  std::vector<CUfunction> functions(count);
  ASSERT_SUCCESS(CU(cuModuleEnumerateFunctions)(functions.data(), count, module.get()));
  for (const CUfunction function : functions) EXPECT_NE(function, nullptr);
}

TEST_F(Module, KernelsKnowTheirParameters) {
  const TestModule module(kKernels);
  size_t offset = 9, size = 9;
  const CUfunction function = module.function("scale_struct");
  ASSERT_SUCCESS(CU(cuFuncGetParamInfo)(function, 0, &offset, &size));
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(size, 16u);
  ASSERT_SUCCESS(CU(cuFuncGetParamInfo)(function, 1, &offset, &size));
  EXPECT_EQ(offset, 16u);
  EXPECT_EQ(size, 4u);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetParamInfo)(function, 2, &offset, &size));
}

TEST_F(Module, KernelsHaveAttributes) {
  const TestModule module(kKernels);
  int value = -1;
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, module.function("bounded")));
  EXPECT_EQ(value, 64);
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, module.function("increment")));
  EXPECT_EQ(value, 0);
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, module.function("increment")));
  EXPECT_EQ(value, 75);
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, module.function("increment")));
  EXPECT_GT(value, 0);
}

TEST_F(Module, VariablesHaveInitialValuesAndCanBeSet) {
  const TestModule module(kKernels);
  const DeviceMemory out(12);
  int values[3] = {};
  ASSERT_SUCCESS(launch(module.function("read_symbols"), 1, 1, nullptr, out.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values, out.get(), sizeof values));
  EXPECT_EQ(values[0], 41);
  EXPECT_EQ(values[1], 30);
  EXPECT_EQ(values[2], 41) << "through a pointer in an initial value";

  CUdeviceptr counter = 0, table = 0;
  size_t bytes = 0;
  ASSERT_SUCCESS(CU(cuModuleGetGlobal)(&counter, &bytes, module.get(), "counter"));
  EXPECT_EQ(bytes, 4u);
  ASSERT_SUCCESS(CU(cuModuleGetGlobal)(&table, &bytes, module.get(), "table"));
  EXPECT_EQ(bytes, 16u);
  const int new_counter = 7, new_entry = 8;
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(counter, &new_counter, 4));
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(table + 8, &new_entry, 4));
  ASSERT_SUCCESS(launch(module.function("read_symbols"), 1, 1, nullptr, out.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(values, out.get(), sizeof values));
  EXPECT_EQ(values[0], 7);
  EXPECT_EQ(values[1], 8);
  EXPECT_EQ(values[2], 7);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetGlobal)(&counter, &bytes, module.get(), "no_such_variable"));
}

TEST_F(Module, CopiesOfOneModuleHaveTheirOwnVariables) {
  const TestModule first(kKernels), second(kKernels);
  CUdeviceptr a = 0, b = 0;
  ASSERT_SUCCESS(CU(cuModuleGetGlobal)(&a, nullptr, first.get(), "counter"));
  ASSERT_SUCCESS(CU(cuModuleGetGlobal)(&b, nullptr, second.get(), "counter"));
  EXPECT_NE(a, b);
}

// Loads with log buffers.
CUresult load(const char* ptx, std::string& error_log) {
  char errors[4096] = "", infos[1024] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                            CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {errors, reinterpret_cast<void*>(sizeof errors), infos, reinterpret_cast<void*>(sizeof infos)};
  CUmodule module = nullptr;
  const CUresult result = CU(cuModuleLoadDataEx)(&module, ptx, 4, options, values);
  error_log = errors;
  if (result == CUDA_SUCCESS) CU(cuModuleUnload)(module);
  return result;
}

TEST_F(Module, OptionsLimitKernels) {
  float time = -1;
  CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_WALL_TIME};
  void* values[] = {reinterpret_cast<void*>(std::uintptr_t{24}), reinterpret_cast<void*>(std::uintptr_t{3}), nullptr};
  CUmodule module = nullptr;
  ASSERT_SUCCESS(CU(cuModuleLoadDataEx)(&module, kKernels, 3, options, values));
  std::memcpy(&time, &values[2], sizeof time);
  EXPECT_GE(time, 0);
  CUfunction function = nullptr;
  ASSERT_SUCCESS(CU(cuModuleGetFunction)(&function, module, "increment"));
  int registers = 0;
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  EXPECT_GT(registers, 0);
  EXPECT_LE(registers, 24);
  EXPECT_SUCCESS(CU(cuModuleUnload)(module));
}

TEST_F(Module, OptionsThatMakeNoSenseAreRefused) {
  CUmodule module = nullptr;
  CUjit_option option = CU_JIT_NUM_OPTIONS;
  void* value = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuModuleLoadDataEx)(&module, kKernels, 1, &option, &value));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuModuleLoadDataEx)(&module, kKernels, 1, nullptr, nullptr));
}

TEST_F(Module, BadInstructionIsInTheErrorLogWithItsLine) {
  std::string log;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_PTX, load(".version 7.0\n.target sm_75\n.address_size 64\n"
                                                 ".visible .entry k() {\n  frobnicate.u32 %r1, 1;\n  ret;\n}\n",
                                                 log));
  EXPECT_NE(log.find("line 5"), std::string::npos) << log;
}

TEST_F(Module, AFunctionThatIsNowhereDefinedIsNamed) {
  std::string log;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_PTX,
                    load(".version 7.0\n.target sm_75\n.address_size 64\n.extern .func elsewhere();\n"
                         ".visible .entry k() {\n  call.uni elsewhere, ();\n  ret;\n}\n",
                         log));
  EXPECT_NE(log.find("elsewhere"), std::string::npos) << log;
}

// A function that calls itself and waits for others.
constexpr const char* kWaitingRecursion = R"(.version 7.0
.target sm_75
.address_size 64
.func waiting(.param .u32 depth) {
  .reg .pred %p;
  .reg .b32 %r<3>;
  .param .u32 next;
  ld.param.u32 %r1, [depth];
  setp.eq.u32 %p, %r1, 0;
  @%p ret;
  sub.u32 %r2, %r1, 1;
  st.param.u32 [next], %r2;
  call.uni waiting, (next);
  bar.sync 0;
  ret;
}
.visible .entry k() {
  .param .u32 depth;
  st.param.u32 [depth], 3;
  call.uni waiting, (depth);
  ret;
}
)";

TEST_F(Module, AFunctionThatCallsItselfMayWaitForOtherThreads) {
  const TestModule module(kWaitingRecursion);
  EXPECT_SUCCESS(launch(module.function("k"), 2, 64, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
}

// One that ends its thread at the bottom: what is behind the call is not reached.
TEST_F(Module, AFunctionThatCallsItselfMayEndItsThread) {
  std::string ptx = kWaitingRecursion;
  ptx.replace(ptx.find("  @%p ret;"), 10, "  @%p exit;");
  ptx.replace(ptx.find("  bar.sync 0;\n"), 14, "");
  ptx.replace(ptx.find("k() {"), 5, "k(.param .u64 p) {\n  .reg .b64 %rd;");
  ptx.replace(ptx.rfind("  ret;"), 6, "  ld.param.u64 %rd, [p];\n  st.global.u32 [%rd], 1;\n  ret;");
  const TestModule module(ptx.c_str());
  const DeviceMemory out(4);
  ASSERT_SUCCESS(CU(cuMemsetD32)(out.get(), 7, 1));
  ASSERT_SUCCESS(launch(module.function("k"), 1, 1, nullptr, out.get()));
  int value = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, out.get(), 4));
  EXPECT_EQ(value, 7);
}

TEST_F(Module, AsynchronousCopiesOfOddSizesAreRefused) {
  std::string log;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_PTX,
                    load(".version 7.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 s[16];\n"
                         ".visible .entry k(.param .u64 p) {\n  .reg .b64 %rd;\n  ld.param.u64 %rd, [p];\n"
                         "  cp.async.ca.shared.global [s], [%rd], 5;\n  ret;\n}\n",
                         log));
  EXPECT_NE(log.find("line 8"), std::string::npos) << log;
}

TEST_F(Module, TruncatedTextIsRefused) {
  std::string log;
  const std::string whole = kKernels;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_PTX, load(whole.substr(0, whole.size() / 2).c_str(), log));
  EXPECT_FALSE(log.empty());
}

TEST_F(Module, GarbageIsRefused) {
  CUmodule module = nullptr;
  EXPECT_NE(CU(cuModuleLoadData)(&module, "\1\2\3 neither text nor a fatbin"), CUDA_SUCCESS);
  EXPECT_NE(CU(cuModuleLoadData)(&module, "this is no PTX"), CUDA_SUCCESS);
  EXPECT_CUDA_ERROR(CUDA_ERROR_FILE_NOT_FOUND, CU(cuModuleLoad)(&module, "/no/such/file.ptx"));
}

TEST_F(Module, UnloadedOneAndItsKernelsAreGone) {
  CUmodule module = nullptr;
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module, kKernels));
  ASSERT_SUCCESS(CU(cuModuleUnload)(module));
  if (!is_softgpu()) return;  // what a GPU's driver makes of dead handles is not specified
  CUfunction function = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_HANDLE, CU(cuModuleGetFunction)(&function, module, "increment"));
}

class Library : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_SUCCESS(CU(cuLibraryLoadData)(&library_, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  void TearDown() override {
    EXPECT_SUCCESS(CU(cuLibraryUnload)(library_));
    DriverTest::TearDown();
  }
  CUkernel kernel(const char* name) {
    CUkernel found = nullptr;
    EXPECT_SUCCESS(CU(cuLibraryGetKernel)(&found, library_, name));
    return found;
  }
  CUlibrary library_ = nullptr;
};

TEST_F(Library, FindsAndEnumeratesKernels) {
  unsigned count = 0;
  ASSERT_SUCCESS(CU(cuLibraryGetKernelCount)(&count, library_));
  EXPECT_EQ(count, 9u);
  const char* name = nullptr;
  ASSERT_SUCCESS(CU(cuKernelGetName)(&name, kernel("reverse")));
  EXPECT_STREQ(name, "reverse");
  CUkernel missing = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuLibraryGetKernel)(&missing, library_, "no_such_kernel"));
}

TEST_F(Library, KernelCanBeLaunchedLikeAFunction) {
  const DeviceMemory memory(400);
  ASSERT_SUCCESS(CU(cuMemsetD32)(memory.get(), 1, 100));
  ASSERT_SUCCESS(launch(reinterpret_cast<CUfunction>(kernel("increment")), 4, 32, nullptr, memory.get(), 100));
  int last = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&last, memory.get() + 396, 4));
  EXPECT_EQ(last, 2);
}

TEST_F(Library, KernelHasAFunctionInTheContext) {
  CUfunction function = nullptr;
  ASSERT_SUCCESS(CU(cuKernelGetFunction)(&function, kernel("increment")));
  CUmodule module = nullptr, of_library = nullptr;
  ASSERT_SUCCESS(CU(cuFuncGetModule)(&module, function));
  ASSERT_SUCCESS(CU(cuLibraryGetModule)(&of_library, library_));
  EXPECT_EQ(module, of_library);
}

TEST_F(Library, AttributesAreSetForADevice) {
  int value = 0;
  ASSERT_SUCCESS(
      CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000, kernel("reverse"), device_));
  ASSERT_SUCCESS(
      CU(cuKernelGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel("reverse"), device_));
  EXPECT_EQ(value, 60000);
}

TEST_F(Library, SymbolsAreFound) {
  CUdeviceptr counter = 0;
  size_t bytes = 0;
  ASSERT_SUCCESS(CU(cuLibraryGetGlobal)(&counter, &bytes, library_, "counter"));
  EXPECT_EQ(bytes, 4u);
  int value = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&value, counter, 4));
  EXPECT_EQ(value, 41);
}

}  // namespace
}  // namespace conformance
