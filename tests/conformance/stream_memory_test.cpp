// Streams that wait for values in memory and write them.
#include <atomic>
#include <cstdint>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

class StreamMemory : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int wide = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&wide, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device_));
    if (wide == 0) GTEST_SKIP() << "the device has no 64-bit memory operations in streams";
  }
  // Lets the wait come true whatever the test has found, so that nothing is left waiting.
  template <typename T>
  static void put(T& place, T value) {
    std::atomic_ref(place).store(value, std::memory_order_release);
  }
};

TEST_F(StreamMemory, WritesInItsTurn) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint32_t> narrow(1);
  const PinnedMemory<std::uint64_t> wide(1);
  {
    Gate gate(stream.get());
    ASSERT_SUCCESS(CU(cuStreamWriteValue32)(stream.get(), narrow.device(), 7, 0));
    ASSERT_SUCCESS(CU(cuStreamWriteValue64)(stream.get(), wide.device(), std::uint64_t{1} << 40, 0));
    EXPECT_EQ(narrow[0], 0u);
    EXPECT_EQ(wide[0], 0u);
  }
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(narrow[0], 7u);
  EXPECT_EQ(wide[0], std::uint64_t{1} << 40);
}

TEST_F(StreamMemory, WaitsForTheHostToWrite) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint32_t> flag(1), result(1);
  ASSERT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), 3, CU_STREAM_WAIT_VALUE_EQ));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(result.device(), 9, 1, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  EXPECT_EQ(result[0], 0u);
  put(flag[0], 3u);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 9u);
}

TEST_F(StreamMemory, WaitsForAnotherStreamToWrite) {
  const TestStream a(CU_STREAM_NON_BLOCKING), b(CU_STREAM_NON_BLOCKING);
  const DeviceMemory flag(8);
  ASSERT_SUCCESS(CU(cuMemsetD32)(flag.get(), 0, 2));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  ASSERT_SUCCESS(CU(cuStreamWaitValue64)(b.get(), flag.get(), 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(b.get()));
  ASSERT_SUCCESS(CU(cuStreamWriteValue64)(a.get(), flag.get(), 6, 0));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(b.get()));
}

TEST_F(StreamMemory, WhatHoldsAlreadyIsNotWaitedFor) {
  const TestStream stream;
  const PinnedMemory<std::uint32_t> flag(1);
  flag[0] = 5;
  EXPECT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), 4, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), 5, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), 12, CU_STREAM_WAIT_VALUE_AND));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

struct Comparison {
  unsigned flags;
  std::uint32_t value, not_yet, then;
};

class StreamWait : public StreamMemory, public testing::WithParamInterface<Comparison> {};

TEST_P(StreamWait, HoldsWhenItsComparisonDoes) {
  const auto [flags, value, not_yet, then] = GetParam();
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint32_t> flag(1);
  flag[0] = not_yet;
  ASSERT_SUCCESS(CU(cuStreamWaitValue32)(stream.get(), flag.device(), value, flags));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  put(flag[0], then);
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

INSTANTIATE_TEST_SUITE_P(Comparisons, StreamWait,
                         testing::Values(Comparison{CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
                                         Comparison{CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 7},
                                         Comparison{CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffe, 0xfffffff0, 1},
                                         Comparison{CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
                                         Comparison{CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0x0000ffff, 0x00007fff}));

TEST_F(StreamMemory, BatchesDoTheirOperationsInOrder) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<std::uint32_t> flag(1), first(1), second(1);
  CUstreamBatchMemOpParams operations[3] = {};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = first.device();
  operations[0].writeValue.value = 1;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = flag.device();
  operations[1].waitValue.value = 1;
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[2].writeValue.address = second.device();
  operations[2].writeValue.value = 2;
  ASSERT_SUCCESS(CU(cuStreamBatchMemOp)(stream.get(), 3, operations, 0));
  while (std::atomic_ref(first[0]).load(std::memory_order_acquire) == 0) std::this_thread::yield();
  EXPECT_EQ(second[0], 0u);
  put(flag[0], 1u);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(second[0], 2u);
}

TEST_F(StreamMemory, BadRequestsAreRefused) {
  const TestStream stream;
  const PinnedMemory<std::uint64_t> memory(2);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWriteValue32)(stream.get(), memory.device() + 2, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWriteValue64)(stream.get(), memory.device() + 4, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWaitValue32)(stream.get(), 0, 0, 0));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuStreamWaitValue32)(stream.get(), memory.device(), 0, 0x10));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
}

}  // namespace
}  // namespace conformance
