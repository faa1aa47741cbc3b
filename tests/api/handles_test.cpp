// What all handles have in common: they may be empty. And what is current for a while.
#include <chrono>
#include <cuprum/driver.hpp>
#include <optional>
#include <sstream>
#include <thread>

#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

using EmptyHandles = ApiTest;

TEST_F(EmptyHandles, CanBeMadeAndAssigned) {
  Stream stream;
  Event event;
  Buffer buffer;
  Context context;
  Program program;
  ObjectCode code;
  Kernel kernel;
  Linker linker;
  MemoryResource memory;
  stream = device.create_stream();
  event = stream.record();
  memory = device.memory_resource();
  buffer = memory.allocate(16, stream);
  context = device.context();
  program = Program(scale_source);
  code = program.compile(Target::cubin);
  kernel = code.get_kernel("scale");
  linker = Linker({program.compile(Target::ptx)});
  launch(stream, {.grid = 1, .block = 4}, kernel, buffer, 1.0f, std::size_t{4});
  stream.sync();
}

TEST_F(EmptyHandles, SayThatTheyAreEmpty) {
  const auto message = [](auto&& use) { return error_of<InvalidArgument>(use); };
  EXPECT_THAT(message([] { Stream().sync(); }), HasSubstr("this stream is empty"));
  EXPECT_THAT(message([] { Event().sync(); }), HasSubstr("this event is empty"));
  EXPECT_THAT(message([] { Buffer().size(); }), HasSubstr("this buffer is empty"));
  EXPECT_THAT(message([] { Context().device(); }), HasSubstr("this context is empty"));
  EXPECT_THAT(message([] { Program().backend(); }), HasSubstr("this program is empty"));
  EXPECT_THAT(message([] { ObjectCode().code(); }), HasSubstr("this object code is empty"));
  EXPECT_THAT(message([] { ObjectCode().get_kernel("k"); }), HasSubstr("this object code is empty"));
  EXPECT_THAT(message([] { ObjectCode().save("nowhere"); }), HasSubstr("this object code is empty"));
  EXPECT_THAT(message([] { Kernel().name(); }), HasSubstr("this kernel is empty"));
  EXPECT_THAT(message([] { Kernel().attributes(); }), HasSubstr("this kernel is empty"));
  EXPECT_THAT(message([] { Linker().link(Target::cubin); }), HasSubstr("this linker is empty"));
  EXPECT_THAT(message([&] { launch(device.create_stream(), {.grid = 1, .block = 1}, Kernel()); }),
              HasSubstr("this kernel is empty"));
}

TEST_F(EmptyHandles, AreEqual) {
  EXPECT_EQ(Stream(), Stream());
  EXPECT_EQ(Event(), Event());
  EXPECT_EQ(Context(), Context());
  EXPECT_EQ(Kernel(), Kernel());
  EXPECT_EQ(ObjectCode(), ObjectCode());
  EXPECT_NE(Stream(), device.create_stream());
  EXPECT_EQ(Kernel().handle(), nullptr);
}

TEST_F(EmptyHandles, PrintAndClose) {
  std::ostringstream out;
  out << Stream() << ", " << Event() << ", " << Buffer() << ", " << Context() << ", " << Kernel();
  EXPECT_THAT(out.str(), HasSubstr("an empty kernel"));
  Stream().close();
  Event().close();
  Buffer().close();
  Context().close();
  Program().close();
  Linker().close();
}

template <typename Handle>
void expect_empty(Handle handle, const std::string& printed) {
  const Handle taken = std::move(handle);
  std::ostringstream out;
  out << handle;  // NOLINT(bugprone-use-after-move): that is what this is about
  EXPECT_EQ(out.str(), printed);
  if constexpr (requires { handle == handle; }) {
    EXPECT_EQ(handle, handle);
    EXPECT_NE(handle, taken);
  }
  if constexpr (requires { handle.handle(); }) {
    EXPECT_FALSE(handle.handle());
  }
  handle = taken;
  if constexpr (requires { handle == handle; }) {
    EXPECT_EQ(handle, taken);
  }
}

TEST_F(EmptyHandles, AreWhatWasMovedFrom) {
  const Stream stream = device.create_stream();
  const Buffer buffer = device.allocate(16, stream);
  expect_empty(stream, "an empty stream");
  expect_empty(stream.record(), "an empty event");
  expect_empty(buffer, "an empty buffer");
  expect_empty(device.create_context(), "an empty context");
  const graph::GraphDefinition definition;
  expect_empty(definition, "an empty handle of a graph");
  expect_empty(graph::GraphNode(definition.empty()), "an empty graph node");
  expect_empty(definition.instantiate(), "an empty executable graph");
  expect_empty(stream.create_graph_builder(), "an empty graph builder");
  expect_empty(StridedMemoryView::from_buffer<float>(buffer, {4}), "an empty view");
}

TEST_F(EmptyHandles, OfPoolsAndCodeHaveNoHandle) {
  DeviceMemoryResource pool(device);
  const DeviceMemoryResource taken = std::move(pool);
  EXPECT_EQ(pool.handle(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(error_of<WrongState>([&] { pool.trim(); }), HasSubstr("this memory resource is empty"));
  EXPECT_EQ(ObjectCode().handle(), nullptr);
}

TEST_F(EmptyHandles, AreNoMemoryResourceOfADevice) {
  EXPECT_THROW(device.set_memory_resource(MemoryResource()), WrongState);
  EXPECT_EQ(device.allocate(16, device.create_stream()).size(), 16u);
}

TEST_F(EmptyHandles, OfViewsAreRefused) {
  const Stream stream = device.create_stream();
  auto view = StridedMemoryView::from_buffer<float>(device.allocate(16, stream), {4});
  const StridedMemoryView taken = std::move(view);
  const auto message = [](auto&& use) { return error_of<WrongState>(use); };
  EXPECT_THAT(message([&] { (void)view.ptr(); }), HasSubstr("this view is empty"));  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(message([&] { taken.copy_from(view, stream); }), HasSubstr("this view is empty"));
  EXPECT_THAT(message([&] { taken.copy_to(view, stream); }), HasSubstr("this view is empty"));
  EXPECT_THAT(message([&] { (void)view.flattened(); }), HasSubstr("this view is empty"));
  EXPECT_THAT(message([&] { (void)to_dlpack(view); }), HasSubstr("this view is empty"));
}

/// That an object from which another was moved says so when it is used, in one of these ways.
template <typename Object, typename... Uses>
void expect_refused_when_moved_from(Object object, const std::string& words, const Uses&... uses) {
  const Object taken = std::move(object);
  const auto expect_refused = [&](const auto& use) {
    EXPECT_THAT(error_of<WrongState>([&] { (void)use(object); }), HasSubstr(words));  // NOLINT(bugprone-use-after-move)
  };
  (expect_refused(uses), ...);
}

using MovedFromTest = ApiTest;

TEST_F(MovedFromTest, ViewsOfPoolsSayThatTheyAreEmpty) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "the device has no memory pools";
  const DeviceMemoryResource pool(device, DeviceMemoryResourceOptions{});
  expect_refused_when_moved_from(
      pool.attributes(), "this set of a pool's attributes is empty", [](auto& set) { return set.used_mem_current(); },
      [](auto& set) { set.set_release_threshold(0); }, [](auto& set) { set.reset_used_mem_high(); });
  expect_refused_when_moved_from(
      pool.peer_accessible_by(), "this set of devices is empty", [](auto& set) { return set.size(); },
      [&](auto& set) { set.add(device); }, [](auto& set) { set.clear(); });
}

TEST_F(MovedFromTest, ViewsOfKernelsAndDevicesSayThatTheyAreEmpty) {
  const Kernel kernel = Program(scale_source).compile(Target::cubin).get_kernel("scale");
  expect_refused_when_moved_from(
      kernel.attributes(), "this view of a kernel is empty", [](auto& attributes) { return attributes.num_regs(); },
      [](auto& attributes) { attributes.set_max_dynamic_shared_size_bytes(0); });
  expect_refused_when_moved_from(
      kernel.occupancy(), "this view of a kernel is empty",
      [](auto& occupancy) { return occupancy.max_active_blocks_per_multiprocessor(32, 0); },
      [](auto& occupancy) { return occupancy.max_potential_block_size(0, 0); });
  expect_refused_when_moved_from(
      device.resources(), "this set of resources is empty", [](auto& resources) { return resources.sm(); },
      [](auto& resources) { return resources.workqueue(); });
}

TEST_F(MovedFromTest, MemoryResourcesOfAllKindsSayThatTheyAreEmpty) {
  constexpr const char* words = "this memory resource is empty";
  const Stream stream = device.create_stream();
  const auto allocate = [&](auto& memory) { return memory.allocate(16, stream); };
  expect_refused_when_moved_from(
      VirtualMemoryResource(device), words, allocate, [](auto& memory) { return memory.granularity(); },
      [](auto& memory) { return memory.options(); });
  expect_refused_when_moved_from(PinnedMemoryResource(), words, allocate,
                                 [](auto& memory) { return memory.numa_id(); });
  expect_refused_when_moved_from(LegacyPinnedMemoryResource(), words, allocate,
                                 [](auto& memory) { memory.deallocate(16, 16); });
  expect_refused_when_moved_from(
      device.memory_resource(), words, [&](auto& memory) { return Buffer::from_handle(16, 16, memory, stream); },
      [&](auto& memory) { return ManagedBuffer::from_handle(16, 16, memory, stream); });
}

TEST_F(MovedFromTest, ManagedMemoryResourcesSayThatTheyAreEmpty) {
  std::optional<ManagedMemoryResource> memory;
  try {
    memory.emplace();
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  const Stream stream = device.create_stream();
  expect_refused_when_moved_from(std::move(*memory), "this memory resource is empty",
                                 [&](auto& moved) { return moved.allocate(16, stream); });
}

TEST_F(MovedFromTest, PreparedLaunchesSayThatTheyAreEmpty) {
  constexpr const char* words = "this prepared launch is empty";
  const Stream stream = device.create_stream();
  const Kernel kernel = Program(scale_source).compile(Target::cubin).get_kernel("scale");
  const LaunchConfig config{.grid = 1, .block = 4};
  const Buffer data = device.allocate<float>(4, stream);
  const auto launch_it = [](auto& step) { step(); };
  const auto launch_elsewhere = [&](auto& step) { step(stream); };
  const auto ask = [](auto& step) { return step.kernel() == Kernel() && step.config() == LaunchConfig(); };
  const auto change = [&](auto& step) { step.set_config(config); };
  expect_refused_when_moved_from(prepare(stream, config, kernel, data, 1.0f, std::size_t{4}), words, launch_it,
                                 launch_elsewhere, ask, change);

  const DevicePointer pointer = data.handle();
  const float factor = 1;
  const std::size_t count = 4;
  const void* addresses[] = {&pointer, &factor, &count};
  const std::size_t sizes[] = {sizeof pointer, sizeof factor, sizeof count};
  expect_refused_when_moved_from(prepare(stream, config, kernel, KernelArguments{addresses, sizes}), words, launch_it,
                                 launch_elsewhere, ask, change, [&](auto& step) { step.set(0, &pointer, 8); });
  stream.sync();
}

TEST_F(MovedFromTest, ResourceDescriptorsSayThatTheyAreEmpty) {
  const texture::OpaqueArray array =
      device.create_opaque_array({.shape = {4, 4}, .num_channels = 4, .is_surface_load_store = true});
  expect_refused_when_moved_from(
      texture::ResourceDescriptor::from_opaque_array(array), "this resource descriptor is empty",
      [&](auto& resource) { return device.create_texture_object(resource); },
      [&](auto& resource) { return device.create_surface_object(resource); });
}

TEST_F(MovedFromTest, ListenersAreClosed) {
  const TemporaryFolder folder;
  ipc::Listener listener(folder / "socket");
  const ipc::Listener taken = std::move(listener);
  const auto fault_of = [](auto&& use) {
    try {
      use();
    } catch (const ipc::ChannelError& error) {
      return std::optional(error.fault());
    }
    return std::optional<ipc::ChannelFault>();
  };
  EXPECT_EQ(fault_of([&] { listener.accept(); }), ipc::ChannelFault::closed);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(fault_of([&] { (void)listener.path(); }), ipc::ChannelFault::closed);
}

class ScopedCurrentTest : public ApiTest {
 protected:
  const Context own = device.create_context();
};

TEST_F(ScopedCurrentTest, GivesBackWhatWasCurrent) {
  const Context before = device.context();
  {
    const ScopedCurrent scope(own);
    EXPECT_EQ(device.context(), own);
    {
      const ScopedCurrent inner(device);
      EXPECT_EQ(device.context(), before);
    }
    EXPECT_EQ(device.context(), own);
    device.set_current();
  }
  EXPECT_EQ(device.context(), before);
}

TEST_F(ScopedCurrentTest, LeavesAThreadWithoutContextAsItWas) {
  std::thread([&] {
    {
      const ScopedCurrent scope(device);
    }
    CUcontext current = nullptr;
    driver::call<&driver::Api::cuCtxGetCurrent>(&current);
    EXPECT_EQ(current, nullptr);
  }).join();
}

TEST_F(ScopedCurrentTest, KeepsTheContext) {
  Context temporary = device.create_context();
  std::optional<ScopedCurrent> scope(std::in_place, temporary);
  temporary = Context();
  Stream stream = device.create_stream();
  EXPECT_NE(stream.context(), own);
  stream.sync();
  stream.close();
  scope.reset();
}

TEST_F(ScopedCurrentTest, RefusesAClosedContext) {
  Context closed = device.create_context();
  closed.close();
  EXPECT_THROW(ScopedCurrent scope(closed), InvalidArgument);
}

using DurationTest = ApiTest;

TEST_F(DurationTest, IsOfChrono) {
  const Stream stream = device.create_stream();
  const Event start = stream.record({.timing_enabled = true});
  const Event end = stream.record({.timing_enabled = true});
  end.sync();
  using Milliseconds = std::chrono::duration<float, std::milli>;
  EXPECT_FLOAT_EQ(end.since<Milliseconds>(start).count(), end - start);
  EXPECT_FLOAT_EQ(end.since<std::chrono::duration<float>>(start).count(), (end - start) / 1000);
  const auto nanoseconds = end.since<std::chrono::nanoseconds>(start);
  EXPECT_NEAR(static_cast<double>(nanoseconds.count()), static_cast<double>(end - start) * 1e6, 1.0);
}

template <typename... Values>
std::string all_printed(const Values&... values) {
  std::ostringstream out;
  ((out << values << ' '), ...);
  return out.str();
}

TEST(Words, AreThoseOfCudaCore) {
  EXPECT_EQ(all_printed(SourceCodeType::cxx, SourceCodeType::ptx, SourceCodeType::nvvm), "c++ ptx nvvm ");
  EXPECT_EQ(all_printed(CompilerBackendType::nvrtc, CompilerBackendType::nvvm, CompilerBackendType::nvjitlink,
                        CompilerBackendType::driver),
            "NVRTC NVVM nvJitLink driver ");
  EXPECT_EQ(all_printed(PCHStatusType::created, PCHStatusType::not_attempted, PCHStatusType::failed),
            "created not_attempted failed ");
  EXPECT_EQ(all_printed(LocationType::device, LocationType::host_numa_current), "device host_numa_current ");
  EXPECT_EQ(all_printed(ManagedMemoryLocationType::host, ManagedMemoryLocationType::host_numa), "host host_numa ");
  EXPECT_EQ(all_printed(VirtualMemoryAllocationType::pinned, VirtualMemoryHandleType::posix_fd,
                        VirtualMemoryGranularityType::recommended, VirtualMemoryAccessType::read_write,
                        VirtualMemoryAccessType::read),
            "pinned posix_fd recommended rw r ");
  EXPECT_EQ(all_printed(Target::ptx, Target::library), "ptx library ");
}

using TemplateNameTest = ApiTest;

TEST_F(TemplateNameTest, IsExplainedWhenItIsNotFound) {
  const char* source = "template <typename T> __global__ void twice(T* p) { *p *= 2; }";
  const ObjectCode code = Program(source).compile(Target::cubin);
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("twice<float>"); }),
              HasSubstr("a template is instantiated only where the compilation is told to: compile(target, "
                        "{.name_expressions = {\"twice<float>\"}})"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("twice"); }),
              HasSubstr("it has none; templates are instantiated only where the compilation is told to"));
}

}  // namespace
}  // namespace cuprum::tests
