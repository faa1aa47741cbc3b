// Batches of copies.
#include <numeric>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/gate.hpp"

namespace conformance {
namespace {

CUdeviceptr pointer_to(void* host) { return reinterpret_cast<CUdeviceptr>(host); }

CUmemcpyAttributes order(CUmemcpySrcAccessOrder when) {
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = when;
  return attributes;
}

class CopyBatch : public DriverTest {
 protected:
  static constexpr std::size_t kBytes = 4096;

  void SetUp() override {
    DriverTest::SetUp();
    int version = 0;
    ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
    if (version < 13000) GTEST_SKIP() << "the driver is older than CUDA 13";
  }

  CUresult copy(std::vector<CUdeviceptr> to, std::vector<CUdeviceptr> from, std::vector<size_t> sizes,
                std::vector<CUmemcpyAttributes> attributes, std::vector<size_t> starts, CUstream stream) {
    return CU(cuMemcpyBatchAsync)(to.data(), from.data(), sizes.data(), sizes.size(), attributes.data(), starts.data(),
                                  attributes.size(), stream);
  }
  CUresult copy(CUdeviceptr to, CUdeviceptr from, CUmemcpyAttributes attributes, CUstream stream,
                std::size_t bytes = kBytes) {
    return copy({to}, {from}, {bytes}, {attributes}, {0}, stream);
  }
};

const CUmemcpyAttributes kInStream = order(CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
const CUmemcpyAttributes kDuringCall = order(CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
const CUmemcpyAttributes kAnyTime = order(CU_MEMCPY_SRC_ACCESS_ORDER_ANY);

TEST_F(CopyBatch, DoesAllItsCopies) {
  const TestStream stream;
  const PinnedMemory<int> a(1024), b(1024), c(2048);
  const DeviceMemory x(kBytes), y(kBytes);
  std::iota(a.data(), a.data() + 1024, 0);
  std::iota(b.data(), b.data() + 1024, 5000);
  ASSERT_SUCCESS(copy({x.get(), y.get()}, {a.device(), b.device()}, {kBytes, kBytes}, {kInStream}, {0}, stream.get()));
  ASSERT_SUCCESS(copy({pointer_to(c.data()), pointer_to(c.data() + 1024)}, {y.get(), x.get()}, {kBytes, kBytes},
                      {kInStream}, {0}, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (int i = 0; i < 1024; ++i) {
    ASSERT_EQ(c[i], 5000 + i);
    ASSERT_EQ(c[1024 + i], i);
  }
}

TEST_F(CopyBatch, IsOneStepOfItsStream) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> out(1024);
  const DeviceMemory x(kBytes), y(kBytes);
  Gate gate(stream.get());
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(x.get(), 3, 1024, stream.get()));
  ASSERT_SUCCESS(copy(y.get(), x.get(), kInStream, stream.get()));
  ASSERT_SUCCESS(copy(out.device(), y.get(), kInStream, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_READY, CU(cuStreamQuery)(stream.get()));
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(out[1023], 3);
}

TEST_F(CopyBatch, SourcesReadInStreamOrderSeeWhatIsWrittenBefore) {
  const TestStream stream(CU_STREAM_NON_BLOCKING);
  const PinnedMemory<int> source(1), result(1);
  const DeviceMemory memory(4);
  source[0] = 1;
  Gate gate(stream.get());
  ASSERT_SUCCESS(copy(memory.get(), source.device(), kInStream, stream.get(), 4));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), memory.get(), 4, stream.get()));
  source[0] = 2;
  gate.open();
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(result[0], 2);
}

TEST_F(CopyBatch, SourcesReadDuringTheCallMayChangeAfterwards) {
  const TestStream stream;
  const DeviceMemory memory(kBytes);
  std::vector<int> source(1024, 1), result(1024);
  ASSERT_SUCCESS(copy(memory.get(), pointer_to(source.data()), kDuringCall, stream.get()));
  std::fill(source.begin(), source.end(), 2);
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(result.data(), memory.get(), kBytes));
  EXPECT_EQ(result, std::vector<int>(1024, 1));
}

TEST_F(CopyBatch, SourcesReadAtAnyTimeStayUntilTheStreamIsDone) {
  const TestStream stream;
  const DeviceMemory memory(kBytes);
  std::vector<int> source(1024, 6), result(1024);
  ASSERT_SUCCESS(copy(memory.get(), pointer_to(source.data()), kAnyTime, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(result.data(), memory.get(), kBytes));
  EXPECT_EQ(result, source);
}

TEST_F(CopyBatch, RunsOfCopiesHaveTheirAttributes) {
  const TestStream stream;
  const PinnedMemory<int> source(3), result(3);
  const DeviceMemory memory(12);
  for (int i = 0; i < 3; ++i) source[i] = 10 + i;
  CUmemcpyAttributes overlapping = kInStream;
  overlapping.flags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  ASSERT_SUCCESS(copy({memory.get(), memory.get() + 4, memory.get() + 8},
                      {source.device(), source.device() + 4, source.device() + 8}, {4, 4, 4}, {kAnyTime, overlapping},
                      {0, 2}, stream.get()));
  ASSERT_SUCCESS(CU(cuMemcpyDtoHAsync)(result.data(), memory.get(), 12, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(result[i], 10 + i);
}

TEST_F(CopyBatch, AttributesHaveToCoverTheBatchInOrder) {
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  const std::vector<CUdeviceptr> to = {a.get(), a.get() + 8}, from = {b.get(), b.get() + 8};
  const std::vector<size_t> sizes = {8, 8};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(to, from, sizes, {}, {}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(to, from, sizes, {kInStream}, {1}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(to, from, sizes, {kInStream, kInStream}, {0, 0}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(to, from, sizes, {kInStream, kInStream}, {0, 2}, stream.get()));
}

TEST_F(CopyBatch, EveryCopySaysWhenItsSourceIsRead) {
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(a.get(), b.get(), CUmemcpyAttributes{}, stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    copy(a.get(), b.get(), order(static_cast<CUmemcpySrcAccessOrder>(9)), stream.get()));
}

TEST_F(CopyBatch, UnknownFlagsAreRefused) {
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  CUmemcpyAttributes attributes = kInStream;
  attributes.flags = 0x100;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(a.get(), b.get(), attributes, stream.get()));
}

TEST_F(CopyBatch, TheLegacyDefaultStreamTakesNone) {
  const DeviceMemory a(kBytes), b(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(a.get(), b.get(), kInStream, nullptr));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy(a.get(), b.get(), kInStream, CU_STREAM_LEGACY));
}

TEST_F(CopyBatch, ThePerThreadDefaultStreamDoes) {
  const DeviceMemory a(kBytes), b(kBytes);
  EXPECT_SUCCESS(copy(a.get(), b.get(), kInStream, CU_STREAM_PER_THREAD));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(CU_STREAM_PER_THREAD));
}

TEST_F(CopyBatch, EmptyBatchesAreRefused) {
  const TestStream stream;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, copy({}, {}, {}, {kInStream}, {0}, stream.get()));
}

TEST_F(CopyBatch, HintsOfLocationsAreAccepted) {
  const TestStream stream;
  CUdeviceptr managed = 0;
  ASSERT_SUCCESS(CU(cuMemAllocManaged)(&managed, kBytes, CU_MEM_ATTACH_GLOBAL));
  const DeviceMemory memory(kBytes);
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(memory.get(), 4, 1024, stream.get()));
  CUmemcpyAttributes attributes = kInStream;
  attributes.srcLocHint.type = CU_MEM_LOCATION_TYPE_DEVICE;
  attributes.srcLocHint.id = device_;
  attributes.dstLocHint.type = CU_MEM_LOCATION_TYPE_HOST;
  ASSERT_SUCCESS(copy(managed, memory.get(), attributes, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(*reinterpret_cast<int*>(managed), 4);
  EXPECT_SUCCESS(CU(cuMemFree)(managed));
}

TEST_F(CopyBatch, OldFormNamesTheCopyThatFailed) {
  using Batch = CUresult (*)(CUdeviceptr*, CUdeviceptr*, size_t*, size_t, CUmemcpyAttributes*, size_t*, size_t, size_t*,
                             CUstream);
  void* address = nullptr;
  ASSERT_SUCCESS(CU(cuGetProcAddress)("cuMemcpyBatchAsync", &address, 12080, 0, nullptr));
  const auto batch = reinterpret_cast<Batch>(address);
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  CUdeviceptr to[] = {a.get(), a.get() + 8}, from[] = {b.get(), b.get() + 8};
  size_t sizes[] = {8, 8}, start = 0, failed = 77;
  CUmemcpyAttributes attributes = kInStream;
  EXPECT_SUCCESS(batch(to, from, sizes, 2, &attributes, &start, 1, &failed, stream.get()));
  failed = 77;
  start = 1;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, batch(to, from, sizes, 2, &attributes, &start, 1, &failed, stream.get()));
  EXPECT_EQ(failed, SIZE_MAX) << "no copy's fault";
}

class CopyBatch3D : public CopyBatch {
 protected:
  static CUmemcpy3DOperand operand(CUdeviceptr pointer, std::size_t row = 0, std::size_t height = 0) {
    CUmemcpy3DOperand result{};
    result.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    result.op.ptr.ptr = pointer;
    result.op.ptr.rowLength = row;
    result.op.ptr.layerHeight = height;
    return result;
  }
  static CUDA_MEMCPY3D_BATCH_OP request(CUmemcpy3DOperand to, CUmemcpy3DOperand from, std::size_t width,
                                        std::size_t height, std::size_t depth) {
    CUDA_MEMCPY3D_BATCH_OP result{};
    result.dst = to;
    result.src = from;
    result.extent = {width, height, depth};
    result.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    return result;
  }
  CUresult run(CUDA_MEMCPY3D_BATCH_OP op, CUstream stream, unsigned long long flags = 0) {
    return CU(cuMemcpy3DBatchAsync)(1, &op, flags, stream);
  }
};

TEST_F(CopyBatch3D, CopiesVolumesBetweenLayouts) {
  const TestStream stream;
  constexpr std::size_t kWidth = 5, kHeight = 3, kDepth = 2, kRow = 8, kRows = 4;
  const PinnedMemory<unsigned char> packed(kWidth * kHeight * kDepth), result(kWidth * kHeight * kDepth);
  std::iota(packed.data(), packed.data() + kWidth * kHeight * kDepth, static_cast<unsigned char>(1));
  const DeviceMemory wide(kRow * kRows * kDepth);
  ASSERT_SUCCESS(CU(cuMemsetD8Async)(wide.get(), 0, kRow * kRows * kDepth, stream.get()));
  CUDA_MEMCPY3D_BATCH_OP there =
      request(operand(wide.get(), kRow, kRows), operand(packed.device()), kWidth, kHeight, kDepth);
  ASSERT_SUCCESS(run(there, stream.get()));
  ASSERT_SUCCESS(
      run(request(operand(result.device()), operand(wide.get(), kRow, kRows), kWidth, kHeight, kDepth), stream.get()));
  unsigned char at = 77;
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  for (std::size_t i = 0; i < kWidth * kHeight * kDepth; ++i) ASSERT_EQ(result[i], i + 1);
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&at, wide.get() + kRow * kRows + 2 * kRow + 4, 1));
  EXPECT_EQ(at, 30) << "the last of the volume";
  ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&at, wide.get() + 5, 1));
  EXPECT_EQ(at, 0) << "behind a row";
}

TEST_F(CopyBatch3D, RefusesBadShapes) {
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, run(request(operand(a.get()), operand(b.get()), 0, 1, 1), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, run(request(operand(a.get()), operand(b.get()), 8, 0, 1), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, run(request(operand(a.get()), operand(b.get()), 8, 1, 0), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    run(request(operand(a.get(), 7), operand(b.get()), 8, 2, 1), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    run(request(operand(a.get(), 8, 1), operand(b.get()), 8, 2, 2), stream.get()));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    run(request(operand(a.get()), operand(b.get()), 8, 1, 1), stream.get(), 1));
}

TEST_F(CopyBatch3D, NeedsASourceOrderAndARealStream) {
  const TestStream stream;
  const DeviceMemory a(kBytes), b(kBytes);
  CUDA_MEMCPY3D_BATCH_OP op = request(operand(a.get()), operand(b.get()), 8, 1, 1);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, run(op, nullptr));
  op.srcAccessOrder = static_cast<CUmemcpySrcAccessOrder>(0);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, run(op, stream.get()));
}

}  // namespace
}  // namespace conformance
