// One behaviour for all memory resources.
#include <cuprum/driver.hpp>
#include <set>
#include <thread>

#include "api/gate.hpp"
#include "api/memory_kinds.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class MemoryResourceTest : public ApiTest, public ::testing::WithParamInterface<MemoryKind> {
 protected:
  void SetUp() override {
    try {
      GetParam().make(device);
    } catch (const NotSupported& error) {
      GTEST_SKIP() << error.what();
    }
  }
  MemoryResource make() { return GetParam().make(device); }

  Stream stream = device.create_stream();
};

TEST_P(MemoryResourceTest, GivesMemoryThatHoldsWhatIsCopiedToIt) {
  MemoryResource resource = make();
  for (std::size_t count : {1u, 3u, 1000u, 1u << 20}) {
    const std::vector<float> values = numbers(count);
    Buffer buffer = resource.allocate(count * sizeof(float), stream);
    buffer.copy_from(std::span(values), stream);
    EXPECT_EQ(download<float>(buffer, stream), values) << count;
  }
}

TEST_P(MemoryResourceTest, GivesDisjointBuffers) {
  MemoryResource resource = make();
  std::vector<Buffer> buffers;
  for (int i = 0; i < 20; ++i) {
    buffers.push_back(resource.allocate(1000 * sizeof(int), stream));
    buffers.back().fill<int>(i, stream);
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(download<int>(buffers[static_cast<std::size_t>(i)], stream), std::vector<int>(1000, i));
  }
}

TEST_P(MemoryResourceTest, GivesTheSizeThatWasAskedFor) {
  MemoryResource resource = make();
  for (std::size_t size : {1u, 7u, 4095u, 100'001u}) {
    Buffer buffer = resource.allocate(size, stream);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(buffer.handle() % 256, 0u) << "as cudaMalloc's memory is aligned";
  }
}

TEST_P(MemoryResourceTest, OfSizeZeroHasNoMemory) {
  MemoryResource resource = make();
  Buffer buffer = resource.allocate(0, stream);
  EXPECT_EQ(buffer.size(), 0u);
  EXPECT_EQ(buffer.handle(), 0u);
  EXPECT_EQ(buffer.memory_resource(), resource);
  buffer.fill<std::uint8_t>(1, stream);
  EXPECT_EQ(buffer.copy_to(stream).size(), 0u);
}

TEST_P(MemoryResourceTest, SaysWhoCanAccessIt) {
  MemoryResource resource = make();
  EXPECT_TRUE(resource.is_device_accessible());
  EXPECT_EQ(resource.is_host_accessible(), GetParam().on_host);
  EXPECT_EQ(resource.is_managed(), GetParam().is_managed);
  EXPECT_EQ(resource.device_id(), GetParam().on_device ? std::optional(0) : std::nullopt);
}

TEST_P(MemoryResourceTest, ItsBuffersSayTheSame) {
  MemoryResource resource = make();
  Buffer buffer = resource.allocate(64, stream);
  EXPECT_EQ(buffer.is_device_accessible(), resource.is_device_accessible());
  EXPECT_EQ(buffer.is_host_accessible(), resource.is_host_accessible());
  EXPECT_EQ(buffer.is_managed(), resource.is_managed());
  EXPECT_EQ(buffer.device_id(), resource.device_id());
  EXPECT_EQ(buffer.memory_resource(), resource);
  EXPECT_EQ(buffer.owner(), nullptr);
  EXPECT_FALSE(buffer.is_mapped());
}

TEST_P(MemoryResourceTest, IsKeptAliveByItsBuffers) {
  Buffer buffer = make().allocate(64, stream);
  buffer.fill<int>(5, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 5));
}

TEST_P(MemoryResourceTest, CanBeUsedByAKernel) {
  Kernel scale = compile(scale_source, "scale");
  Buffer buffer = make().allocate(100 * sizeof(float), stream);
  buffer.fill<float>(1.0f, stream);
  launch(stream, {.grid = 1, .block = 128}, scale, buffer, 4.0f, std::size_t{100});
  EXPECT_EQ(download<float>(buffer, stream), std::vector<float>(100, 4.0f));
}

TEST_P(MemoryResourceTest, ReportsWhenThereIsNotEnough) {
  MemoryResource resource = make();
  const std::size_t too_much = std::size_t{1} << 50;
  const std::string message = error_of<OutOfMemory>([&] { resource.allocate(too_much, stream); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("allocating 1125899906842624 bytes of "), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
  EXPECT_EQ(resource.allocate(64, stream).size(), 64u);
}

TEST_P(MemoryResourceTest, CopiesToANewBufferOfItsOwn) {
  MemoryResource resource = make();
  Buffer buffer = resource.allocate(64, stream);
  buffer.fill<int>(7, stream);
  Buffer copy = buffer.copy_to(stream);
  EXPECT_NE(copy, buffer);
  EXPECT_EQ(copy.memory_resource(), resource);
  EXPECT_EQ(download<int>(copy, stream), std::vector<int>(16, 7));
}

TEST_P(MemoryResourceTest, ExchangesItsContentsWithDeviceMemory) {
  Buffer data = upload(numbers(1000), stream);
  Buffer buffer = make().allocate(data.size(), stream);
  buffer.copy_from(data, stream);
  data.fill<float>(0.0f, stream);
  buffer.copy_to(data, stream);
  EXPECT_EQ(download<float>(data, stream), numbers(1000));
}

TEST_P(MemoryResourceTest, FillsWithEachWidth) {
  Buffer buffer = make().allocate(64, stream);
  buffer.fill<std::uint8_t>(0xab, stream);
  EXPECT_THAT(download<std::uint8_t>(buffer, stream), Each(0xab));
  buffer.fill<std::int16_t>(-2, stream);
  EXPECT_THAT(download<std::int16_t>(buffer, stream), Each(-2));
  buffer.fill<float>(1.5f, stream);
  EXPECT_THAT(download<float>(buffer, stream), Each(1.5f));
}

TEST_P(MemoryResourceTest, OpensItsBuffersToTheHostIfItCanAccessThem) {
  Buffer buffer = make().allocate(64, stream);
  if (!GetParam().on_host) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { (void)buffer.as_span<int>(); }), HasSubstr("the host can't access"));
    return;
  }
  const std::span<int> values = buffer.as_span<int>();
  ASSERT_EQ(values.size(), 16u);
  for (int& value : values) value = 3;
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 3));
}

TEST_P(MemoryResourceTest, FreesABufferThatWorkStillUses) {
  Buffer result = device.allocate(4096, stream);
  Buffer buffer = make().allocate(4096, stream);
  buffer.fill<int>(9, stream);
  if (GetParam().is_ordered && !buffer.is_managed()) {
    Gate gate(stream);
    result.copy_from(buffer, stream);
    buffer.close();
  } else {  // would wait for the gate: managed memory that is on the host is copied when the stream gets there
    result.copy_from(buffer, stream);
    buffer.close();
  }
  EXPECT_THAT(download<int>(result, stream), Each(9));
}

TEST_P(MemoryResourceTest, FreesABufferAfterItsStreamWasClosed) {
  Stream own = device.create_stream();
  Buffer buffer = make().allocate(64, own);
  buffer.fill<int>(1, own);
  own.close();
  buffer.close();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_P(MemoryResourceTest, FreesABufferOnAThreadWithoutAContext) {
  auto buffer = std::make_unique<Buffer>(make().allocate(64, stream));
  std::thread([&] { buffer.reset(); }).join();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_P(MemoryResourceTest, WorksWithoutACurrentContext) {
  driver::call<&driver::Api::cuCtxSetCurrent>(nullptr);
  {
    Buffer buffer = make().allocate(64, stream);
    buffer.fill<int>(2, stream);
    EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 2));
  }
  CUcontext current = nullptr;
  driver::call<&driver::Api::cuCtxGetCurrent>(&current);
  EXPECT_EQ(current, nullptr);
}

TEST_P(MemoryResourceTest, WorksOnTheDefaultStreams) {
  MemoryResource resource = make();
  for (const Stream& queue : {Stream::legacy_default(), Stream::per_thread_default()}) {
    Buffer buffer = resource.allocate(64, queue);
    buffer.fill<int>(4, queue);
    EXPECT_EQ(download<int>(buffer, queue), std::vector<int>(16, 4));
  }
}

TEST_P(MemoryResourceTest, TakesBackMemoryWithoutABuffer) {
  MemoryResource resource = make();
  const DevicePointer pointer = resource.implementation()->allocate(4096, stream);
  EXPECT_NE(pointer, 0u);
  resource.deallocate(pointer, 4096, stream);
  resource.deallocate(0, 0, stream);
}

TEST_P(MemoryResourceTest, TakesOverAPointer) {
  MemoryResource resource = make();
  const DevicePointer pointer = resource.implementation()->allocate(64, stream);
  Buffer buffer = Buffer::from_handle(pointer, 64, resource, stream);
  EXPECT_EQ(buffer.handle(), pointer);
  EXPECT_EQ(buffer.memory_resource(), resource);
  buffer.fill<int>(6, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 6));
}

TEST_P(MemoryResourceTest, RefusesAClosedStream) {
  MemoryResource resource = make();
  Stream closed = device.create_stream();
  closed.close();
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource.allocate(64, closed); }), HasSubstr("this stream is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { resource.deallocate(0, 0, closed); }),
              HasSubstr("this stream is closed"));
}

TEST_P(MemoryResourceTest, IsUsedByManyThreads) {
  MemoryResource resource = make();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Stream own = device.create_stream();
      for (int i = 0; i < 20; ++i) {
        Buffer buffer = resource.allocate(256, own);
        buffer.fill<int>(t * 100 + i, own);
        EXPECT_EQ(download<int>(buffer, own), std::vector<int>(64, t * 100 + i));
      }
    });
  }
}

TEST_P(MemoryResourceTest, CanBeTheResourceOfADevice) {
  const MemoryResource before = device.memory_resource();
  device.set_memory_resource(make());
  EXPECT_EQ(device.allocate(64, stream).is_host_accessible(), GetParam().on_host);
  device.set_memory_resource(before);
  EXPECT_EQ(device.memory_resource(), before);
}

INSTANTIATE_TEST_SUITE_P(All, MemoryResourceTest, ::testing::ValuesIn(memory_kinds), kind_name);

class CustomMemoryTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  std::shared_ptr<CountingMemory> counting = std::make_shared<CountingMemory>(DeviceMemoryResource(device));
  MemoryResource resource{counting};
};

TEST_F(CustomMemoryTest, GetsBackWhatItGave) {
  Buffer first = resource.allocate(64, stream);
  Buffer second = resource.allocate(64, stream);
  EXPECT_EQ(counting->allocations, 2);
  first.close();
  EXPECT_EQ(counting->allocations, 1);
  second = Buffer::from_handle(0, 0);
  EXPECT_EQ(counting->allocations, 0);
}

TEST_F(CustomMemoryTest, IsToldTheStreamThatTheBufferIsFreedOn) {
  Stream other = device.create_stream();
  resource.allocate(64, stream).close();
  EXPECT_EQ(counting->freed_on, stream.handle());
  resource.allocate(64, stream).close(other);
  EXPECT_EQ(counting->freed_on, other.handle());
  Buffer buffer = resource.allocate(64, stream);
  buffer.set_deallocation_stream(other);
  buffer.close();
  EXPECT_EQ(counting->freed_on, other.handle());
}

TEST_F(CustomMemoryTest, IsToldTheStreamOfAPointerThatWasTakenOver) {
  {
    Buffer buffer = Buffer::from_handle(counting->allocate(64, stream), 64, resource, stream);
  }
  EXPECT_EQ(counting->freed_on, stream.handle());
  {
    Buffer buffer = Buffer::from_handle(counting->allocate(64, stream), 64, resource);
  }
  EXPECT_EQ(counting->freed_on, device.default_stream().handle());
}

TEST_F(CustomMemoryTest, IsNotAskedForNothing) {
  Buffer nothing = resource.allocate(0, stream);
  EXPECT_EQ(counting->allocations, 0);
}

TEST_F(CustomMemoryTest, IsNotManagedUnlessItSaysSo) { EXPECT_FALSE(resource.is_managed()); }

TEST_F(CustomMemoryTest, ThatThrowsWhenItFreesIsLogged) {
  struct Failing : CountingMemory {
    using CountingMemory::CountingMemory;
    void deallocate(DevicePointer pointer, std::size_t size, const Stream& queue) override {
      CountingMemory::deallocate(pointer, size, queue);
      throw std::runtime_error("out of order");
    }
  };
  std::string logged;
  LogHook before = set_log_hook([&](std::string_view line) { logged = line; });
  {
    Buffer buffer = MemoryResource(std::make_shared<Failing>(DeviceMemoryResource(device))).allocate(64, stream);
  }
  set_log_hook(before);
  EXPECT_EQ(logged, "freeing a buffer failed: out of order");
}

TEST_F(CustomMemoryTest, ThatThrowsNoExceptionWhenItFreesIsLogged) {
  struct Failing : CountingMemory {
    using CountingMemory::CountingMemory;
    void deallocate(DevicePointer pointer, std::size_t size, const Stream& queue) override {
      CountingMemory::deallocate(pointer, size, queue);
      throw 7;
    }
  };
  std::string logged;
  LogHook before = set_log_hook([&](std::string_view line) { logged = line; });
  {
    Buffer buffer = MemoryResource(std::make_shared<Failing>(DeviceMemoryResource(device))).allocate(64, stream);
  }
  set_log_hook(before);
  EXPECT_THAT(logged, HasSubstr("threw something that is not a std::exception"));
}

TEST_F(CustomMemoryTest, ThatIsNullIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([] { MemoryResource nothing(nullptr); }), HasSubstr("this one is null"));
}

TEST_F(CustomMemoryTest, OfTheLegacyPinnedResourceWorksWithoutAStream) {
  LegacyPinnedMemoryResource pinned;
  Buffer buffer = pinned.allocate(64);
  buffer.as_span<int>()[15] = 3;
  EXPECT_EQ(download<int>(buffer, stream).back(), 3);
  const DevicePointer pointer = pinned.implementation()->allocate(64, stream);
  pinned.deallocate(pointer, 64);
  pinned.deallocate(0, 0);
}

}  // namespace
}  // namespace cuprum::tests
