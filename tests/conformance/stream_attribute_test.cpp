// What streams and launches can be given beside work: attributes, priorities, host functions, primary contexts.
#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

class StreamAttribute : public DriverTest {
 protected:
  static CUstreamAttrValue get(CUstream stream, CUstreamAttrID which) {
    CUstreamAttrValue value{};
    EXPECT_SUCCESS(CU(cuStreamGetAttribute)(stream, which, &value));
    return value;
  }
};

TEST_F(StreamAttribute, SynchronisationPolicyIsKept) {
  const TestStream stream;
  CUstreamAttrValue value = get(stream.get(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
  int unset = 0;  // no value of the enumeration
  std::memcpy(&unset, &value.syncPolicy, sizeof unset);
  EXPECT_EQ(unset, -1) << "the context's is used";
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  ASSERT_SUCCESS(CU(cuStreamSetAttribute)(stream.get(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT_EQ(get(stream.get(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy, CU_SYNC_POLICY_YIELD);
}

TEST_F(StreamAttribute, MemorySynchronisationDomainIsKept) {
  const TestStream stream;
  EXPECT_EQ(get(stream.get(), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
  CUstreamAttrValue value{};
  value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
  ASSERT_SUCCESS(CU(cuStreamSetAttribute)(stream.get(), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
  EXPECT_EQ(get(stream.get(), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

TEST_F(StreamAttribute, PriorityIsOneOfThem) {
  CUstream stream = nullptr;
  ASSERT_SUCCESS(CU(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, -1));
  EXPECT_EQ(get(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority, -1);
  EXPECT_SUCCESS(CU(cuStreamDestroy)(stream));
}

TEST_F(StreamAttribute, AreCopied) {
  const TestStream from, to;
  CUstreamAttrValue value{};
  value.syncPolicy = CU_SYNC_POLICY_SPIN;
  ASSERT_SUCCESS(CU(cuStreamSetAttribute)(from.get(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  ASSERT_SUCCESS(CU(cuStreamCopyAttributes)(to.get(), from.get()));
  EXPECT_EQ(get(to.get(), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY).syncPolicy, CU_SYNC_POLICY_SPIN);
}

TEST_F(StreamAttribute, UnknownOnesAreRefused) {
  const TestStream stream;
  CUstreamAttrValue value{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuStreamGetAttribute)(stream.get(), CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
}

TEST_F(StreamAttribute, StreamsKnowWhereTheyAre) {
  const TestStream stream;
  CUdevice device = -1;
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuStreamGetDevice)(stream.get(), &device));
  EXPECT_EQ(device, device_);
  ASSERT_SUCCESS(CU(cuStreamGetCtx)(nullptr, &context));
  EXPECT_EQ(context, context_);
  ASSERT_SUCCESS(CU(cuStreamGetCtx)(CU_STREAM_PER_THREAD, &context));
  EXPECT_EQ(context, context_);
}

TEST_F(StreamAttribute, IdsOfDefaultStreamsDiffer) {
  unsigned long long legacy = 0, named = 0, per_thread = 0, elsewhere = 0;
  ASSERT_SUCCESS(CU(cuStreamGetId)(nullptr, &legacy));
  ASSERT_SUCCESS(CU(cuStreamGetId)(CU_STREAM_LEGACY, &named));
  ASSERT_SUCCESS(CU(cuStreamGetId)(CU_STREAM_PER_THREAD, &per_thread));
  EXPECT_EQ(legacy, named);
  EXPECT_NE(legacy, per_thread);
  std::thread([&] {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(context_));
    EXPECT_SUCCESS(CU(cuStreamGetId)(CU_STREAM_PER_THREAD, &elsewhere));
  }).join();
  EXPECT_NE(elsewhere, per_thread);
}

class LaunchAttribute : public DriverTest, public testing::WithParamInterface<CUlaunchAttribute> {
 protected:
  static CUlaunchAttribute with(CUlaunchAttributeID id, auto set) {
    CUlaunchAttribute attribute{};
    attribute.id = id;
    set(attribute.value);
    return attribute;
  }

 public:
  static CUlaunchAttribute priority() {
    return with(CU_LAUNCH_ATTRIBUTE_PRIORITY, [](auto& v) { v.priority = -1; });
  }
  static CUlaunchAttribute serialization() {
    return with(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                [](auto& v) { v.programmaticStreamSerializationAllowed = 1; });
  }
  static CUlaunchAttribute domain() {
    return with(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
                [](auto& v) { v.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT; });
  }
  static CUlaunchAttribute cooperative() {
    return with(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](auto& v) { v.cooperative = 1; });
  }
  static CUlaunchAttribute nothing() {
    return with(CU_LAUNCH_ATTRIBUTE_IGNORE, [](auto&) {});
  }
};

TEST_P(LaunchAttribute, DoesNotChangeTheResult) {
  CUlaunchAttribute attribute = GetParam();
  const TestModule module(kKernels);
  const TestStream stream;
  const DeviceMemory memory(128);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 1, 32, stream.get()));
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream.get();
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUdeviceptr pointer = memory.get();
  int n = 32, value = 0;
  void* parameters[] = {&pointer, &n};
  for (int i = 0; i < 3; ++i)
    ASSERT_SUCCESS(CU(cuLaunchKernelEx)(&config, module.function("increment"), parameters, nullptr));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(&value, memory.get() + 124, 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(value, 4);
}

INSTANTIATE_TEST_SUITE_P(Each, LaunchAttribute,
                         testing::Values(LaunchAttribute::priority(), LaunchAttribute::serialization(),
                                         LaunchAttribute::domain(), LaunchAttribute::cooperative(),
                                         LaunchAttribute::nothing()));

using HostFunction = DriverTest;

struct Refusals {
  CUresult allocate = CUDA_SUCCESS, count_devices = CUDA_SUCCESS, get_context = CUDA_SUCCESS,
           set_context = CUDA_SUCCESS;
};

// A GPU's driver lets some calls through, which may wait for the function itself then.
TEST_F(HostFunction, CallsOfTheDriverAreNotPermitted) {
  const TestStream stream;
  Refusals refusals;
  const auto call = [](void* data) {
    auto& r = *static_cast<Refusals*>(data);
    CUdeviceptr pointer = 0;
    CUcontext context = nullptr;
    int count = 0;
    r.allocate = CU(cuMemAlloc)(&pointer, 64);
    r.count_devices = CU(cuDeviceGetCount)(&count);
    r.get_context = CU(cuCtxGetCurrent)(&context);
    r.set_context = CU(cuCtxSetCurrent)(nullptr);
  };
  ASSERT_SUCCESS(CU(cuLaunchHostFunc)(stream.get(), call, &refusals));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, refusals.allocate);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, refusals.count_devices);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, refusals.get_context);
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, refusals.set_context);
}

TEST_F(HostFunction, CallbacksMayNotCallEither) {
  const TestStream stream;
  CUresult result = CUDA_SUCCESS;
  const auto callback = [](CUstream, CUresult, void* data) {
    CUdeviceptr pointer = 0;
    *static_cast<CUresult*>(data) = CU(cuMemAlloc)(&pointer, 64);
  };
  ASSERT_SUCCESS(CU(cuStreamAddCallback)(stream.get(), callback, &result, 0));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_PERMITTED, result);
}

TEST_F(HostFunction, SeesWhatAKernelWroteBefore) {
  const TestStream stream;
  const TestModule module(kKernels);
  const PinnedMemory<int> memory(1);
  int seen = 0;
  struct Data {
    int* from;
    int* to;
  } data{memory.data(), &seen};
  ASSERT_SUCCESS(launch(module.function("store_to"), 1, 1, stream.get(), memory.device()));
  ASSERT_SUCCESS(CU(cuLaunchHostFunc)(
      stream.get(), [](void* d) { *static_cast<Data*>(d)->to = *static_cast<Data*>(d)->from; }, &data));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(seen, 1);
}

TEST_F(HostFunction, HoldsWhatComesAfterIt) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> memory(1);
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.device(), 1, 1, stream.get()));
  EXPECT_EQ(memory[0], 0);
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(memory[0], 1);
}

using PrimaryContext = DriverTest;

TEST_F(PrimaryContext, LivesFromTheFirstRetainToTheLastRelease) {
  unsigned flags = 0;
  int active = 0;
  CUcontext again = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&again, device_));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&again, device_));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRelease)(device_));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRelease)(device_));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxGetState)(device_, &flags, &active));
  EXPECT_EQ(active, 1) << "retained by the test itself";
  EXPECT_EQ(again, context_);
}

TEST_F(PrimaryContext, CantBeDestroyed) { EXPECT_NE(CU(cuCtxDestroy)(context_), CUDA_SUCCESS); }

TEST_F(PrimaryContext, FlagsAreKept) {
  unsigned before = 0, flags = 0;
  int active = 0;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxGetState)(device_, &before, &active));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxSetFlags)(device_, CU_CTX_SCHED_YIELD));
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxGetState)(device_, &flags, &active));
  EXPECT_EQ(flags & CU_CTX_SCHED_MASK, static_cast<unsigned>(CU_CTX_SCHED_YIELD));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDevicePrimaryCtxSetFlags)(device_, 0x10000));
  EXPECT_SUCCESS(CU(cuDevicePrimaryCtxSetFlags)(device_, before & CU_CTX_SCHED_MASK));
}

}  // namespace
}  // namespace conformance
