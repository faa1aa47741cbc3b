#include <thread>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

using Context = DriverTest;

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_SUCCESS(CU(cuCtxGetCurrent)(&context));
  return context;
}

TEST_F(Context, PrimaryOneKeepsItsHandle) {
  CUcontext again = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&again, device_));
  EXPECT_EQ(again, context_);
  EXPECT_SUCCESS(CU(cuDevicePrimaryCtxRelease)(device_));
  unsigned flags = 0;
  int active = 0;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxGetState)(device_, &flags, &active));
  EXPECT_EQ(active, 1);
}

TEST_F(Context, EachThreadHasItsOwnCurrentOne) {
  EXPECT_EQ(current(), context_);
  std::thread([] { EXPECT_EQ(current(), nullptr); }).join();
}

TEST_F(Context, StackPushesAndPops) {
  ASSERT_SUCCESS(CU(cuCtxPushCurrent)(context_));
  CUcontext popped = nullptr;
  ASSERT_SUCCESS(CU(cuCtxPopCurrent)(&popped));
  EXPECT_EQ(popped, context_);
  EXPECT_EQ(current(), context_);
}

TEST_F(Context, PoppingFromAnEmptyStackFails) {
  std::thread([] {
    CUcontext popped = nullptr;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxPopCurrent)(&popped));
  }).join();
}

TEST_F(Context, IsNeededToAllocate) {
  std::thread([] {
    CUdeviceptr pointer = 0;
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, CU(cuMemAlloc)(&pointer, 64));
  }).join();
}

TEST_F(Context, CreatedOneBecomesCurrentAndGoesWhenDestroyed) {
  CUcontext created = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&created, nullptr, 0, device_));
  EXPECT_EQ(current(), created);
  EXPECT_NE(created, context_);
  unsigned long long own = 0, other = 0;
  ASSERT_SUCCESS(CU(cuCtxGetId)(created, &own));
  ASSERT_SUCCESS(CU(cuCtxGetId)(context_, &other));
  EXPECT_NE(own, other);
  ASSERT_SUCCESS(CU(cuCtxDestroy)(created));
  EXPECT_EQ(current(), context_);
}

TEST_F(Context, MemoryOfADestroyedOneIsGone) {
  CUcontext created = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&created, nullptr, 0, device_));
  CUdeviceptr pointer = 0;
  ASSERT_SUCCESS(CU(cuMemAlloc)(&pointer, 4096));
  ASSERT_SUCCESS(CU(cuCtxDestroy)(created));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&created, pointer, sizeof created));
}

TEST_F(Context, KnowsItsDeviceAndLimits) {
  CUdevice device = -1;
  ASSERT_SUCCESS(CU(cuCtxGetDevice)(&device));
  EXPECT_EQ(device, device_);
  size_t stack = 0;
  ASSERT_SUCCESS(CU(cuCtxGetLimit)(&stack, CU_LIMIT_STACK_SIZE));
  ASSERT_SUCCESS(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, 4096));
  size_t changed = 0;
  ASSERT_SUCCESS(CU(cuCtxGetLimit)(&changed, CU_LIMIT_STACK_SIZE));
  EXPECT_EQ(changed, 4096u);
  ASSERT_SUCCESS(CU(cuCtxSetLimit)(CU_LIMIT_STACK_SIZE, stack));
}

TEST_F(Context, PriorityRangeHoldsTheDefault) {
  int least = -1, greatest = 1;
  ASSERT_SUCCESS(CU(cuCtxGetStreamPriorityRange)(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_LT(greatest, 0);
}

TEST_F(Context, Cuda13FormTakesTheContext) {
  int version = 0;
  ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
  if (version < 13000) GTEST_SKIP() << "the driver is older than CUDA 13";
  void* address = nullptr;
  ASSERT_SUCCESS(CU(cuGetProcAddress)("cuCtxSynchronize", &address, 13000, 0, nullptr));
  const auto synchronize = reinterpret_cast<CUresult (*)(CUcontext)>(address);
  std::thread([&] { EXPECT_SUCCESS(synchronize(context_)); }).join();
}

// The old way to count a context's users: deprecated, so that <cuda.h> warns of its use.
CUresult attach(CUcontext* context, unsigned flags) {
  return reinterpret_cast<CUresult (*)(CUcontext*, unsigned)>(symbol("cuCtxAttach"))(context, flags);
}
CUresult detach(CUcontext context) { return reinterpret_cast<CUresult (*)(CUcontext)>(symbol("cuCtxDetach"))(context); }

TEST(AttachedContext, GoesWithItsLastUser) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr, attached = nullptr, current = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&context, nullptr, 0, 0));
  ASSERT_SUCCESS(attach(&attached, 0));
  EXPECT_EQ(attached, context);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, attach(&attached, 1));
  ASSERT_SUCCESS(detach(context));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)()) << "somebody is still attached";
  ASSERT_SUCCESS(detach(context));
  ASSERT_SUCCESS(CU(cuCtxGetCurrent)(&current));
  EXPECT_EQ(current, nullptr);
  if (is_softgpu()) {
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, detach(context));
  }
}

TEST(AttachedContext, MustBeCurrentToBeDetached) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext first = nullptr, second = nullptr;
  ASSERT_SUCCESS(CU(cuCtxCreate)(&first, nullptr, 0, 0));
  ASSERT_SUCCESS(CU(cuCtxCreate)(&second, nullptr, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, detach(first));
  EXPECT_SUCCESS(detach(second));
  EXPECT_SUCCESS(detach(first));
}

}  // namespace
}  // namespace conformance
