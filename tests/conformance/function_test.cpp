// Kernels as functions of a module and as kernels of a library: attributes, loading, options.
#include <cstdint>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"

namespace conformance {
namespace {

class Functions : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_SUCCESS(CU(cuLibraryLoadData)(&library_, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASSERT_SUCCESS(CU(cuLibraryGetKernel)(&kernel_, library_, "reverse"));
    ASSERT_SUCCESS(CU(cuKernelGetFunction)(&function_, kernel_));
  }
  void TearDown() override {
    EXPECT_SUCCESS(CU(cuLibraryUnload)(library_));
    DriverTest::TearDown();
  }

  int of_kernel(CUfunction_attribute attribute) {
    int value = -77;
    EXPECT_SUCCESS(CU(cuKernelGetAttribute)(&value, attribute, kernel_, device_));
    return value;
  }
  int of_function(CUfunction_attribute attribute) {
    int value = -77;
    EXPECT_SUCCESS(CU(cuFuncGetAttribute)(&value, attribute, function_));
    return value;
  }
  CUresult load(std::vector<CUlibraryOption> options, void* value) {
    std::vector<void*> values(options.size(), value);
    CUlibrary library = nullptr;
    const CUresult result = CU(cuLibraryLoadData)(&library, kKernels, nullptr, nullptr, 0, options.data(),
                                                  values.data(), static_cast<unsigned>(options.size()));
    if (result == CUDA_SUCCESS) CU(cuLibraryUnload)(library);
    return result;
  }

  CUlibrary library_ = nullptr;
  CUkernel kernel_ = nullptr;
  CUfunction function_ = nullptr;
};

constexpr auto kDynamicShared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;

TEST_F(Functions, AttributesOfKernelAndFunctionAgree) {
  for (int attribute = 0; attribute < CU_FUNC_ATTRIBUTE_MAX; ++attribute) {
    const auto which = static_cast<CUfunction_attribute>(attribute);
    EXPECT_EQ(of_kernel(which), of_function(which)) << attribute;
  }
  EXPECT_EQ(of_kernel(kDynamicShared), 48 * 1024);
  EXPECT_EQ(of_kernel(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT), -1);
  EXPECT_EQ(of_kernel(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
}

TEST_F(Functions, KernelAttributesReachItsFunctions) {
  ASSERT_SUCCESS(CU(cuKernelSetAttribute)(kDynamicShared, 50000, kernel_, device_));
  EXPECT_EQ(of_function(kDynamicShared), 50000);
}

TEST_F(Functions, WhatIsSetForAFunctionComesFirst) {
  ASSERT_SUCCESS(CU(cuFuncSetAttribute)(function_, kDynamicShared, 60000));
  ASSERT_SUCCESS(CU(cuKernelSetAttribute)(kDynamicShared, 50000, kernel_, device_));
  EXPECT_EQ(of_function(kDynamicShared), 60000);
  EXPECT_EQ(of_kernel(kDynamicShared), 50000) << "the kernel's own";
}

TEST_F(Functions, AttributesAreChecked) {
  int opt_in = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&opt_in, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device_));
  EXPECT_SUCCESS(CU(cuKernelSetAttribute)(kDynamicShared, opt_in, kernel_, device_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuKernelSetAttribute)(kDynamicShared, opt_in + 1, kernel_, device_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuKernelSetAttribute)(CU_FUNC_ATTRIBUTE_NUM_REGS, 32, kernel_, device_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuFuncSetAttribute)(function_, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 32));
  int value = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX, function_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetAttribute)(nullptr, kDynamicShared, function_));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_DEVICE, CU(cuKernelGetAttribute)(&value, kDynamicShared, kernel_, 4711));
}

TEST_F(Functions, ClustersOfCompiledKernelsAreFixed) {
  int major = 0;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
  if (major < 9) GTEST_SKIP() << "clusters came with compute capability 9.0";
  const TestModule module(
      ".version 7.8\n.target sm_90\n.address_size 64\n"
      ".visible .entry k() .explicitcluster .reqnctapercluster 2, 1, 1 { ret; }");
  const CUfunction function = module.function("k");
  int width = 0;
  ASSERT_SUCCESS(CU(cuFuncGetAttribute)(&width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, function));
  EXPECT_EQ(width, 2);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuFuncSetAttribute)(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  EXPECT_SUCCESS(launch(function, 2, 32, nullptr));
}

TEST_F(Functions, EnumeratedOnesAreLoadedWhenAsked) {
  const TestModule module(kKernels);
  unsigned count = 0;
  ASSERT_SUCCESS(CU(cuModuleGetFunctionCount)(&count, module.get()));
  std::vector<CUfunction> functions(count);
  ASSERT_SUCCESS(CU(cuModuleEnumerateFunctions)(functions.data(), count, module.get()));
  CUmoduleLoadingMode mode{};
  ASSERT_SUCCESS(CU(cuModuleGetLoadingMode)(&mode));
  CUfunctionLoadingState state{};
  int threads = 0;
  ASSERT_SUCCESS(CU(cuFuncIsLoaded)(&state, functions[0]));
  if (mode == CU_MODULE_LAZY_LOADING && state == CU_FUNCTION_LOADING_STATE_UNLOADED) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_FUNCTION_NOT_LOADED,
                      CU(cuFuncGetAttribute)(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, functions[0]));
  }
  ASSERT_SUCCESS(CU(cuFuncLoad)(functions[0]));
  ASSERT_SUCCESS(CU(cuFuncIsLoaded)(&state, functions[0]));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
  EXPECT_SUCCESS(CU(cuFuncGetAttribute)(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, functions[0]));
  ASSERT_SUCCESS(CU(cuFuncIsLoaded)(&state, module.function("increment")));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED) << "asked for by name";
}

TEST_F(Functions, DISABLED_AreLoadedFromTheStart) {
  CUmoduleLoadingMode mode{};
  ASSERT_SUCCESS(CU(cuModuleGetLoadingMode)(&mode));
  EXPECT_EQ(mode, CU_MODULE_EAGER_LOADING);
  const TestModule module(kKernels);
  CUfunction first = nullptr;
  ASSERT_SUCCESS(CU(cuModuleEnumerateFunctions)(&first, 1, module.get()));
  CUfunctionLoadingState state{};
  ASSERT_SUCCESS(CU(cuFuncIsLoaded)(&state, first));
  EXPECT_EQ(state, CU_FUNCTION_LOADING_STATE_LOADED);
}

TEST(ModuleLoading, IsEagerWhenTheEnvironmentSaysSo) {
  EXPECT_EQ(run_in_child("Functions.DISABLED_AreLoadedFromTheStart", {"CUDA_MODULE_LOADING=EAGER"}), 0);
}

TEST_F(Functions, CacheConfigurationsAreTaken) {
  EXPECT_SUCCESS(CU(cuFuncSetCacheConfig)(function_, CU_FUNC_CACHE_PREFER_L1));
  EXPECT_SUCCESS(CU(cuKernelSetCacheConfig)(kernel_, CU_FUNC_CACHE_PREFER_EQUAL, device_));
}

TEST_F(Functions, KernelsKnowTheirLibraryAndParameters) {
  CUlibrary owner = nullptr;
  ASSERT_SUCCESS(CU(cuKernelGetLibrary)(&owner, kernel_));
  EXPECT_EQ(owner, library_);
  size_t offset = 9, size = 9;
  ASSERT_SUCCESS(CU(cuKernelGetParamInfo)(kernel_, 0, &offset, &size));
  EXPECT_EQ(offset, 0u);
  EXPECT_EQ(size, 8u);
  ASSERT_SUCCESS(CU(cuKernelGetParamInfo)(kernel_, 0, &offset, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuKernelGetParamInfo)(kernel_, 1, &offset, &size));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, CU(cuKernelGetParamInfo)(kernel_, 0, &offset, &size));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
}

TEST_F(Functions, LibrariesTakeOptions) {
  EXPECT_SUCCESS(load({CU_LIBRARY_BINARY_IS_PRESERVED}, reinterpret_cast<void*>(std::uintptr_t{1})));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, load({CU_LIBRARY_NUM_OPTIONS}, nullptr));
  CUlibraryOption preserved = CU_LIBRARY_BINARY_IS_PRESERVED;
  void* value = reinterpret_cast<void*>(std::uintptr_t{1});
  CUlibrary library = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_IMAGE,
                    CU(cuLibraryLoadFromFile)(&library, "/dev/null", nullptr, nullptr, 0, &preserved, &value, 1));
}

TEST_F(Functions, WhatALibraryLacksIsNotFound) {
  CUdeviceptr pointer = 0;
  size_t bytes = 0;
  void* unified = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuLibraryGetGlobal)(&pointer, &bytes, library_, "nothing"));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND, CU(cuLibraryGetManaged)(&pointer, &bytes, library_, "counter"))
      << "it is not managed";
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLibraryGetUnifiedFunction)(&unified, library_, "nothing"));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuLibraryGetGlobal)(&pointer, &bytes, library_, nullptr));
  CUmodule module = nullptr;
  ASSERT_SUCCESS(CU(cuLibraryGetModule)(&module, library_));
  using GetTexture = CUresult (*)(CUtexref*, CUmodule, const char*);
  using GetSurface = CUresult (*)(CUsurfref*, CUmodule, const char*);
  CUtexref texture = nullptr;
  CUsurfref surface = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND,
                    reinterpret_cast<GetTexture>(symbol("cuModuleGetTexRef"))(&texture, module, "nothing"));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_FOUND,
                    reinterpret_cast<GetSurface>(symbol("cuModuleGetSurfRef"))(&surface, module, "nothing"));
}

TEST_F(Functions, ManagedVariablesOfALibraryAreTheSameInAllContexts) {
  static constexpr const char* kManaged =
      ".version 7.0\n.target sm_75\n.address_size 64\n"
      ".visible .global .attribute(.managed) .align 4 .u32 shared = 5;\n.visible .global .align 4 .u32 own = 6;\n";
  CUlibrary library = nullptr;
  ASSERT_SUCCESS(CU(cuLibraryLoadData)(&library, kManaged, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr managed = 0, own = 0, managed_again = 0, own_again = 0;
  size_t bytes = 0;
  ASSERT_SUCCESS(CU(cuLibraryGetGlobal)(&own, nullptr, library, "own"));
  ASSERT_SUCCESS(CU(cuLibraryGetManaged)(&managed, &bytes, library, "shared"));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 5) << "the host can read it";
  *reinterpret_cast<int*>(managed) = 7;

  CUcontext other = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&other, nullptr, 0, device_));
  ASSERT_SUCCESS(CU(cuLibraryGetGlobal)(&own_again, nullptr, library, "own"));
  ASSERT_SUCCESS(CU(cuLibraryGetManaged)(&managed_again, nullptr, library, "shared"));
  EXPECT_EQ(managed_again, managed);
  EXPECT_NE(own_again, own);
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 7) << "initialised once";
  ASSERT_SUCCESS(CU(cuCtxDestroy)(other));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context_));
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 7);
  EXPECT_SUCCESS(CU(cuLibraryUnload)(library));
}

TEST_F(Functions, EnumeratingFillsTheRoomThereIs) {
  std::vector<CUkernel> kernels(20, nullptr);
  ASSERT_SUCCESS(CU(cuLibraryEnumerateKernels)(kernels.data(), 3, library_));
  EXPECT_NE(kernels[2], nullptr);
  EXPECT_EQ(kernels[3], nullptr);
}

// As programs of CUDA 3 launch.
TEST_F(Functions, LaunchIsPutTogetherPieceByPiece) {
  const auto set_block = reinterpret_cast<CUresult (*)(CUfunction, int, int, int)>(symbol("cuFuncSetBlockShape"));
  const auto set_size = reinterpret_cast<CUresult (*)(CUfunction, unsigned)>(symbol("cuParamSetSize"));
  const auto set_shared = reinterpret_cast<CUresult (*)(CUfunction, unsigned)>(symbol("cuFuncSetSharedSize"));
  const auto set_value = reinterpret_cast<CUresult (*)(CUfunction, int, void*, unsigned)>(symbol("cuParamSetv"));
  const auto set_int = reinterpret_cast<CUresult (*)(CUfunction, int, unsigned)>(symbol("cuParamSeti"));
  const auto start = reinterpret_cast<CUresult (*)(CUfunction, int, int)>(symbol("cuLaunchGrid"));
  const TestModule module(kKernels);
  const CUfunction add = module.function("add_value");
  const DeviceMemory memory(400);
  CUdeviceptr pointer = memory.get();
  ASSERT_SUCCESS(CU(cuMemsetD32)(pointer, 1, 100));
  ASSERT_SUCCESS(set_block(add, 32, 1, 1));
  ASSERT_SUCCESS(set_shared(add, 0));
  ASSERT_SUCCESS(set_value(add, 0, &pointer, sizeof pointer));
  ASSERT_SUCCESS(set_int(add, 8, 100));
  ASSERT_SUCCESS(set_int(add, 12, 41));
  ASSERT_SUCCESS(set_size(add, 16));
  ASSERT_SUCCESS(start(add, 4, 1));
  int last = 0;
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&last, pointer + 396, 4));
  EXPECT_EQ(last, 42);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, set_block(add, 0, 1, 1));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, start(add, 0, 1));
}

}  // namespace
}  // namespace conformance
