// What all handles have in common: they may be empty. And what is current for a while.
#include <chrono>
#include <cuprum/driver.hpp>
#include <sstream>
#include <thread>

#include "api/fixture.hpp"

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
