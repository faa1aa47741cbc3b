// One behaviour for all memory resources.
#include <functional>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// A user's own resource: counts what goes through it.
class Counting : public MemoryResource::Interface {
 public:
  explicit Counting(MemoryResource upstream) : upstream_(upstream.implementation()) {}
  DevicePointer allocate(std::size_t size, const Stream& stream) override {
    ++allocations;
    return upstream_->allocate(size, stream);
  }
  void deallocate(DevicePointer pointer, std::size_t size, const Stream& stream) override {
    --allocations;
    upstream_->deallocate(pointer, size, stream);
  }
  bool is_device_accessible() const override { return upstream_->is_device_accessible(); }
  bool is_host_accessible() const override { return upstream_->is_host_accessible(); }
  std::optional<int> device_id() const override { return upstream_->device_id(); }
  int allocations = 0;

 private:
  std::shared_ptr<MemoryResource::Interface> upstream_;
};

struct Kind {
  const char* name;
  bool on_host;
  MemoryResource (*make)(const Device&);
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const Kind kinds[] = {
    {"Device", false, [](const Device& device) -> MemoryResource { return DeviceMemoryResource(device); }},
    {"DevicePool", false,
     [](const Device& device) -> MemoryResource { return DeviceMemoryResource(device, {.max_size = 1 << 26}); }},
    {"Pinned", true, [](const Device&) -> MemoryResource { return PinnedMemoryResource(); }},
    {"PinnedPool", true, [](const Device&) -> MemoryResource { return PinnedMemoryResource({.max_size = 1 << 26}); }},
    {"Custom", false,
     [](const Device& device) -> MemoryResource {
       return MemoryResource(std::make_shared<Counting>(DeviceMemoryResource(device)));
     }},
};

class MemoryResourceTest : public ApiTest, public ::testing::WithParamInterface<Kind> {
 protected:
  void SetUp() override {
    try {
      GetParam().make(device);
    } catch (const NotSupported& error) {
      GTEST_SKIP() << error.what();
    }
  }

  Stream stream = device.create_stream();
};

TEST_P(MemoryResourceTest, GivesMemoryThatHoldsWhatIsCopiedToIt) {
  MemoryResource resource = GetParam().make(device);
  for (std::size_t count : {1u, 3u, 1000u, 1u << 20}) {
    const std::vector<float> values = numbers(count);
    Buffer buffer = resource.allocate(count * sizeof(float), stream);
    buffer.copy_from(std::span(values), stream);
    EXPECT_EQ(download<float>(buffer, stream), values) << count;
  }
}

TEST_P(MemoryResourceTest, GivesDisjointBuffers) {
  MemoryResource resource = GetParam().make(device);
  std::vector<Buffer> buffers;
  for (int i = 0; i < 50; ++i) {
    buffers.push_back(resource.allocate(1000 * sizeof(int), stream));
    buffers.back().fill(i, stream);
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(download<int>(buffers[static_cast<std::size_t>(i)], stream), std::vector<int>(1000, i));
  }
}

TEST_P(MemoryResourceTest, SaysWhoCanAccessIt) {
  MemoryResource resource = GetParam().make(device);
  Buffer buffer = resource.allocate(64, stream);
  EXPECT_TRUE(buffer.is_device_accessible());
  EXPECT_EQ(buffer.is_host_accessible(), GetParam().on_host);
  EXPECT_EQ(buffer.device_id().has_value(), !GetParam().on_host);
  EXPECT_EQ(buffer.memory_resource(), resource);
}

TEST_P(MemoryResourceTest, IsKeptAliveByItsBuffers) {
  Buffer buffer = GetParam().make(device).allocate(64, stream);
  buffer.fill(5, stream);
  EXPECT_EQ(download<int>(buffer, stream), std::vector<int>(16, 5));
}

TEST_P(MemoryResourceTest, CanBeUsedByAKernel) {
  Kernel scale = compile(scale_source, "scale");
  Buffer buffer = GetParam().make(device).allocate(100 * sizeof(float), stream);
  buffer.fill(1.0f, stream);
  launch(stream, {.block = 128}, scale, buffer, 4.0f, std::size_t{100});
  EXPECT_EQ(download<float>(buffer, stream), std::vector<float>(100, 4.0f));
}

TEST_P(MemoryResourceTest, ReportsWhenThereIsNotEnough) {
  MemoryResource resource = GetParam().make(device);
  const std::size_t too_much = std::size_t{1} << 50;
  const std::string message = error_of<OutOfMemory>([&] { resource.allocate(too_much, stream); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("allocating 1125899906842624 bytes of "), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY")));
  EXPECT_EQ(resource.allocate(64, stream).size(), 64u);
}

INSTANTIATE_TEST_SUITE_P(All, MemoryResourceTest, ::testing::ValuesIn(kinds),
                         [](const auto& instance) { return std::string(instance.param.name); });

class OwnPoolTest : public ApiTest {};

TEST_F(OwnPoolTest, KeepsToItsMaximumSize) {
  Stream stream = device.create_stream();
  DeviceMemoryResource pool(device, {.max_size = 64 << 20});
  EXPECT_EQ(live_objects().memory_pools, 1u);
  Buffer most = pool.allocate(40 << 20, stream);
  EXPECT_THROW(pool.allocate(40 << 20, stream), OutOfMemory);
}

TEST_F(OwnPoolTest, ACustomResourceGetsBackWhatItGave) {
  auto counting = std::make_shared<Counting>(DeviceMemoryResource(device));
  Stream stream = device.create_stream();
  MemoryResource resource(counting);
  Buffer first = resource.allocate(64, stream);
  Buffer second = resource.allocate(64, stream);
  EXPECT_EQ(counting->allocations, 2);
  first.close();
  EXPECT_EQ(counting->allocations, 1);
  second = Buffer::from_handle(0, 0);
  EXPECT_EQ(counting->allocations, 0);
}

TEST_F(OwnPoolTest, ANullImplementationIsRefused) { EXPECT_THROW(MemoryResource(nullptr), InvalidArgument); }

}  // namespace
}  // namespace cuprum::tests
