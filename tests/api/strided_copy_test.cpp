// Copies between views: every element arrives, and nothing else changes, whatever the layouts and kinds of memory.
#include <cuprum/driver.hpp>

#include "api/fixture.hpp"
#include "api/gate.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t memory_bytes = 1 << 17;

class StridedCopyBase : public ApiTest {
 protected:
  Stream stream = device.create_stream();

  Buffer allocate(MemoryKind kind) {
    if (kind == MemoryKind::device) return device.allocate(memory_bytes, stream);
    if (kind == MemoryKind::pinned) return PinnedMemoryResource().allocate(memory_bytes, stream);
    auto owner = std::make_shared<std::vector<std::byte>>(memory_bytes);
    return Buffer::from_handle(reinterpret_cast<DevicePointer>(owner->data()), memory_bytes, owner);
  }

  /// Copies between the layouts in memory of these kinds, and compares all bytes of the destination with what they
  /// should be.
  void check(MemoryKind from_kind, MemoryKind to_kind, const StridedLayout& from, const StridedLayout& to) {
    Buffer source = allocate(from_kind);
    Buffer destination = allocate(to_kind);
    std::vector<std::uint8_t> contents(memory_bytes);
    for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<std::uint8_t>(i * 37 + i / 251);
    source.copy_from(std::span(contents), stream);
    std::vector<std::uint8_t> expected(memory_bytes, 0xee);
    destination.copy_from(std::span(expected), stream);

    const StridedMemoryView read = StridedMemoryView::from_buffer(source, from);
    const StridedMemoryView written = StridedMemoryView::from_buffer(destination, to);
    written.copy_from(read, stream);

    const auto from_offsets = elements_of(read.layout()).offsets;
    const auto to_offsets = elements_of(written.layout()).offsets;
    for (std::size_t i = 0; i < to_offsets.size(); ++i)
      for (std::int64_t byte = 0; byte < to.itemsize(); ++byte)
        expected[to_offsets[i] * to.itemsize() + byte] = contents[from_offsets[i] * from.itemsize() + byte];
    ASSERT_EQ(download<std::uint8_t>(destination, stream), expected) << "from " << from << " to " << to;
  }
};

struct Direction {
  const char* name;
  MemoryKind from;
  MemoryKind to;
  friend void PrintTo(const Direction& direction, std::ostream* out) { *out << direction.name; }
};

class StridedCopy : public StridedCopyBase, public ::testing::WithParamInterface<Direction> {
 protected:
  void check(const StridedLayout& from, const StridedLayout& to) {
    StridedCopyBase::check(GetParam().from, GetParam().to, from, to);
  }
};

INSTANTIATE_TEST_SUITE_P(Directions, StridedCopy,
                         ::testing::Values(Direction{"HostToDevice", MemoryKind::host, MemoryKind::device},
                                           Direction{"DeviceToHost", MemoryKind::device, MemoryKind::host},
                                           Direction{"DeviceToDevice", MemoryKind::device, MemoryKind::device},
                                           Direction{"PinnedToDevice", MemoryKind::pinned, MemoryKind::device},
                                           Direction{"DeviceToPinned", MemoryKind::device, MemoryKind::pinned},
                                           Direction{"HostToHost", MemoryKind::host, MemoryKind::host}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(StridedCopy, OfContiguousViews) { check(StridedLayout({5, 7}, 4), StridedLayout({5, 7}, 4)); }

TEST_P(StridedCopy, OfPaddedRows) {
  check(StridedLayout({5, 7}, {9, 1}, 4), StridedLayout({5, 7}, {12, 1}, 4));
  check(StridedLayout({5, 7}, 4), StridedLayout({5, 7}, {12, 1}, 4));
}

TEST_P(StridedCopy, OfABoxWithinABox) {
  const StridedLayout box =
      StridedLayout({6, 8, 10}, 4).sliced({Slice{.start = 1, .stop = 5}, Slice{.start = 2}, Slice{.stop = 7}});
  check(box, box);
  check(box, box.to_dense());
  check(box.to_dense(), box);
}

TEST_P(StridedCopy, OfAColumn) {
  check(StridedLayout({9, 11}, 4).sliced({Slice{}, 3}), StridedLayout({9}, 4));
  check(StridedLayout({9}, 4), StridedLayout({9, 11}, 4).sliced({Slice{}, 3}));
}

TEST_P(StridedCopy, OfATransposedMatrix) { check(StridedLayout({7, 5}, 8).transposed(), StridedLayout({5, 7}, 8)); }

TEST_P(StridedCopy, OfBackwardsAxes) {
  const StridedLayout forward({6, 5}, 2);
  const StridedLayout backward = forward.sliced({Slice{.step = -1}, Slice{.step = -1}});
  check(backward, backward);
  check(forward, backward);
  check(forward.sliced({Slice{}, Slice{.step = -1}}), forward);
}

TEST_P(StridedCopy, OfRepeatedElements) {
  check(StridedLayout({7}, 4).broadcast_to({5, 7}), StridedLayout({5, 7}, 4));
  check(StridedLayout({5, 1}, 4).broadcast_to({5, 7}), StridedLayout({5, 7}, 4));
}

TEST_P(StridedCopy, OfOneElement) { check(StridedLayout({3, 3}, 16).sliced({1, 1}), StridedLayout({}, 16)); }

TEST_P(StridedCopy, OfNoElements) { check(StridedLayout({3, 0}, 4), StridedLayout({3, 0}, 4)); }

TEST_P(StridedCopy, OfRandomLayouts) {
  LayoutMaker make(20240817);
  for (int i = 0; i < 60; ++i) {
    const StridedLayout from = make.derived();
    const Extents shape(from.shape().begin(), from.shape().end());
    const StridedLayout dense = StridedLayout::dense(shape, from.itemsize(), make.permutation(from.ndim()));
    // Every second element of one that is larger, some axes backwards.
    Extents larger = shape;
    std::vector<SliceItem> items;
    for (std::int64_t& extent : larger) {
      const bool spread = make.chance(40);
      const bool turned = make.chance(30);
      items.emplace_back(Slice{.step = (spread ? 2 : 1) * (turned ? -1 : 1)});
      if (spread && extent > 0) extent = 2 * extent - 1;
    }
    const StridedLayout to =
        make.chance(50) ? dense
                        : StridedLayout::dense(larger, from.itemsize(), make.permutation(from.ndim())).sliced(items);
    check(from, to);
    if (HasFatalFailure()) return;
  }
}

class StridedCopyTest : public StridedCopyBase {};

TEST_F(StridedCopyTest, CopyToIsTheOtherDirection) {
  std::vector<int> values(12);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int> back(12);
  const auto on_device = StridedMemoryView::from_buffer<int>(device.allocate(48, stream), {3, 4});
  on_device.copy_from(StridedMemoryView::from_span(std::span(values), {3, 4}), stream);
  on_device.copy_to(StridedMemoryView::from_span(std::span(back), {3, 4}), stream);
  EXPECT_EQ(back, values);
}

TEST_F(StridedCopyTest, ToTheHostWaitsUnlessToldOtherwise) {
  Buffer source = device.allocate(16, stream);
  source.fill<int>(1, stream);
  const auto from = StridedMemoryView::from_buffer<int>(source, {4});
  const auto to = StridedMemoryView::from_buffer<int>(PinnedMemoryResource().allocate(16, stream), {4});
  std::ranges::fill(to.as_span<int>(), 0);
  Gate gate(stream);
  to.copy_from(from, stream, {.blocking = false});  // returns although the stream is held
  EXPECT_EQ(to.as_span<int>()[0], 0);
  gate.open();
  to.copy_from(from, stream);
  EXPECT_EQ(to.as_span<int>()[0], 1) << "without a sync";
}

TEST_F(StridedCopyTest, BetweenDeviceViewsDoesNotWait) {
  const auto from = StridedMemoryView::from_buffer<int>(device.allocate(64, stream), {4, 4});
  const auto to = StridedMemoryView::from_buffer<int>(device.allocate(64, stream), {4, 4});
  Gate gate(stream);
  to.copy_from(from.transposed(), stream);  // would never return if it waited
  gate.open();
}

TEST_F(StridedCopyTest, IsOrderedAfterEarlierWork) {
  Buffer source = device.allocate(64, stream);
  Gate gate(stream);
  source.fill<int>(7, stream);
  std::vector<int> values(4);
  Buffer target = device.allocate(16, stream);
  const auto column = StridedMemoryView::from_buffer<int>(source, {4, 4}).sliced({Slice{}, 1});
  StridedMemoryView::from_buffer<int>(target, {4}).copy_from(column, stream);
  gate.open();
  EXPECT_EQ(download<int>(target, stream), std::vector<int>(4, 7));
}

TEST_F(StridedCopyTest, RefusesAReadOnlyDestination) {
  const std::vector<int> constant(4);
  std::vector<int> values(4);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                StridedMemoryView::from_span(std::span(constant))
                    .copy_from(StridedMemoryView::from_span(std::span(values)), stream);
              }),
              AllOf(HasSubstr("copying to a view of int32"), HasSubstr("it is read-only")));
}

TEST_F(StridedCopyTest, RefusesAnotherShape) {
  std::vector<int> a(6), b(6);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                StridedMemoryView::from_span(std::span(a), {2, 3})
                    .copy_from(StridedMemoryView::from_span(std::span(b), {3, 2}), stream);
              }),
              HasSubstr("copying shape (3, 2) to shape (2, 3): they must be equal"));
}

TEST_F(StridedCopyTest, RefusesAnotherTypeAndItemsize) {
  std::vector<int> a(6);
  std::vector<float> b(6);
  std::vector<short> c(6);
  const auto to = StridedMemoryView::from_span(std::span(a));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to.copy_from(StridedMemoryView::from_span(std::span(b)), stream); }),
              HasSubstr("copying float32 to int32: a copy converts nothing"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to.copy_from(StridedMemoryView::from_span(std::span(c)), stream); }),
              HasSubstr("copying elements of 2 bytes to elements of 4 bytes"));
}

TEST_F(StridedCopyTest, RefusesADestinationWhoseElementsShareMemory) {
  std::vector<int> a(6), b(6);
  const auto to = StridedMemoryView::from_span(std::span(a))[0].broadcast_to({6});
  EXPECT_THAT(error_of<InvalidArgument>([&] { to.copy_from(StridedMemoryView::from_span(std::span(b)), stream); }),
              HasSubstr("some of its elements share their memory"));
}

TEST_F(StridedCopyTest, RefusesAClosedStreamAndTakesMemoryOfAClosedBuffer) {
  std::vector<int> a(6);
  Buffer buffer = device.allocate(24, stream);
  buffer.fill<int>(9, stream);
  const auto from = StridedMemoryView::from_buffer<int>(buffer, {6});
  const auto to = StridedMemoryView::from_span(std::span(a));
  Stream closed = device.create_stream();
  closed.close();
  EXPECT_THROW(to.copy_from(from, closed), InvalidArgument);
  buffer.close();
  to.copy_from(from, stream);
  EXPECT_THAT(a, ::testing::Each(9));
}

}  // namespace
}  // namespace cuprum::tests
