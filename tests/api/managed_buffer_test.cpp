#include <cuprum/driver.hpp>
#include <limits>
#include <sstream>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "api/foreign_managed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ManagedBufferTest : public ApiTest {
 protected:
  static constexpr std::size_t size = 1 << 16;

  void SetUp() override {
    if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "needs concurrent managed access";
  }

  Stream stream = device.create_stream();
  std::shared_ptr<ForeignManaged> foreign = std::make_shared<ForeignManaged>(size);
  ManagedBuffer buffer = ManagedBuffer::from_handle(foreign->pointer, size, foreign);
};

TEST_F(ManagedBufferTest, ComesFromAManagedResource) {
  ManagedBuffer allocated = ManagedMemoryResource().allocate(size, stream);
  EXPECT_TRUE(allocated.is_managed());
  EXPECT_TRUE(allocated.is_host_accessible());
  EXPECT_TRUE(allocated.is_device_accessible());
  EXPECT_EQ(allocated.size(), size);
}

TEST_F(ManagedBufferTest, WrapsAPointer) {
  EXPECT_TRUE(buffer.is_managed());
  EXPECT_TRUE(buffer.is_host_accessible());
  EXPECT_TRUE(buffer.is_device_accessible());
  EXPECT_EQ(buffer.handle(), foreign->pointer);
  EXPECT_EQ(buffer.owner(), foreign);
  EXPECT_EQ(buffer.memory_resource(), std::nullopt);
}

TEST_F(ManagedBufferTest, CanBeMadeOfAManagedBuffer) {
  Buffer plain = buffer;
  ManagedBuffer again(plain);
  EXPECT_EQ(again, buffer);
  again.set_read_mostly(true);
  EXPECT_TRUE(buffer.read_mostly());
}

TEST_F(ManagedBufferTest, RefusesOtherMemory) {
  Buffer plain = device.allocate(64, stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { ManagedBuffer wrong(plain); }),
      AllOf(HasSubstr("a buffer of 64 bytes"), HasSubstr("is not managed memory"), HasSubstr("ManagedMemoryResource")));
}

TEST_F(ManagedBufferTest, OperationsRefuseOtherMemory) {
  Buffer plain = device.allocate(64, stream);
  const ManagedBuffer wrong = ManagedBuffer::from_handle(plain.handle(), plain.size());
  const auto refused = HasSubstr("is not managed memory");
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.set_read_mostly(true); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)wrong.read_mostly(); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.set_preferred_location(device); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)wrong.preferred_location(); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.accessed_by().add(device); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.prefetch(device, stream); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.discard(stream); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { wrong.discard_prefetch(device, stream); }), refused);
}

TEST_F(ManagedBufferTest, TakesOverAPointerOfAResource) {
  ManagedMemoryResource resource;
  const DevicePointer pointer = resource.implementation()->allocate(64, stream);
  ManagedBuffer taken = ManagedBuffer::from_handle(pointer, 64, resource, stream);
  EXPECT_EQ(taken.memory_resource(), resource);
  EXPECT_TRUE(taken.is_managed());
}

TEST_F(ManagedBufferTest, TakesOverAPointerWithoutAStream) {
  ManagedMemoryResource resource;
  const DevicePointer pointer = resource.implementation()->allocate(64, stream);
  stream.sync();
  ManagedBuffer taken = ManagedBuffer::from_handle(pointer, 64, resource);
  EXPECT_EQ(taken.size(), 64u);
}

TEST_F(ManagedBufferTest, IsSharedByTheHostAndKernels) {
  for (float& value : buffer.as_span<float>()) value = 2.0f;
  Kernel scale = compile(scale_source, "scale");
  launch(stream, {.grid = 1, .block = 128}, scale, buffer, 3.0f, std::size_t{100});
  stream.sync();
  EXPECT_EQ(buffer.as_span<float>()[99], 6.0f);
  EXPECT_EQ(buffer.as_span<float>()[100], 2.0f);
}

TEST_F(ManagedBufferTest, ReadMostlyIsSetAndUnset) {
  EXPECT_FALSE(buffer.read_mostly());
  buffer.set_read_mostly(true);
  EXPECT_TRUE(buffer.read_mostly());
  buffer.set_read_mostly(false);
  EXPECT_FALSE(buffer.read_mostly());
}

TEST_F(ManagedBufferTest, PreferredLocationIsNoneAtFirst) { EXPECT_EQ(buffer.preferred_location(), std::nullopt); }

TEST_F(ManagedBufferTest, PreferredLocationCanBeADevice) {
  buffer.set_preferred_location(device);
  EXPECT_EQ(buffer.preferred_location(), Location(device));
}

TEST_F(ManagedBufferTest, PreferredLocationCanBeTheHost) {
  buffer.set_preferred_location(Host());
  EXPECT_EQ(buffer.preferred_location(), Location(Host()));
}

TEST_F(ManagedBufferTest, PreferredLocationCanBeANumaNode) {
  buffer.set_preferred_location(Host(0));
  // Drivers take the advice and may report no location all the same (580 does so).
  EXPECT_THAT(buffer.preferred_location(), AnyOf(Location(Host(0)), std::nullopt));
}

TEST_F(ManagedBufferTest, PreferredLocationCanBeUnset) {
  buffer.set_preferred_location(device);
  buffer.set_preferred_location(std::nullopt);
  EXPECT_EQ(buffer.preferred_location(), std::nullopt);
}

TEST_F(ManagedBufferTest, AccessedByIsEmptyAtFirst) {
  EXPECT_TRUE(buffer.accessed_by().empty());
  EXPECT_EQ(buffer.accessed_by().size(), 0u);
  EXPECT_FALSE(buffer.accessed_by().contains(device));
}

TEST_F(ManagedBufferTest, AccessedByAddsAndDiscards) {
  buffer.accessed_by().add(device);
  EXPECT_TRUE(buffer.accessed_by().contains(device));
  EXPECT_FALSE(buffer.accessed_by().contains(Host()));
  buffer.accessed_by().discard(device);
  buffer.accessed_by().discard(device);
  EXPECT_TRUE(buffer.accessed_by().empty());
}

TEST_F(ManagedBufferTest, AccessedByCanBeTheHost) {
  buffer.accessed_by().add(Host());
  EXPECT_TRUE(buffer.accessed_by().contains(Host()));
  EXPECT_EQ(buffer.accessed_by().size(), 1u);
}

TEST_F(ManagedBufferTest, AccessedByIsIterated) {
  buffer.set_accessed_by({device, Host()});
  std::vector<Location> locations(buffer.accessed_by().size(), Host(7));
  std::size_t i = 0;
  for (const Location& location : buffer.accessed_by()) locations[i++] = location;
  EXPECT_THAT(locations, ::testing::UnorderedElementsAre(Location(device), Location(Host())));
}

TEST_F(ManagedBufferTest, AccessedByIsAssigned) {
  buffer.set_accessed_by({device});
  buffer.set_accessed_by({Host()});
  EXPECT_TRUE(buffer.accessed_by().contains(Host()));
  EXPECT_FALSE(buffer.accessed_by().contains(device));
  buffer.accessed_by().clear();
  EXPECT_TRUE(buffer.accessed_by().empty());
}

TEST_F(ManagedBufferTest, AccessedByRefusesNumaNodes) {
  const auto refused = AllOf(HasSubstr("NUMA node 0"), HasSubstr("only devices and the host as a whole"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.accessed_by().add(Host(0)); }), refused);
  EXPECT_THAT(error_of<InvalidArgument>([&] { buffer.accessed_by().add(Host::numa_current()); }),
              HasSubstr("NUMA node of the calling thread"));
}

TEST_F(ManagedBufferTest, AccessedByIsCheckedBeforeItChanges) {
  buffer.set_accessed_by({device});
  EXPECT_THROW(buffer.set_accessed_by({Host(), Host(0)}), InvalidArgument);
  EXPECT_TRUE(buffer.accessed_by().contains(device));
  EXPECT_EQ(buffer.accessed_by().size(), 1u);
}

TEST_F(ManagedBufferTest, AccessedByIgnoresTheDiscardOfANumaNode) {
  buffer.set_accessed_by({Host()});
  buffer.accessed_by().discard(Host(0));
  EXPECT_TRUE(buffer.accessed_by().contains(Host()));
}

TEST_F(ManagedBufferTest, AccessedByIsPrinted) {
  std::ostringstream out;
  out << buffer.accessed_by() << ' ';
  buffer.set_accessed_by({device});
  out << buffer.accessed_by();
  EXPECT_EQ(out.str(), "{} {device 0}");
}

TEST_F(ManagedBufferTest, AdviceDoesNotChangeTheContents) {
  for (int& value : buffer.as_span<int>()) value = 11;
  buffer.set_read_mostly(true);
  buffer.set_preferred_location(device);
  buffer.accessed_by().add(device);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(size / sizeof(int), 11));
}

class PrefetchTest : public ManagedBufferTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Location location() const {
    const std::string_view name = GetParam();
    if (name == "Device") return device;
    if (name == "Host") return Host();
    return name == "NumaNode" ? Host(0) : Host::numa_current();
  }
  int last_location() const {
    int where = 0;
    driver::call<&driver::Api::cuMemRangeGetAttribute>(static_cast<void*>(&where), sizeof where,
                                                       CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, buffer.handle(),
                                                       buffer.size());
    return where;
  }
};

TEST_P(PrefetchTest, KeepsTheContents) {
  buffer.fill<int>(21, stream);
  buffer.prefetch(location(), stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(size / sizeof(int), 21));
}

TEST_P(PrefetchTest, IsWhereTheMemoryWentLast) {
  buffer.prefetch(location(), stream);
  stream.sync();
  if (location().is_device()) {
    EXPECT_EQ(last_location(), location().id());
  } else {
    EXPECT_LT(last_location(), 0);
  }
}

TEST_P(PrefetchTest, AfterDiscardingTheMemoryCanBeWrittenAgain) {
  buffer.fill<int>(1, stream);
  buffer.discard_prefetch(location(), stream);
  buffer.fill<int>(2, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(size / sizeof(int), 2));
}

INSTANTIATE_TEST_SUITE_P(To, PrefetchTest, ::testing::Values("Device", "Host", "NumaNode", "NumaNodeOfTheThread"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST_F(ManagedBufferTest, AfterDiscardTheMemoryCanBeWrittenAgain) {
  buffer.fill<int>(1, stream);
  buffer.discard(stream);
  buffer.fill<int>(2, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(size / sizeof(int), 2));
}

TEST_F(ManagedBufferTest, AFailedPrefetchNamesTheBufferAndThePlace) {
  FailingApi failing;
  failing.fail_next("cuMemPrefetchAsync", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>([&] { buffer.prefetch(Host(), stream); }),
              AllOf(HasSubstr("prefetching a buffer of 65536 bytes at "), HasSubstr(" to the host on stream ")));
}

TEST_F(ManagedBufferTest, FailedAdviceNamesTheBuffer) {
  FailingApi failing;
  failing.fail_next("cuMemAdvise", CUDA_ERROR_UNKNOWN);
  EXPECT_THAT(error_of<DriverError>([&] { buffer.set_read_mostly(true); }),
              AllOf(HasSubstr("advising read_mostly for a buffer of 65536 bytes"), HasSubstr("cuMemAdvise")));
}

TEST_F(ManagedBufferTest, AdviceThatIsNotSupportedSaysWhatToUse) {
  FailingApi failing;
  failing.fail_next("cuMemAdvise", CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_THAT(error_of<NotSupported>([&] { buffer.set_read_mostly(true); }),
              AllOf(HasSubstr("advising read_mostly for a buffer of 65536 bytes"), HasSubstr("cuMemAllocManaged")));
}

class ManagedResourceTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
};

TEST_F(ManagedResourceTest, HasNoPreferenceByDefault) {
  EXPECT_EQ(ManagedMemoryResource(ManagedMemoryResourceOptions{}).preferred_location(), std::nullopt);
  EXPECT_EQ(ManagedMemoryResource(ManagedMemoryResourceOptions{}).device_id(), std::nullopt);
}

TEST_F(ManagedResourceTest, PrefersADevice) {
  const ManagedMemoryResource byNumber({.preferred_location = 0});
  EXPECT_EQ(byNumber.preferred_location(), Location(device));
  EXPECT_EQ(byNumber.device_id(), 0);
  const ManagedMemoryResource byType(
      {.preferred_location = 0, .preferred_location_type = ManagedMemoryLocationType::device});
  EXPECT_EQ(byType.preferred_location(), Location(device));
}

TEST_F(ManagedResourceTest, PrefersTheHost) {
  EXPECT_EQ(ManagedMemoryResource({.preferred_location = -1}).preferred_location(), Location(Host()));
  EXPECT_EQ(ManagedMemoryResource({.preferred_location_type = ManagedMemoryLocationType::host}).preferred_location(),
            Location(Host()));
}

TEST_F(ManagedResourceTest, AClosedPoolIsUsedAgainAsANewOne) {
  const ManagedMemoryResourceOptions options{.preferred_location = 0};
  ManagedMemoryResource first(options);
  CUmemPoolHandle_st* const pool = first.handle();
  first.attributes().set_reuse_allow_opportunistic(false);
  first.attributes().set_release_threshold(1 << 20);
  first.allocate(1 << 20, stream).close();
  stream.sync();
  first.close();
  EXPECT_EQ(live_objects().memory_pools, 0u);
  const ManagedMemoryResource second(options);
  EXPECT_EQ(second.handle(), pool);
  EXPECT_TRUE(second.attributes().reuse_allow_opportunistic());
  EXPECT_EQ(second.attributes().release_threshold(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(second.attributes().used_mem_high(), 0u);
  EXPECT_NE(ManagedMemoryResource(options).handle(), pool) << "while it is in use";
}

TEST_F(ManagedResourceTest, APoolWithBuffersIsNotUsedAgain) {
  ManagedMemoryResource first({.preferred_location = 0});
  CUmemPoolHandle_st* const pool = first.handle();
  const Buffer buffer = first.allocate(64, stream);
  first.close();
  EXPECT_NE(ManagedMemoryResource({.preferred_location = 0}).handle(), pool);
}

TEST_F(ManagedResourceTest, PrefersANumaNode) {
  const ManagedMemoryResource resource(
      {.preferred_location = 0, .preferred_location_type = ManagedMemoryLocationType::host_numa});
  EXPECT_EQ(resource.preferred_location(), Location(Host(0)));
  EXPECT_EQ(resource.device_id(), std::nullopt);
  EXPECT_EQ(resource.allocate(64, stream).size(), 64u);
}

TEST_F(ManagedResourceTest, PrefersTheNumaNodeOfTheDevice) {
  const ManagedMemoryResourceOptions options{.preferred_location_type = ManagedMemoryLocationType::host_numa};
  const int node = device.properties().host_numa_id();
  if (node < 0) {
    EXPECT_THAT(error_of<NotSupported>([&] { ManagedMemoryResource resource(options); }),
                HasSubstr("give one by preferred_location"));
  } else {
    EXPECT_EQ(ManagedMemoryResource(options).preferred_location(), Location(Host(node)));
  }
}

TEST_F(ManagedResourceTest, RefusesLocationsThatDoNotFitTheirType) {
  using Type = ManagedMemoryLocationType;
  auto refusal = [](const ManagedMemoryResourceOptions& options) {
    return error_of<InvalidArgument>([&] { ManagedMemoryResource resource(options); });
  };
  EXPECT_THAT(refusal({.preferred_location = -2}),
              HasSubstr("preferred_location -2: it must be the number of a device"));
  EXPECT_THAT(refusal({.preferred_location_type = Type::device}), HasSubstr("preferred_location none"));
  EXPECT_THAT(refusal({.preferred_location = -1, .preferred_location_type = Type::device}),
              HasSubstr("preferred_location -1: with preferred_location_type device"));
  EXPECT_THAT(refusal({.preferred_location = 0, .preferred_location_type = Type::host}),
              HasSubstr("with preferred_location_type host it must be none"));
  EXPECT_THAT(refusal({.preferred_location = -1, .preferred_location_type = Type::host_numa}),
              HasSubstr("must be the number of a NUMA node"));
  EXPECT_THAT(refusal({.preferred_location = 1000}), HasSubstr("there is no device 1000"));
}

/// Pretends that the system has no concurrent managed access.
class WithoutConcurrentAccess {
 public:
  WithoutConcurrentAccess() : table_(driver::api()) {
    real_ = &driver::replace_api(table_);
    table_.cuDeviceGetAttribute.function = [](int* value, CUdevice_attribute which, CUdevice on) {
      const CUresult code = real_->cuDeviceGetAttribute(value, which, on);
      if (which == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS) *value = 0;
      return code;
    };
  }
  ~WithoutConcurrentAccess() { driver::replace_api(*real_); }
  WithoutConcurrentAccess(const WithoutConcurrentAccess&) = delete;
  WithoutConcurrentAccess& operator=(const WithoutConcurrentAccess&) = delete;
  driver::Api& table() { return table_; }

 private:
  driver::Api table_;
  static inline const driver::Api* real_ = nullptr;
};

class ConcurrentAccessTest : public ApiTest {
 protected:
  ConcurrentAccessTest() {
    before = set_log_hook([this](std::string_view line) { lines.emplace_back(line); });
    reset_concurrent_access_warning();
  }
  ~ConcurrentAccessTest() override {
    set_log_hook(before);
    reset_concurrent_access_warning();
  }
  std::vector<std::string> lines;
  LogHook before;
};

TEST_F(ConcurrentAccessTest, NothingIsSaidWhereThereIsSome) {
  if (!device.properties().concurrent_managed_access()) GTEST_SKIP() << "there is none";
  ManagedMemoryResource resource(ManagedMemoryResourceOptions{});
  EXPECT_THAT(lines, IsEmpty());
}

TEST_F(ConcurrentAccessTest, TheFirstResourceWarnsWhereThereIsNone) {
  WithoutConcurrentAccess system;
  ManagedMemoryResource first(ManagedMemoryResourceOptions{});
  ManagedMemoryResource second(ManagedMemoryResourceOptions{});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("no concurrent managed access")));
  reset_concurrent_access_warning();
  ManagedMemoryResource third(ManagedMemoryResourceOptions{});
  EXPECT_EQ(lines.size(), 2u);
}

TEST_F(ConcurrentAccessTest, ThereIsNoDefaultPoolWhereThereIsNone) {
  WithoutConcurrentAccess system;
  system.table().cuMemGetMemPool.function = [](CUmemoryPool*, CUmemLocation*, CUmemAllocationType) {
    return CUDA_ERROR_NOT_SUPPORTED;
  };
  EXPECT_THAT(error_of<NotSupported>([] { ManagedMemoryResource resource; }),
              AllOf(HasSubstr("without concurrent managed access"), HasSubstr("with options")));
}

TEST_F(ConcurrentAccessTest, ADriverBeforeCuda13HasNoManagedPools) {
  WithoutConcurrentAccess system;
  system.table().cuMemGetMemPool.function = nullptr;
  EXPECT_THAT(error_of<NotSupported>([] { ManagedMemoryResource resource; }), HasSubstr("CUDA 13.0 or newer"));
  EXPECT_THAT(error_of<NotSupported>([] { ManagedMemoryResource resource(ManagedMemoryResourceOptions{}); }),
              HasSubstr("CUDA 13.0 or newer"));
}

}  // namespace
}  // namespace cuprum::tests
