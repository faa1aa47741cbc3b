// Views of memory: making them, asking them, and what they refuse.
#include <chrono>
#include <complex>
#include <cuprum/driver.hpp>
#include <thread>

#include "api/fixture.hpp"
#include "api/gate.hpp"
#include "api/layout_reference.hpp"
#include "api/printed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(DataType, OfCppTypes) {
  EXPECT_EQ(dtype_of<float>(), (DataType{DataTypeCode::floating, 32}));
  EXPECT_EQ(dtype_of<double>(), (DataType{DataTypeCode::floating, 64}));
  EXPECT_EQ(dtype_of<std::int8_t>(), (DataType{DataTypeCode::integer, 8}));
  EXPECT_EQ(dtype_of<std::uint64_t>(), (DataType{DataTypeCode::unsigned_integer, 64}));
  EXPECT_EQ(dtype_of<bool>(), (DataType{DataTypeCode::boolean, 8}));
  EXPECT_EQ(dtype_of<const short>(), (DataType{DataTypeCode::integer, 16}));
  EXPECT_EQ(dtype_of<std::complex<float>>(), (DataType{DataTypeCode::complex, 64}));
  EXPECT_EQ(dtype_of<std::complex<double>>(), (DataType{DataTypeCode::complex, 128}));
}

TEST(DataType, OfTypesThatNoDeviceHasIsNone) {
  struct Pair {
    float a, b;
  };
  EXPECT_FALSE(HasDataType<Pair>);
  EXPECT_FALSE(HasDataType<long double>);
  EXPECT_FALSE(HasDataType<float*>);
}

TEST(DataType, ItemsizeIsInBytes) {
  EXPECT_EQ((DataType{DataTypeCode::floating, 32, 4}).itemsize(), 16);
  EXPECT_EQ((DataType{DataTypeCode::float4_e2m1fn, 4}).itemsize(), 1);
  EXPECT_EQ((DataType{DataTypeCode::bfloat, 16}).itemsize(), 2);
}

TEST(DataType, PrintsItself) {
  EXPECT_EQ(printed(dtype_of<float>()), "float32");
  EXPECT_EQ(printed(dtype_of<unsigned char>()), "uint8");
  EXPECT_EQ(printed(dtype_of<bool>()), "bool");
  EXPECT_EQ(printed(dtype_of<std::complex<float>>()), "complex64");
  EXPECT_EQ(printed(DataType{DataTypeCode::bfloat, 16}), "bfloat16");
  EXPECT_EQ(printed(DataType{DataTypeCode::float8_e4m3fn, 8}), "float8_e4m3fn");
  EXPECT_EQ(printed(DataType{DataTypeCode::floating, 16, 2}), "float16x2");
  EXPECT_EQ(printed(DataType{static_cast<DataTypeCode>(99), 7}), "type 99 of 7 bits");
}

class StridedViewTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  PinnedMemoryResource pinned;
};

TEST_F(StridedViewTest, OfADeviceBuffer) {
  Buffer buffer = device.allocate(4 * 6 * sizeof(float), stream);
  const auto view = StridedMemoryView::from_buffer<float>(buffer, {4, 6});
  EXPECT_EQ(view.ptr(), buffer.handle());
  EXPECT_THAT(view.shape(), ElementsAre(4, 6));
  EXPECT_THAT(view.strides(), ElementsAre(6, 1));
  EXPECT_EQ(view.ndim(), 2);
  EXPECT_EQ(view.size(), 24);
  EXPECT_EQ(view.dtype(), dtype_of<float>());
  EXPECT_EQ(view.device_id(), 0);
  EXPECT_EQ(view.memory_kind(), MemoryKind::device);
  EXPECT_TRUE(view.is_device_accessible());
  EXPECT_FALSE(view.is_host_accessible());
  EXPECT_FALSE(view.is_readonly());
  EXPECT_FALSE(view.is_copied());
  EXPECT_EQ(view.exporting_obj(), buffer);
}

TEST_F(StridedViewTest, OfAPinnedBufferIsForBothSides) {
  const auto view = StridedMemoryView::from_buffer<int>(pinned.allocate(64, stream), {16});
  EXPECT_EQ(view.memory_kind(), MemoryKind::pinned);
  EXPECT_TRUE(view.is_device_accessible() && view.is_host_accessible());
}

TEST_F(StridedViewTest, OfManagedMemoryIsManaged) {
  CUdeviceptr pointer = 0;
  driver::call<&driver::Api::cuMemAllocManaged>(&pointer, std::size_t{64}, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  const std::shared_ptr<void> owner(reinterpret_cast<void*>(pointer), [](void* memory) {
    driver::call<&driver::Api::cuMemFree>(reinterpret_cast<CUdeviceptr>(memory));
  });
  const auto view = StridedMemoryView::from_buffer<int>(Buffer::from_handle(pointer, 64, owner), {16});
  EXPECT_EQ(view.memory_kind(), MemoryKind::managed);
  view.as_span<int>()[3] = 7;
  EXPECT_EQ(view.as_span<int>()[3], 7);
}

TEST_F(StridedViewTest, OfAHostSpan) {
  std::vector<int> values = {1, 2, 3, 4, 5, 6};
  const auto view = StridedMemoryView::from_span(std::span(values), {2, 3});
  EXPECT_EQ(view.memory_kind(), MemoryKind::host);
  EXPECT_EQ(view.device_id(), std::nullopt);
  EXPECT_FALSE(view.is_device_accessible());
  EXPECT_EQ(view.ptr(), reinterpret_cast<DevicePointer>(values.data()));
  EXPECT_EQ(view.dtype(), dtype_of<int>());
  EXPECT_THAT(StridedMemoryView::from_span(std::span(values)).shape(), ElementsAre(6));
}

TEST_F(StridedViewTest, OfADeviceSpanIsOnTheDevice) {
  Buffer buffer = device.allocate(64, stream);
  const auto view = StridedMemoryView::from_span(std::span(reinterpret_cast<float*>(buffer.handle()), 16), {4, 4});
  EXPECT_EQ(view.memory_kind(), MemoryKind::device);
  EXPECT_EQ(view.device_id(), 0);
}

TEST_F(StridedViewTest, OfASpanKeepsTheOwner) {
  auto values = std::make_shared<std::vector<int>>(6);
  {
    const auto view = StridedMemoryView::from_span(std::span(*values), values);
    const StridedMemoryView part = view[Slice{.start = 2}];
    EXPECT_EQ(values.use_count(), 2);
  }
  EXPECT_EQ(values.use_count(), 1);
}

TEST_F(StridedViewTest, OfAConstSpanIsReadOnly) {
  const std::vector<int> values = {1, 2, 3};
  const auto view = StridedMemoryView::from_span(std::span(values));
  EXPECT_TRUE(view.is_readonly());
  EXPECT_EQ(view.as_span<const int>()[2], 3);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)view.as_span<int>(); }),
              HasSubstr("it is read-only, so ask for const elements"));
}

TEST_F(StridedViewTest, OfASpanRefusesAShapeThatNeedsMore) {
  std::vector<int> values(6);
  EXPECT_THAT(error_of<InvalidArgument>([&] { StridedMemoryView::from_span(std::span(values), {2, 4}); }),
              HasSubstr("that needs 32 bytes, and there are 24"));
  EXPECT_NO_THROW(StridedMemoryView::from_span(std::span(values), {2, 2}));
}

TEST_F(StridedViewTest, OfNothing) {
  const auto empty = StridedMemoryView::from_span(std::span<float>());
  EXPECT_EQ(empty.size(), 0);
  EXPECT_TRUE(empty.as_span<float>().empty());
  EXPECT_EQ(StridedMemoryView::from_buffer<float>(device.allocate(0, stream), {3, 0}).size(), 0);
}

TEST_F(StridedViewTest, KeepsTheBufferAlive) {
  std::optional<StridedMemoryView> view;
  {
    Buffer buffer = pinned.allocate(64, stream);
    view = StridedMemoryView::from_buffer<int>(buffer, {16});
  }
  EXPECT_EQ(live_objects().buffers, 1u);
  view->as_span<int>()[0] = 1;
  view.reset();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_F(StridedViewTest, KeepsTheMemoryOfABufferThatIsClosed) {
  Buffer buffer = pinned.allocate(64, stream);
  {
    const auto view = StridedMemoryView::from_buffer<int>(buffer, {16});
    const DevicePointer address = view.ptr();
    buffer.close();
    EXPECT_EQ(live_objects().buffers, 1u);
    EXPECT_EQ(view.ptr(), address);
    view.as_span<int>()[1] = 5;
    EXPECT_EQ(view[Slice{.start = 1}].as_span<int>()[0], 5);
    EXPECT_EQ(view.exporting_obj().handle(), 0u);
    EXPECT_THAT(printed(view), HasSubstr(" at 0x"));
  }
  EXPECT_EQ(live_objects().buffers, 0u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { StridedMemoryView::from_buffer<int>(buffer, {16}); }),
              HasSubstr("this buffer is closed"));
}

TEST_F(StridedViewTest, WithALayoutStartsAtItsOffset) {
  Buffer buffer = device.allocate(1000, stream);
  const StridedLayout layout = StridedLayout({10, 10}, 4).sliced({Slice{.start = 2}, Slice{.start = 3, .step = 2}});
  const auto view = StridedMemoryView::from_buffer(buffer, layout, {.dtype = dtype_of<int>()});
  EXPECT_EQ(view.ptr(), buffer.handle() + 23 * 4);
  EXPECT_EQ(view.layout(), layout);
}

TEST_F(StridedViewTest, WithoutATypeHasElementsOfBytes) {
  const auto view = StridedMemoryView::from_buffer(pinned.allocate(24, stream), StridedLayout({8}, 3));
  EXPECT_EQ(view.dtype(), std::nullopt);
  struct Colour {
    std::uint8_t red, green, blue;
  };
  EXPECT_EQ(view.as_span<Colour>().size(), 8u);
  EXPECT_THAT(printed(view), StartsWith("a view of 3-byte elements with shape (8), strides (1), itemsize 3 at 0x"));
}

TEST_F(StridedViewTest, RefusesALayoutThatNeedsMoreThanTheBuffer) {
  Buffer buffer = device.allocate(100, stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { StridedMemoryView::from_buffer<int>(buffer, {26}); }),
      AllOf(HasSubstr("a view of a buffer of 100 bytes"), HasSubstr("that needs 104 bytes, and there are 100")));
  EXPECT_NO_THROW(StridedMemoryView::from_buffer<int>(buffer, {25}));
}

TEST_F(StridedViewTest, RefusesALayoutThatBeginsBeforeTheBuffer) {
  Buffer buffer = device.allocate(100, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { StridedMemoryView::from_buffer(buffer, StridedLayout({4}, {-2}, 4)); }),
              HasSubstr("it would begin 24 bytes before the memory"));
}

TEST_F(StridedViewTest, RefusesATypeOfAnotherSize) {
  Buffer buffer = device.allocate(100, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                StridedMemoryView::from_buffer(buffer, StridedLayout({4}, 4), {.dtype = dtype_of<double>()});
              }),
              HasSubstr("a view of float64, which has 8 bytes, with a layout of itemsize 4"));
}

TEST_F(StridedViewTest, PartsAreViewsOfTheSameMemory) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_THAT(view[1].as_span<int>(), ElementsAre(6, 7, 8, 9, 10, 11));
  EXPECT_EQ((view.sliced({Slice{.step = -1}, 2}).as_strided_span<int, 1>()(0)), 20);
  EXPECT_EQ((view.transposed().as_strided_span<int, 2>()(5, 3)), 23);
  EXPECT_EQ((view.permuted({1, 0}).as_strided_span<int, 2>()(2, 1)), 8);
  EXPECT_THAT(view.reshaped({3, 8})[2].as_span<int>(), ElementsAre(16, 17, 18, 19, 20, 21, 22, 23));
  EXPECT_EQ(view.flattened().as_span<int>().size(), 24u);
  EXPECT_EQ((view[0].broadcast_to({5, 6}).as_strided_span<int, 2>()(4, 3)), 3);
  EXPECT_EQ(view.unsqueezed(0).squeezed().layout(), view.layout());
}

TEST_F(StridedViewTest, APartOfAPartCountsFromTheSameBeginning) {
  std::vector<int> values(24);
  std::iota(values.begin(), values.end(), 0);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_THAT(view[Slice{.start = 1}][Slice{.start = 1}][0].as_span<int>(), ElementsAre(12, 13, 14, 15, 16, 17));
}

TEST_F(StridedViewTest, APartCanGoBackToTheWhole) {
  std::vector<int> values(24);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  const StridedMemoryView part = view[Slice{.start = 1, .step = -1}];
  EXPECT_EQ(part.view(view.layout()).ptr(), view.ptr());
}

TEST_F(StridedViewTest, ViewRefusesWhatIsOutsideTheMemory) {
  std::vector<int> values(24);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_THROW(view[2].view(StridedLayout({25}, 4)), InvalidArgument);
  EXPECT_THROW(view[2].view(StridedLayout({2}, {-1}, 4)), InvalidArgument);
}

TEST_F(StridedViewTest, ViewChangesTheType) {
  std::vector<float> values(12);
  const auto view = StridedMemoryView::from_span(std::span(values), {2, 6});
  const StridedMemoryView bits = view.view(dtype_of<std::uint32_t>());
  values[0] = 1.0f;
  EXPECT_EQ(bits.flattened().as_span<std::uint32_t>()[0], 0x3f800000u);
  const StridedMemoryView numbers = view.view(view.layout().repacked(8), dtype_of<std::complex<float>>());
  EXPECT_THAT(numbers.shape(), ElementsAre(2, 3));
  EXPECT_EQ((numbers.as_strided_span<std::complex<float>, 2>()(0, 0)), std::complex<float>(1.0f, 0.0f));
}

TEST_F(StridedViewTest, ViewRefusesATypeThatTheItemsizeDoesNotFit) {
  std::vector<float> values(12);
  const auto view = StridedMemoryView::from_span(std::span(values), {2, 6});
  EXPECT_THAT(error_of<InvalidArgument>([&] { view.view(dtype_of<double>()); }), HasSubstr("they must be equal"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { view.view(view.layout().repacked(8)); }),
              HasSubstr("a view of float32, which has 4 bytes, with a layout of itemsize 8"));
}

TEST_F(StridedViewTest, PartsStayReadOnly) {
  const std::vector<int> values(24);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_TRUE(view[1].is_readonly());
  EXPECT_TRUE(view.view(dtype_of<float>()).is_readonly());
}

TEST_F(StridedViewTest, AsSpanRefusesDeviceMemory) {
  const auto view = StridedMemoryView::from_buffer<int>(device.allocate(64, stream), {16});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)view.as_span<int>(); }),
              AllOf(HasSubstr("access to a view of int32 with shape (16)"), HasSubstr("the host can't")));
  EXPECT_THROW((void)(view.as_strided_span<int, 1>()), InvalidArgument);
}

TEST_F(StridedViewTest, AsSpanRefusesAnotherType) {
  std::vector<int> values(4);
  const auto view = StridedMemoryView::from_span(std::span(values));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)view.as_span<float>(); }),
              AllOf(HasSubstr("as float32"), HasSubstr("view(layout, dtype) changes a view's type")));
}

TEST_F(StridedViewTest, AsSpanRefusesElementsOfAnotherSize) {
  struct Pair {
    int a, b;
  };
  std::vector<int> values(4);
  const auto view = StridedMemoryView::from_span(std::span(values));
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)view.as_span<Pair>(); }), HasSubstr("as elements of 8 bytes"));
}

TEST_F(StridedViewTest, AsSpanRefusesGaps) {
  std::vector<int> values(24);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)view.sliced({ellipsis, Slice{.step = 2}}).as_span<int>(); }),
              HasSubstr("is not contiguous in C order; as_strided_span takes any layout"));
  EXPECT_THROW((void)view.transposed().as_span<int>(), InvalidArgument);
}

TEST_F(StridedViewTest, AsSpanRefusesMemoryThatIsNotAligned) {
  alignas(8) std::array<std::byte, 16> bytes{};
  Buffer memory = Buffer::from_handle(reinterpret_cast<DevicePointer>(bytes.data() + 1), 8);
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)StridedMemoryView::from_buffer<int>(memory, {2}).as_span<int>(); }),
              HasSubstr("is not aligned to the element's 4 bytes"));
}

TEST_F(StridedViewTest, AsStridedSpanRefusesAnotherNumberOfAxes) {
  std::vector<int> values(24);
  const auto view = StridedMemoryView::from_span(std::span(values), {4, 6});
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)(view.as_strided_span<int, 3>()); }),
              AllOf(HasSubstr("as_strided_span with 3 axes"), HasSubstr("has 2")));
}

TEST_F(StridedViewTest, AStridedSpanKnowsItsShape) {
  std::vector<int> values(24);
  const auto span = StridedMemoryView::from_span(std::span(values), {4, 6}).as_strided_span<int, 2>();
  EXPECT_EQ(span.extent(1), 6);
  EXPECT_THAT(span.shape(), ElementsAre(4, 6));
}

TEST_F(StridedViewTest, AsSpanWaitsForTheAllocation) {
  // As Buffer::as_span: the memory may be one that was freed on the stream and is still in use there.
  Buffer target = device.allocate(sizeof(int), stream);
  Buffer first = pinned.allocate(sizeof(int), stream);
  first.as_span<int>()[0] = 1;
  Gate gate(stream);
  target.copy_from(first, stream);
  const DevicePointer address = first.handle();
  first.close();
  Buffer second = pinned.allocate(sizeof(int), stream);
  const auto view = StridedMemoryView::from_buffer<int>(second, {1});
  std::jthread later([&] {  // a view that does not wait has written by then
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    gate.open();
  });
  view.as_span<int>()[0] = 2;
  later.join();
  if (second.handle() != address) GTEST_SKIP() << "the driver did not use the memory again, so this shows nothing";
  EXPECT_EQ(download<int>(target, stream).front(), 1);
}

TEST_F(StridedViewTest, PrintsItself) {
  std::vector<float> values(6);
  EXPECT_THAT(printed(StridedMemoryView::from_span(std::span(values), {2, 3})),
              StartsWith("a view of float32 with shape (2, 3), strides (3, 1), itemsize 4 at 0x"));
}

}  // namespace
}  // namespace cuprum::tests
