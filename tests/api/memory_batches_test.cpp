#include <array>
#include <cuprum/driver.hpp>

#include "api/changed_api.hpp"
#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/gate.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CopyBatchTest : public ApiTest {
 protected:
  static constexpr std::size_t count = 4;

  std::vector<Buffer> device_buffers(int first_value) {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(device.allocate(1024 * (i + 1), stream));
      buffers.back().fill<int>(first_value + static_cast<int>(i), stream);
    }
    return buffers;
  }

  std::vector<Buffer> pinned_buffers(int first_value) {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < count; ++i) {
      buffers.push_back(PinnedMemoryResource().allocate(1024 * (i + 1), stream));
      for (int& value : buffers.back().as_span<int>()) value = first_value + static_cast<int>(i);
    }
    return buffers;
  }

  void expect_values(const std::vector<Buffer>& buffers, int first_value) {
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_EQ(download<int>(buffers[i], stream),
                std::vector<int>(buffers[i].size() / sizeof(int), first_value + static_cast<int>(i)));
    }
  }

  Stream stream = device.create_stream();
};

TEST_F(CopyBatchTest, FromDeviceToDevice) {
  const auto from = device_buffers(10);
  const auto to = device_buffers(0);
  copy_batch(stream, from, to);
  expect_values(to, 10);
}

TEST_F(CopyBatchTest, FromHostToDevice) {
  const auto from = pinned_buffers(20);
  const auto to = device_buffers(0);
  copy_batch(stream, from, to);
  expect_values(to, 20);
}

TEST_F(CopyBatchTest, FromDeviceToHost) {
  const auto from = device_buffers(30);
  const auto to = pinned_buffers(0);
  copy_batch(stream, from, to);
  expect_values(to, 30);
}

TEST_F(CopyBatchTest, OfOne) {
  Buffer from = upload(numbers(64), stream);
  Buffer to = device.allocate(from.size(), stream);
  copy_batch(stream, {from}, {to});
  EXPECT_EQ(download<float>(to, stream), numbers(64));
}

TEST_F(CopyBatchTest, TakesListsAndRanges) {
  const auto from = device_buffers(40);
  const auto to = device_buffers(0);
  copy_batch(stream, {from[0], from[1]}, {to[0], to[1]});
  copy_batch(stream, std::span(from).subspan(2), std::array{to[2], to[3]});
  expect_values(to, 40);
}

TEST_F(CopyBatchTest, IsOrderedAmongTheWorkOfTheStream) {
  const auto from = device_buffers(0);
  const auto to = device_buffers(0);
  {
    Gate gate(stream);
    for (std::size_t i = 0; i < count; ++i) from[i].fill<int>(50 + static_cast<int>(i), stream);
    copy_batch(stream, from, to);
    for (const Buffer& buffer : from) buffer.fill<int>(0, stream);
  }
  expect_values(to, 50);
}

class CopyBatchOrderTest : public CopyBatchTest, public ::testing::WithParamInterface<MemcpySrcAccessOrder> {};

TEST_P(CopyBatchOrderTest, CopiesWhatIsThere) {
  const auto from = pinned_buffers(60);
  const auto to = device_buffers(0);
  stream.sync();
  copy_batch(stream, from, to, {.src_access_order = GetParam()});
  expect_values(to, 60);
}

INSTANTIATE_TEST_SUITE_P(All, CopyBatchOrderTest,
                         ::testing::Values(MemcpySrcAccessOrder::stream, MemcpySrcAccessOrder::during_api_call,
                                           MemcpySrcAccessOrder::any));

TEST_F(CopyBatchTest, DuringTheCallReadsTheSourceBeforeItReturns) {
  const auto from = pinned_buffers(70);
  const auto to = device_buffers(0);
  stream.sync();
  copy_batch(stream, from, to, {.src_access_order = MemcpySrcAccessOrder::during_api_call});
  for (const Buffer& buffer : from) {
    for (int& value : buffer.as_span<int>()) value = 0;
  }
  expect_values(to, 70);
}

TEST_F(CopyBatchTest, WithOptionsForEach) {
  const auto from = pinned_buffers(80);
  const auto to = device_buffers(0);
  stream.sync();
  const std::vector<CopyOptions> options = {{},
                                            {.src_access_order = MemcpySrcAccessOrder::any},
                                            {.src_access_order = MemcpySrcAccessOrder::during_api_call},
                                            {.overlap_mode = MemcpyOverlapMode::prefer_overlap_with_compute}};
  copy_batch(stream, from, to, options);
  expect_values(to, 80);
}

TEST_F(CopyBatchTest, WithLocationHints) {
  if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "needs concurrent managed access";
  ManagedMemoryResource managed;
  const std::vector<ManagedBuffer> from = {managed.allocate(1024, stream), managed.allocate(1024, stream)};
  const std::vector<ManagedBuffer> to = {managed.allocate(1024, stream), managed.allocate(1024, stream)};
  for (const ManagedBuffer& buffer : from) buffer.fill<int>(5, stream);
  for (const Host& host : {Host(), Host(0), Host::numa_current()}) {
    copy_batch(stream, from, to, {.src_location_hint = host, .dst_location_hint = device});
    EXPECT_EQ(download<int>(to[1], stream), std::vector<int>(256, 5));
  }
}

TEST_F(CopyBatchTest, OnThePerThreadDefaultStream) {
  const auto from = device_buffers(90);
  const auto to = device_buffers(0);
  stream.sync();
  copy_batch(Stream::per_thread_default(), from, to);
  Stream::per_thread_default().sync();
  expect_values(to, 90);
}

TEST_F(CopyBatchTest, RefusesTheLegacyDefaultStream) {
  const auto buffers = device_buffers(0);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(device.default_stream(), buffers, buffers); }),
              HasSubstr("copy_batch can't be put into the legacy default stream"));
}

TEST_F(CopyBatchTest, RefusesAnEmptyBatch) {
  const auto buffers = device_buffers(0);
  const std::vector<Buffer> none;
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, none, none); }), HasSubstr("no buffer in the batch"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, buffers, none); }), HasSubstr("no buffer"));
}

TEST_F(CopyBatchTest, RefusesDifferentNumbers) {
  const auto buffers = device_buffers(0);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, buffers, {buffers[0]}); }),
              HasSubstr("copy_batch: 4 sources, but 1 destinations"));
}

TEST_F(CopyBatchTest, RefusesDifferentSizes) {
  const auto from = device_buffers(1);
  auto to = device_buffers(0);
  std::swap(to[1], to[2]);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, from, to); }),
              HasSubstr("copy number 1 is of 2048 bytes to a destination of 3072 bytes"));
  EXPECT_EQ(download<int>(to[0], stream).front(), 0) << "nothing was copied";
}

TEST_F(CopyBatchTest, RefusesAnotherNumberOfOptions) {
  const auto buffers = device_buffers(0);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, buffers, buffers, std::vector<CopyOptions>(3)); }),
              HasSubstr("copy_batch: 4 copies, but 3 options"));
}

TEST_F(CopyBatchTest, RefusesAClosedBuffer) {
  const auto from = device_buffers(0);
  auto to = device_buffers(0);
  to[3].close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy_batch(stream, from, to); }), HasSubstr("this buffer is closed"));
}

struct SeenBatch {
  std::size_t copies = 0;
  std::vector<CUmemcpySrcAccessOrder> orders;
  std::vector<std::size_t> starts;
};
SeenBatch seen_batch;

TEST_F(CopyBatchTest, TellsTheDriverEqualOptionsOnce) {
  const auto from = device_buffers(1);
  const auto to = device_buffers(0);
  ChangedApi api;
  seen_batch = {};
  api.table.cuMemcpyBatchAsync.function = [](CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t copies,
                                             CUmemcpyAttributes* attributes, size_t* starts, size_t runs,
                                             CUstream queue) {
    seen_batch.copies = copies;
    seen_batch.starts.assign(starts, starts + runs);
    for (size_t i = 0; i < runs; ++i) seen_batch.orders.push_back(attributes[i].srcAccessOrder);
    return ChangedApi::real->cuMemcpyBatchAsync(dsts, srcs, sizes, copies, attributes, starts, runs, queue);
  };
  copy_batch(stream, from, to, {.src_access_order = MemcpySrcAccessOrder::any});
  EXPECT_EQ(seen_batch.copies, 4u);
  EXPECT_THAT(seen_batch.starts, ElementsAre(0));
  EXPECT_THAT(seen_batch.orders, ElementsAre(CU_MEMCPY_SRC_ACCESS_ORDER_ANY));
  seen_batch = {};
  const CopyOptions ordered;
  const CopyOptions any{.src_access_order = MemcpySrcAccessOrder::any};
  copy_batch(stream, from, to, std::vector<CopyOptions>{ordered, any, any, ordered});
  EXPECT_THAT(seen_batch.starts, ElementsAre(0, 1, 3));
  expect_values(to, 1);
}

TEST_F(CopyBatchTest, CopiesOneByOneWithADriverBeforeCuda13) {
  const auto from = device_buffers(5);
  const auto to = device_buffers(0);
  ChangedApi api;
  api.table.cuMemcpyBatchAsync.function = nullptr;
  copy_batch(stream, from, to, {.src_access_order = MemcpySrcAccessOrder::any});
  expect_values(to, 5);
}

TEST_F(CopyBatchTest, NeedsCuda13ToReadDuringTheCall) {
  const auto from = device_buffers(5);
  const auto to = device_buffers(0);
  ChangedApi api;
  api.table.cuMemcpyBatchAsync.function = nullptr;
  std::vector<CopyOptions> options(count);
  options[2].src_access_order = MemcpySrcAccessOrder::during_api_call;
  EXPECT_THAT(error_of<NotSupported>([&] { copy_batch(stream, from, to, options); }),
              AllOf(HasSubstr("copy_batch: copy number 2 with MemcpySrcAccessOrder::during_api_call"),
                    HasSubstr("CUDA 13.0 or newer")));
  expect_values(to, 0);
}

class CopyOptionsTest : public CopyBatchTest {};

TEST_F(CopyOptionsTest, AreEqualByValue) {
  EXPECT_EQ(CopyOptions{}, CopyOptions{});
  EXPECT_NE(CopyOptions{}, CopyOptions{.src_access_order = MemcpySrcAccessOrder::any});
  EXPECT_NE(CopyOptions{}, CopyOptions{.dst_location_hint = Host()});
}

TEST_F(CopyOptionsTest, DoNotChangeWhatArrives) {
  Buffer from = upload(numbers(256), stream);
  Buffer to = device.allocate(from.size(), stream);
  for (MemcpySrcAccessOrder order : {MemcpySrcAccessOrder::stream, MemcpySrcAccessOrder::any}) {
    for (MemcpyOverlapMode mode : {MemcpyOverlapMode::default_mode, MemcpyOverlapMode::prefer_overlap_with_compute}) {
      to.fill<float>(0.0f, stream);
      to.copy_from(from, stream, {.src_access_order = order, .overlap_mode = mode});
      EXPECT_EQ(download<float>(to, stream), numbers(256));
      to.fill<float>(0.0f, stream);
      EXPECT_EQ(from.copy_to(to, stream, {.src_access_order = order, .overlap_mode = mode}), to);
      EXPECT_EQ(download<float>(to, stream), numbers(256));
    }
  }
}

TEST_F(CopyOptionsTest, GoWithACopyToANewBuffer) {
  Buffer from = upload(numbers(64), stream);
  Buffer copy = from.copy_to(stream, {.src_access_order = MemcpySrcAccessOrder::any});
  EXPECT_NE(copy, from);
  EXPECT_EQ(download<float>(copy, stream), numbers(64));
}

TEST_F(CopyOptionsTest, AreCheckedLikeAnyCopy) {
  Buffer small = device.allocate(64, stream);
  Buffer large = device.allocate(128, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { small.copy_from(large, stream, CopyOptions{}); }),
              HasSubstr("too small"));
}

TEST_F(CopyOptionsTest, AreRefusedForTheLegacyDefaultStream) {
  Buffer from = device.allocate(64, stream);
  Buffer to = device.allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { to.copy_from(from, device.default_stream(), CopyOptions{}); }),
              HasSubstr("a copy with options can't be put into the legacy default stream"));
}

TEST_F(CopyOptionsTest, AreTakenForThePerThreadDefaultStream) {
  Buffer from = upload(numbers(64), stream);
  Buffer to = device.allocate(from.size(), stream);
  stream.sync();
  to.copy_from(from, Stream::per_thread_default(), CopyOptions{});
  Stream::per_thread_default().sync();
  EXPECT_EQ(download<float>(to, stream), numbers(64));
}

TEST_F(CopyOptionsTest, NeedCuda132ToReadDuringTheCall) {
  ChangedApi api;
  api.table.cuMemcpyWithAttributesAsync.function = nullptr;
  Buffer from = device.allocate(64, stream);
  Buffer to = device.allocate(64, stream);
  EXPECT_THAT(error_of<NotSupported>(
                  [&] { to.copy_from(from, stream, {.src_access_order = MemcpySrcAccessOrder::during_api_call}); }),
              AllOf(HasSubstr("a copy with MemcpySrcAccessOrder::during_api_call"), HasSubstr("CUDA 13.2 or newer")));
}

CUmemcpyAttributes seen_attributes;

TEST_F(CopyOptionsTest, ReachADriverThatKnowsThem) {
  Buffer from = upload(numbers(64), stream);
  Buffer to = device.allocate(from.size(), stream);
  ChangedApi api;
  api.table.cuMemcpyWithAttributesAsync.function = [](CUdeviceptr dst, CUdeviceptr src, size_t size,
                                                      CUmemcpyAttributes* attributes, CUstream queue) {
    seen_attributes = *attributes;
    return ChangedApi::real->cuMemcpyAsync(dst, src, size, queue);
  };
  to.copy_from(from, stream,
               {.src_access_order = MemcpySrcAccessOrder::during_api_call,
                .src_location_hint = Host(2),
                .dst_location_hint = device,
                .overlap_mode = MemcpyOverlapMode::prefer_overlap_with_compute});
  EXPECT_EQ(seen_attributes.srcAccessOrder, CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL);
  EXPECT_EQ(seen_attributes.srcLocHint.type, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(seen_attributes.srcLocHint.id, 2);
  EXPECT_EQ(seen_attributes.dstLocHint.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(seen_attributes.flags, static_cast<unsigned>(CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE));
  EXPECT_EQ(download<float>(to, stream), numbers(64));
}

class CaptureTest : public CopyBatchTest {
 protected:
  /// What `statement` throws while the stream is being captured.
  template <typename Statement>
  std::string refusal(Statement statement) {
    EXPECT_EQ(driver::api().cuStreamBeginCapture(stream.handle(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    const std::string message = error_of<InvalidArgument>(statement);
    CUgraph graph = nullptr;
    driver::api().cuStreamEndCapture(stream.handle(), &graph);
    if (graph) driver::api().cuGraphDestroy(graph);
    return message;
  }
};

TEST_F(CaptureTest, RefusesCopiesWithOptions) {
  Buffer from = device.allocate(64, stream);
  Buffer to = device.allocate(64, stream);
  const std::string message = refusal([&] { to.copy_from(from, stream, CopyOptions{}); });
  EXPECT_THAT(message, HasSubstr("a copy with options can't be captured into a graph"));
}

TEST_F(CaptureTest, RefusesBatches) {
  Buffer from = device.allocate(64, stream);
  Buffer to = device.allocate(64, stream);
  const std::string message = refusal([&] { copy_batch(stream, {from}, {to}); });
  EXPECT_THAT(message, HasSubstr("copy_batch can't be captured into a graph"));
}

class ManagedBatchTest : public ApiTest {
 protected:
  void SetUp() override {
    if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "needs concurrent managed access";
    ManagedMemoryResource managed;
    for (int i = 0; i < 3; ++i) {
      buffers.push_back(managed.allocate(1 << 16, stream));
      buffers.back().fill<int>(i, stream);
    }
  }
  void expect_contents() {
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(download<int>(buffers[static_cast<std::size_t>(i)], stream), std::vector<int>(1 << 14, i));
    }
  }
  Stream stream = device.create_stream();
  std::vector<ManagedBuffer> buffers;
};

TEST_F(ManagedBatchTest, PrefetchesToOnePlace) {
  prefetch_batch(stream, buffers, device);
  prefetch_batch(stream, buffers, Host());
  expect_contents();
}

TEST_F(ManagedBatchTest, PrefetchesToAPlaceForEach) {
  prefetch_batch(stream, buffers, {device, Host(), Host(0)});
  expect_contents();
  prefetch_batch(stream, {buffers[0], buffers[1]}, std::vector<Location>{Host::numa_current(), device});
  expect_contents();
}

TEST_F(ManagedBatchTest, DiscardsAndIsWrittenAgain) {
  discard_batch(stream, buffers);
  for (int i = 0; i < 3; ++i) buffers[static_cast<std::size_t>(i)].fill<int>(i, stream);
  expect_contents();
}

TEST_F(ManagedBatchTest, DiscardsAndPrefetches) {
  discard_prefetch_batch(stream, buffers, device);
  discard_prefetch_batch(stream, buffers, {Host(), device, Host()});
  for (int i = 0; i < 3; ++i) buffers[static_cast<std::size_t>(i)].fill<int>(i, stream);
  expect_contents();
}

TEST_F(ManagedBatchTest, RefusesEmptyBatches) {
  const std::vector<ManagedBuffer> none;
  EXPECT_THAT(error_of<InvalidArgument>([&] { prefetch_batch(stream, none, device); }),
              HasSubstr("prefetch_batch: there is no buffer"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { discard_batch(stream, none); }), HasSubstr("discard_batch: "));
  EXPECT_THAT(error_of<InvalidArgument>([&] { discard_prefetch_batch(stream, none, device); }),
              HasSubstr("discard_prefetch_batch: "));
}

TEST_F(ManagedBatchTest, RefusesAnotherNumberOfPlaces) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { prefetch_batch(stream, buffers, {device, Host()}); }),
              HasSubstr("prefetch_batch: 3 buffers, but 2 locations"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { discard_prefetch_batch(stream, buffers, {device, Host()}); }),
              HasSubstr("discard_prefetch_batch: 3 buffers, but 2 locations"));
}

TEST_F(ManagedBatchTest, RefusesOtherMemory) {
  Buffer plain = device.allocate(64, stream);
  const std::vector<Buffer> mixed = {buffers[0], plain};
  const auto refused = AllOf(HasSubstr("a buffer of 64 bytes"), HasSubstr("is not managed memory"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { prefetch_batch(stream, mixed, device); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { discard_batch(stream, mixed); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { discard_prefetch_batch(stream, mixed, device); }), refused);
}

TEST_F(ManagedBatchTest, PrefetchesOneByOneWithADriverBeforeCuda13) {
  ChangedApi api;
  api.table.cuMemPrefetchBatchAsync.function = nullptr;
  prefetch_batch(stream, buffers, {device, Host(), device});
  expect_contents();
}

TEST_F(ManagedBatchTest, DiscardingNeedsCuda13) {
  ChangedApi api;
  api.table.cuMemDiscardBatchAsync.function = nullptr;
  api.table.cuMemDiscardAndPrefetchBatchAsync.function = nullptr;
  EXPECT_THAT(error_of<NotSupported>([&] { discard_batch(stream, buffers); }), HasSubstr("CUDA 13.0 or newer"));
  EXPECT_THAT(error_of<NotSupported>([&] { buffers[0].discard(stream); }), HasSubstr("cuMemDiscardBatchAsync"));
  EXPECT_THAT(error_of<NotSupported>([&] { discard_prefetch_batch(stream, buffers, device); }),
              HasSubstr("cuMemDiscardAndPrefetchBatchAsync"));
}

}  // namespace
}  // namespace cuprum::tests
