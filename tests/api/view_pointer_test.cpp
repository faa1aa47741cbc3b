// Views from pointers, and views as kernel arguments.
#include <array>

#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

class ViewPointerTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  std::array<int, 6> values = {0, 1, 2, 3, 4, 5};
};

TEST_F(ViewPointerTest, HasStridesOfAnySign) {
  const auto backwards = StridedMemoryView::from_pointer(&values[5], {6}, {-1});
  const auto elements = backwards.as_strided_span<int, 1>();
  EXPECT_EQ(elements(0), 5);
  EXPECT_EQ(elements(5), 0);
  const auto both = StridedMemoryView::from_pointer(&values[3], {2, 3}, {-3, 1}).as_strided_span<int, 2>();
  EXPECT_EQ(both(0, 2), 5);
  EXPECT_EQ(both(1, 0), 0);
  const auto same = StridedMemoryView::from_pointer(&values[2], {4}, {0}).as_strided_span<int, 1>();
  EXPECT_EQ(same(3), 2);
}

TEST_F(ViewPointerTest, StaysInsideWhatItReaches) {
  const auto middle = StridedMemoryView::from_pointer(&values[3], {2}, {-1});
  EXPECT_THROW(middle.view(StridedLayout({4}, {-1}, sizeof(int))), InvalidArgument);
  EXPECT_THROW(middle.view(StridedLayout({3}, {1}, sizeof(int))), InvalidArgument);
  const auto elements = middle.as_strided_span<int, 1>();
  EXPECT_EQ(elements(1), 2);
}

TEST_F(ViewPointerTest, IsReadOnlyForConstElements) {
  const int* first = values.data();
  EXPECT_TRUE(StridedMemoryView::from_pointer(first, {6}, {1}).is_readonly());
  EXPECT_EQ(StridedMemoryView::from_pointer(first, {6}, {1}).dtype(), dtype_of<int>());
}

TEST_F(ViewPointerTest, KnowsDeviceMemory) {
  const Buffer buffer = upload(std::vector<int>{0, 1, 2, 3, 4, 5}, stream);
  const auto view = StridedMemoryView::from_pointer(buffer.handle() + 20, StridedLayout({3}, {-2}, sizeof(int)),
                                                    {.dtype = dtype_of<int>()});
  EXPECT_EQ(view.memory_kind(), MemoryKind::device);
  EXPECT_EQ(view.device_id(), device.device_id());
  std::array<int, 3> back{};
  StridedMemoryView::from_span(std::span(back)).copy_from(view, stream);
  EXPECT_EQ(back, (std::array<int, 3>{5, 3, 1}));
}

TEST_F(ViewPointerTest, KeepsTheOwner) {
  auto owner = std::make_shared<int>(1);
  {
    const auto view = StridedMemoryView::from_pointer(owner.get(), {1}, {1}, owner);
    EXPECT_EQ(owner.use_count(), 2);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST_F(ViewPointerTest, RefusesNull) {
  EXPECT_THAT(error_of<InvalidArgument>([] { StridedMemoryView::from_pointer<int>(nullptr, {2}, {1}); }),
              HasSubstr("the pointer is null"));
  EXPECT_EQ(StridedMemoryView::from_pointer<int>(nullptr, {0}, {1}).size(), 0);
}

class ViewArgumentTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Kernel scale = compile(scale_source, "scale");
  Buffer data = upload(std::vector<float>{1, 2, 3, 4}, stream);
  StridedMemoryView upper = StridedMemoryView::from_buffer<float>(data, {4}).sliced({Slice{2, 4}});
  const LaunchConfig config{.grid = 1, .block = 4};
};

TEST_F(ViewArgumentTest, IsTheAddressOfItsFirstElement) {
  launch(stream, config, scale, upper, 10.0f, std::size_t{2});
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{1, 2, 30, 40}));
}

TEST_F(ViewArgumentTest, HasATypeForTypedKernels) {
  const TypedKernel<void(float*, float, std::size_t)> typed(scale);
  launch(stream, config, typed, upper, 10, 2);
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{1, 2, 30, 40}));
  const auto integers = upper.view(dtype_of<int>());
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, typed, integers, 10, 2); }),
              HasSubstr("as float32"));
  const auto constant = StridedMemoryView::from_buffer<float>(data, {4}, true);
  EXPECT_THAT(error_of<InvalidArgument>([&] { launch(stream, config, typed, constant, 10, 2); }),
              HasSubstr("read-only"));
}

TEST_F(ViewArgumentTest, IsKeptByPreparedLaunches) {
  PreparedLaunch step = prepare(stream, config, scale, upper, 10.0f, std::size_t{2});
  step();
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{1, 2, 30, 40}));
  step.set<0>(StridedMemoryView::from_buffer<float>(data, {4}).sliced({Slice{1, 4}}));
  step();
  EXPECT_EQ(download<float>(data, stream), (std::vector<float>{1, 20, 300, 40}));
  const DevicePointer address = data.handle();
  data = Buffer();
  upper = StridedMemoryView::from_span(std::span<float>());
  EXPECT_EQ(live_objects().buffers, 2u) << "the launch's, and that of the empty view";
  step();
  EXPECT_EQ(download<float>(Buffer::from_handle(address, 16), stream)[1], 200.0f);
}

}  // namespace
}  // namespace cuprum::tests
