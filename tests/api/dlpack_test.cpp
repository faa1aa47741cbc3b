// Arrays from and to other libraries by DLPack. The other library is played by the tests, with DLPack's own header.
#include <dlpack/dlpack.h>

#include <complex>
#include <cuprum/driver.hpp>
#include <limits>
#include <thread>

#include "api/fixture.hpp"
#include "api/gate.hpp"
#include "api/layout_reference.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What another library hands out: a tensor over host memory, unless changed, and how often it was given back.
template <typename Tensor>
struct Foreign {
  std::array<std::int64_t, 2> shape = {2, 3};
  std::array<std::int64_t, 2> strides = {3, 1};
  std::array<float, 6> values = {0, 1, 2, 3, 4, 5};
  int deletions = 0;
  Tensor tensor{};

  Foreign() {
    DLTensor& array = tensor.dl_tensor;
    array.data = values.data();
    array.device = {kDLCPU, 0};
    array.ndim = 2;
    array.dtype = {kDLFloat, 32, 1};
    array.shape = shape.data();
    array.strides = strides.data();
    tensor.manager_ctx = this;
    tensor.deleter = [](Tensor* self) { ++static_cast<Foreign*>(self->manager_ctx)->deletions; };
    if constexpr (requires { tensor.version; }) tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  }
  Foreign(const Foreign&) = delete;

  std::unique_ptr<Tensor, DLPackDeleter> hand_out() { return std::unique_ptr<Tensor, DLPackDeleter>(&tensor); }

  /// Hands the tensor to from_dlpack, which must refuse it and give it back.
  std::string refusal() {
    const std::string text = error_of<InvalidArgument>([&] { from_dlpack(hand_out()); });
    EXPECT_EQ(deletions, 1) << text;
    return text;
  }
};

using Old = Foreign<DLManagedTensor>;
using New = Foreign<DLManagedTensorVersioned>;

template <typename T>
class DlpackImport : public ::testing::Test {};
using Forms = ::testing::Types<DLManagedTensor, DLManagedTensorVersioned>;

struct FormNames {
  template <typename Tensor>
  static std::string GetName(int) {
    return std::is_same_v<Tensor, DLManagedTensor> ? "Unversioned" : "Versioned";
  }
};
TYPED_TEST_SUITE(DlpackImport, Forms, FormNames);

TYPED_TEST(DlpackImport, ViewsTheMemory) {
  Foreign<TypeParam> foreign;
  const StridedMemoryView view = from_dlpack(foreign.hand_out());
  EXPECT_THAT(view.shape(), ElementsAre(2, 3));
  EXPECT_THAT(view.strides(), ElementsAre(3, 1));
  EXPECT_EQ(view.dtype(), dtype_of<float>());
  EXPECT_EQ(view.memory_kind(), MemoryKind::host);
  EXPECT_EQ(view.device_id(), std::nullopt);
  EXPECT_FALSE(view.is_readonly());
  EXPECT_FALSE(view.is_copied());
  view.as_span<float>()[5] = 50;
  EXPECT_EQ(foreign.values[5], 50);
}

TYPED_TEST(DlpackImport, GivesTheTensorBackOnceWhenTheLastViewGoes) {
  Foreign<TypeParam> foreign;
  {
    const StridedMemoryView part = from_dlpack(foreign.hand_out())[1];
    const StridedMemoryView copy = part;
    EXPECT_EQ(foreign.deletions, 0);
    EXPECT_EQ(part.template as_span<float>()[0], 3);
  }
  EXPECT_EQ(foreign.deletions, 1);
}

TYPED_TEST(DlpackImport, GivesTheTensorBackWhenTheMemoryIsClosedAndNoViewIsLeft) {
  Foreign<TypeParam> foreign;
  {
    const StridedMemoryView view = from_dlpack(foreign.hand_out());
    Buffer memory = view.exporting_obj();
    memory.close();
    EXPECT_EQ(foreign.deletions, 0);
    EXPECT_EQ(view.template as_span<float>()[3], 3);
  }
  EXPECT_EQ(foreign.deletions, 1);
}

TYPED_TEST(DlpackImport, TakesATensorWithoutADeleter) {
  Foreign<TypeParam> foreign;
  foreign.tensor.deleter = nullptr;
  EXPECT_EQ(from_dlpack(foreign.hand_out()).size(), 6);
}

TYPED_TEST(DlpackImport, WithoutStridesIsInCOrder) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.strides = nullptr;
  EXPECT_THAT(from_dlpack(foreign.hand_out()).strides(), ElementsAre(3, 1));
}

TYPED_TEST(DlpackImport, OfNoDimensionsHasOneElement) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.ndim = 0;
  foreign.tensor.dl_tensor.shape = foreign.tensor.dl_tensor.strides = nullptr;
  EXPECT_EQ(from_dlpack(foreign.hand_out()).size(), 1);
}

TYPED_TEST(DlpackImport, OfNoElementsNeedsNoData) {
  Foreign<TypeParam> foreign;
  foreign.shape = {2, 0};
  foreign.tensor.dl_tensor.data = nullptr;
  EXPECT_EQ(from_dlpack(foreign.hand_out()).size(), 0);
}

TYPED_TEST(DlpackImport, AddsTheByteOffset) {
  Foreign<TypeParam> foreign;
  foreign.shape = {1, 3};
  foreign.tensor.dl_tensor.byte_offset = 3 * sizeof(float);
  EXPECT_THAT(from_dlpack(foreign.hand_out()).template as_span<float>(), ElementsAre(3, 4, 5));
}

TYPED_TEST(DlpackImport, OfABackwardsArrayStaysWithinItsMemory) {
  Foreign<TypeParam> foreign;
  foreign.strides = {-3, 1};
  foreign.tensor.dl_tensor.data = foreign.values.data() + 3;
  const StridedMemoryView view = from_dlpack(foreign.hand_out());
  EXPECT_EQ((view.template as_strided_span<float, 2>()(1, 2)), 2);
  EXPECT_THAT(view[Slice{.step = -1}].template as_span<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THROW(view.view(StridedLayout({3, 3}, {-3, 1}, 4)), InvalidArgument) << "one row more";
  EXPECT_THROW(view.view(StridedLayout({4}, 4)), InvalidArgument) << "one element more";
}

TYPED_TEST(DlpackImport, TakesAllTypesOfWholeBytes) {
  const auto imported = [](DLDataType type) {
    Foreign<TypeParam> foreign;
    foreign.tensor.dl_tensor.dtype = type;
    foreign.shape = {1, 1};
    return from_dlpack(foreign.hand_out()).dtype();
  };
  EXPECT_EQ(imported({kDLInt, 16, 1}), dtype_of<std::int16_t>());
  EXPECT_EQ(imported({kDLUInt, 8, 1}), dtype_of<std::uint8_t>());
  EXPECT_EQ(imported({kDLBool, 8, 1}), dtype_of<bool>());
  EXPECT_EQ(imported({kDLComplex, 128, 1}), dtype_of<std::complex<double>>());
  EXPECT_EQ(imported({kDLBfloat, 16, 1}), (DataType{DataTypeCode::bfloat, 16}));
  EXPECT_EQ(imported({kDLFloat, 32, 4}), (DataType{DataTypeCode::floating, 32, 4}));
  EXPECT_EQ(imported({kDLFloat4_e2m1fn, 4, 2}), (DataType{DataTypeCode::float4_e2m1fn, 4, 2}));
}

TYPED_TEST(DlpackImport, RefusesElementsOfPartsOfBytes) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  EXPECT_THAT(foreign.refusal(), HasSubstr("of float4_e2m1fn: its elements don't fill whole bytes"));
}

TYPED_TEST(DlpackImport, RefusesElementsWithoutBits) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.dtype = {kDLFloat, 32, 0};
  EXPECT_THAT(foreign.refusal(), HasSubstr("of elements without bits"));
}

TYPED_TEST(DlpackImport, RefusesAnotherDevice) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.device = {kDLVulkan, 0};
  EXPECT_THAT(foreign.refusal(), HasSubstr("on a device of type 7: only the CPU's memory (1) and CUDA's"));
}

TYPED_TEST(DlpackImport, RefusesADeviceNumberThatIsNone) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.device = {kDLCUDA, -1};
  EXPECT_THAT(foreign.refusal(), HasSubstr("on device -1"));
}

TYPED_TEST(DlpackImport, RefusesANumberOfDimensionsThatCanNotBe) {
  Foreign<TypeParam> negative;
  negative.tensor.dl_tensor.ndim = -1;
  EXPECT_THAT(negative.refusal(), HasSubstr("of -1 dimensions: there can be 0 to 64"));
  Foreign<TypeParam> many;
  many.tensor.dl_tensor.ndim = 65;
  EXPECT_THAT(many.refusal(), HasSubstr("of 65 dimensions"));
}

TYPED_TEST(DlpackImport, RefusesDimensionsWithoutAShape) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.shape = nullptr;
  EXPECT_THAT(foreign.refusal(), HasSubstr("of 2 dimensions has no shape"));
}

TYPED_TEST(DlpackImport, RefusesElementsWithoutData) {
  Foreign<TypeParam> foreign;
  foreign.tensor.dl_tensor.data = nullptr;
  EXPECT_THAT(foreign.refusal(), HasSubstr("of 6 elements has no data"));
}

TYPED_TEST(DlpackImport, RefusesANegativeExtent) {
  Foreign<TypeParam> foreign;
  foreign.shape = {2, -3};
  EXPECT_THAT(foreign.refusal(), HasSubstr("extents must not be negative"));
}

TYPED_TEST(DlpackImport, RefusesASizeBeyond64Bits) {
  Foreign<TypeParam> foreign;
  foreign.shape = {std::numeric_limits<std::int64_t>::max(), 3};
  EXPECT_THAT(foreign.refusal(), HasSubstr("does not fit into 64 bits"));
}

TYPED_TEST(DlpackImport, RefusesNull) {
  EXPECT_THAT(error_of<InvalidArgument>([] { from_dlpack(std::unique_ptr<TypeParam, DLPackDeleter>()); }),
              HasSubstr("the tensor is null"));
}

TEST(DlpackVersions, AnotherMajorVersionIsRefusedAndGivenBack) {
  for (std::uint32_t major : {0u, 2u}) {
    New foreign;
    foreign.tensor.version = {major, 5};
    EXPECT_THAT(foreign.refusal(), AllOf(HasSubstr("of DLPack version " + std::to_string(major) + ".5"),
                                         HasSubstr("understands versions 1.x")));
  }
}

TEST(DlpackVersions, ALaterMinorVersionIsTaken) {
  New foreign;
  foreign.tensor.version = {DLPACK_MAJOR_VERSION, 999};
  EXPECT_EQ(from_dlpack(foreign.hand_out()).size(), 6);
}

TEST(DlpackFlags, ReadOnlyAndCopied) {
  New foreign;
  foreign.tensor.flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  const StridedMemoryView view = from_dlpack(foreign.hand_out());
  EXPECT_TRUE(view.is_readonly());
  EXPECT_TRUE(view.is_copied());
  EXPECT_THROW((void)view.as_span<float>(), InvalidArgument);
  EXPECT_EQ(view.as_span<const float>()[1], 1);
}

TEST(DlpackFlags, PaddedElementsTakeABytesEach) {
  New foreign;
  foreign.tensor.dl_tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  foreign.tensor.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  const StridedMemoryView view = from_dlpack(foreign.hand_out());
  EXPECT_EQ(view.layout().itemsize(), 1);
  const DLPackTensorVersioned again = to_dlpack_versioned(view);
  EXPECT_EQ(again->flags, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED);
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_dlpack(view); }), HasSubstr("its elements are padded"));
}

TEST(DlpackFlags, SurviveTheWayThrough) {
  New foreign;
  foreign.tensor.flags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  const DLPackTensorVersioned again = to_dlpack_versioned(from_dlpack(foreign.hand_out()));
  EXPECT_EQ(again->flags, foreign.tensor.flags);
  EXPECT_EQ(foreign.deletions, 0);
}

class DlpackExportTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();

  std::intptr_t raw(const Stream& any) { return reinterpret_cast<std::intptr_t>(any.handle()); }
};

TEST_F(DlpackExportTest, OfAView) {
  Buffer buffer = device.allocate(240, stream);
  const auto view =
      StridedMemoryView::from_buffer<float>(buffer, {6, 10}).sliced({Slice{.start = 2}, Slice{.step = -3}});
  const DLPackTensorVersioned tensor = to_dlpack_versioned(view);
  EXPECT_EQ(tensor->version.major, 1u);
  EXPECT_EQ(tensor->flags, 0u);
  const DLTensor& array = tensor->dl_tensor;
  EXPECT_EQ(reinterpret_cast<DevicePointer>(array.data), buffer.handle() + (20 + 9) * sizeof(float));
  EXPECT_EQ(array.byte_offset, 0u);
  EXPECT_EQ(array.device.device_type, kDLCUDA);
  EXPECT_EQ(array.device.device_id, 0);
  EXPECT_EQ(array.dtype.code, kDLFloat);
  EXPECT_EQ(array.dtype.bits, 32);
  EXPECT_EQ(array.dtype.lanes, 1);
  ASSERT_EQ(array.ndim, 2);
  EXPECT_THAT(std::span(array.shape, 2), ElementsAre(4, 4));
  EXPECT_THAT(std::span(array.strides, 2), ElementsAre(10, -3));
}

TEST_F(DlpackExportTest, OfAnUnversionedView) {
  std::vector<int> values(6);
  const DLPackTensor tensor = to_dlpack(StridedMemoryView::from_span(std::span(values), {2, 3}));
  EXPECT_EQ(tensor->dl_tensor.data, values.data());
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(tensor->dl_tensor.dtype.code, kDLInt);
  EXPECT_THAT(std::span(tensor->dl_tensor.strides, 2), ElementsAre(3, 1));
}

TEST_F(DlpackExportTest, OfABufferIsItsBytes) {
  Buffer buffer = device.allocate(100, stream);
  const DLPackTensorVersioned tensor = to_dlpack_versioned(buffer);
  EXPECT_EQ(reinterpret_cast<DevicePointer>(tensor->dl_tensor.data), buffer.handle());
  EXPECT_EQ(tensor->dl_tensor.ndim, 1);
  EXPECT_EQ(tensor->dl_tensor.shape[0], 100);
  EXPECT_EQ(tensor->dl_tensor.strides[0], 1);
  EXPECT_EQ(tensor->dl_tensor.dtype.code, kDLInt);
  EXPECT_EQ(tensor->dl_tensor.dtype.bits, 8);
  const DLPackTensor old = to_dlpack(buffer);
  EXPECT_EQ(old->dl_tensor.shape[0], 100);
}

TEST_F(DlpackExportTest, OfPinnedMemoryIsCudaHost) {
  const DLPackTensorVersioned tensor = to_dlpack_versioned(PinnedMemoryResource().allocate(64, stream));
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDAHost);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 0);
}

TEST_F(DlpackExportTest, OfManagedMemoryIsCudaManaged) {
  CUdeviceptr pointer = 0;
  driver::call<&driver::Api::cuMemAllocManaged>(&pointer, std::size_t{64}, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  {
    DLPackTensorVersioned tensor = to_dlpack_versioned(Buffer::from_handle(pointer, 64));
    EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDAManaged);
    EXPECT_EQ(tensor->dl_tensor.device.device_id, 0);
    const StridedMemoryView view = from_dlpack(std::move(tensor));
    EXPECT_EQ(view.memory_kind(), MemoryKind::managed);
    EXPECT_EQ(to_dlpack(view)->dl_tensor.device.device_type, kDLCUDAManaged) << "all the way through";
  }
  driver::call<&driver::Api::cuMemFree>(pointer);
}

TEST_F(DlpackExportTest, OfAManagedPoolIsCudaManaged) {
  // The driver doesn't say of memory from such a pool that it is managed; the resource does.
  const DLPackTensorVersioned tensor = to_dlpack_versioned(ManagedMemoryResource().allocate(64, stream));
  EXPECT_EQ(tensor->dl_tensor.device.device_type, kDLCUDAManaged);
  EXPECT_EQ(tensor->dl_tensor.device.device_id, 0);
}

/// Ordinary memory that is said to be what it is told.
class Claimed : public MemoryResource::Interface {
 public:
  Claimed(bool device, bool host) : device_(device), host_(host) {}
  DevicePointer allocate(std::size_t, const Stream&) override {
    return reinterpret_cast<DevicePointer>(memory_.data());
  }
  void deallocate(DevicePointer, std::size_t, const Stream&) override {}
  bool is_device_accessible() const override { return device_; }
  bool is_host_accessible() const override { return host_; }
  std::optional<int> device_id() const override { return device_ && !host_ ? std::optional(0) : std::nullopt; }

 private:
  std::array<std::byte, 64> memory_{};
  bool device_;
  bool host_;
};

TEST_F(DlpackExportTest, TheDeviceIsWhatTheMemoryResourceSays) {
  const auto type_of = [&](bool device_accessible, bool host_accessible) {
    const MemoryResource resource(std::make_shared<Claimed>(device_accessible, host_accessible));
    return to_dlpack_versioned(resource.allocate(64, stream))->dl_tensor.device.device_type;
  };
  EXPECT_EQ(type_of(true, false), kDLCUDA);
  EXPECT_EQ(type_of(false, true), kDLCPU);
  EXPECT_EQ(type_of(true, true), kDLCUDAHost);
}

TEST_F(DlpackExportTest, RefusesMemoryThatNobodyCanAccess) {
  Buffer buffer = MemoryResource(std::make_shared<Claimed>(false, false)).allocate(64, stream);
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_dlpack(buffer); }),
              HasSubstr("neither a device nor the host can access it"));
  EXPECT_THROW(to_dlpack_versioned(buffer), InvalidArgument);
  EXPECT_EQ(live_objects().buffers, 1u);
}

TEST_F(DlpackExportTest, OfNoDimensionsAndOfNoElements) {
  std::vector<int> values(6);
  const auto view = StridedMemoryView::from_span(std::span(values), {2, 3});
  const DLPackTensorVersioned scalar = to_dlpack_versioned(view.sliced({0, 0}));
  EXPECT_EQ(scalar->dl_tensor.ndim, 0);
  EXPECT_EQ(scalar->dl_tensor.shape, nullptr);
  EXPECT_EQ(scalar->dl_tensor.strides, nullptr);
  const DLPackTensorVersioned empty = to_dlpack_versioned(view[Slice{.start = 2}]);
  EXPECT_EQ(empty->dl_tensor.data, nullptr);
  EXPECT_THAT(std::span(empty->dl_tensor.shape, 2), ElementsAre(0, 3));
}

TEST_F(DlpackExportTest, KeepsTheMemoryUntilItIsGivenBack) {
  DLPackTensorVersioned tensor;
  {
    Buffer buffer = device.allocate(64, stream);
    tensor = to_dlpack_versioned(buffer);
  }
  EXPECT_EQ(live_objects().buffers, 1u);
  DLManagedTensorVersioned* raw_tensor = tensor.release();  // as the importing library has it
  std::jthread([&] { raw_tensor->deleter(raw_tensor); }).join();
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_F(DlpackExportTest, ComesBackAsTheSameView) {
  LayoutMaker make(5);
  Buffer buffer = device.allocate(1 << 14, stream);
  for (int i = 0; i < 100; ++i) {
    const StridedLayout layout = make.derived();
    const DataType type{DataTypeCode::unsigned_integer, 8, static_cast<std::uint16_t>(layout.itemsize())};
    const auto view = StridedMemoryView::from_buffer(buffer, layout, {.dtype = type, .is_readonly = make.chance(50)});
    const StridedMemoryView back = from_dlpack(to_dlpack_versioned(view));
    EXPECT_EQ(back.dtype(), view.dtype());
    EXPECT_EQ(back.memory_kind(), view.memory_kind());
    EXPECT_EQ(back.device_id(), view.device_id());
    EXPECT_EQ(back.is_readonly(), view.is_readonly());
    EXPECT_TRUE(std::ranges::equal(back.shape(), view.shape()) && std::ranges::equal(back.strides(), view.strides()));
    EXPECT_EQ(back.ptr(), view.size() > 0 ? view.ptr() : 0u);
  }
}

TEST_F(DlpackExportTest, MakesTheImportersStreamWait) {
  Stream theirs = device.create_stream();
  Buffer buffer = device.allocate(sizeof(int), stream);
  Buffer seen = device.allocate(sizeof(int), theirs);
  Gate gate(stream);
  buffer.fill<int>(42, stream);
  const DLPackTensorVersioned tensor = to_dlpack_versioned(buffer, {.stream = raw(theirs)});
  seen.copy_from(buffer, theirs);
  EXPECT_FALSE(theirs.record().is_done());
  gate.open();
  EXPECT_EQ(download<int>(seen, theirs).front(), 42);
}

TEST_F(DlpackExportTest, WaitsForTheStreamThatIsNamedInsteadOfTheAllocations) {
  Stream filling = device.create_stream();
  Stream theirs = device.create_stream();
  Buffer buffer = device.allocate(sizeof(int), stream);
  stream.sync();
  Gate gate(filling);
  buffer.fill<int>(42, filling);
  const DLPackTensor tensor = to_dlpack(buffer, {.stream = raw(theirs), .producer = filling});
  EXPECT_FALSE(theirs.record().is_done());
  gate.open();
  theirs.sync();
  EXPECT_EQ(download<int>(buffer, theirs).front(), 42);
}

TEST_F(DlpackExportTest, WithoutAStreamOrdersNothing) {
  Stream theirs = device.create_stream();
  Buffer buffer = device.allocate(sizeof(int), stream);
  Gate gate(stream);
  const DLPackTensorVersioned tensor = to_dlpack_versioned(buffer);
  theirs.sync();  // would never return if it waited
  gate.open();
}

TEST_F(DlpackExportTest, TakesTheDefaultStreamsByTheirNumbers) {
  Buffer buffer = device.allocate(sizeof(int), stream);
  for (std::intptr_t number : {1, 2}) {
    Gate gate(stream);
    const DLPackTensorVersioned tensor = to_dlpack_versioned(buffer, {.stream = number});
    Event after = Stream::from_handle(reinterpret_cast<CUstream_st*>(number)).record();
    EXPECT_FALSE(after.is_done()) << number;
    gate.open();
    after.sync();
  }
}

TEST_F(DlpackExportTest, RefusesStreamNumbersThatMeanNothing) {
  Buffer buffer = device.allocate(sizeof(int), stream);
  EXPECT_THAT(
      error_of<InvalidArgument>([&] { to_dlpack_versioned(buffer, {.stream = 0}); }),
      HasSubstr("for stream 0: it can be -1 (no order), 1 (legacy default), 2 (per-thread default) or a CUstream"));
  EXPECT_THROW(to_dlpack(buffer, {.stream = -2}), InvalidArgument);
}

TEST_F(DlpackExportTest, RefusesAStreamForHostMemory) {
  std::vector<int> values(6);
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                to_dlpack_versioned(StridedMemoryView::from_span(std::span(values)), {.stream = raw(stream)});
              }),
              HasSubstr("host memory is used on no stream; sync() what fills it and pass -1"));
}

TEST_F(DlpackExportTest, RefusesToGuessTheProducerOfWrappedMemory) {
  Buffer buffer = device.allocate(sizeof(int), stream);
  Buffer wrapped = Buffer::from_handle(buffer.handle(), buffer.size());
  Stream theirs = device.create_stream();
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_dlpack_versioned(wrapped, {.stream = raw(theirs)}); }),
              HasSubstr("say in `producer` which one to wait for"));
  EXPECT_NO_THROW(to_dlpack_versioned(wrapped, {.stream = raw(theirs), .producer = stream}));
}

TEST_F(DlpackExportTest, RefusesAViewWithoutAType) {
  const auto view = StridedMemoryView::from_buffer(device.allocate(64, stream), StridedLayout({16}, 4));
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_dlpack_versioned(view); }),
              HasSubstr("it has no data type; view(layout, dtype) gives it one"));
}

TEST_F(DlpackExportTest, RefusesAReadOnlyViewInTheFormThatCanNotSaySo) {
  const std::vector<int> values(6);
  const auto view = StridedMemoryView::from_span(std::span(values));
  EXPECT_EQ(to_dlpack_versioned(view)->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  EXPECT_THAT(error_of<InvalidArgument>([&] { to_dlpack(view); }),
              HasSubstr("it is read-only, which only to_dlpack_versioned can say"));
}

TEST_F(DlpackExportTest, RefusesAClosedBuffer) {
  Buffer buffer = device.allocate(64, stream);
  const auto view = StridedMemoryView::from_buffer<int>(buffer, {16});
  buffer.close();
  EXPECT_THROW(to_dlpack(buffer), InvalidArgument);
  EXPECT_NE(to_dlpack_versioned(view)->dl_tensor.data, nullptr);  // the view has the memory
}

TEST_F(DlpackExportTest, KeepsTheMemoryOfABufferThatIsClosed) {
  Buffer buffer = PinnedMemoryResource().allocate(64, stream);
  buffer.as_span<std::int8_t>()[63] = 7;
  {
    const DLPackTensor tensor = to_dlpack(buffer);
    buffer.close();
    EXPECT_EQ(live_objects().buffers, 1u);
    EXPECT_EQ(static_cast<const std::int8_t*>(tensor->dl_tensor.data)[63], 7);
  }
  EXPECT_EQ(live_objects().buffers, 0u);
}

TEST_F(DlpackExportTest, OfDeviceMemoryCanBeImportedAndUsed) {
  Buffer buffer = upload(numbers(16), stream);
  const StridedMemoryView view =
      from_dlpack(to_dlpack_versioned(StridedMemoryView::from_buffer<float>(buffer, {4, 4})));
  EXPECT_EQ(view.memory_kind(), MemoryKind::device);
  EXPECT_EQ(view.device_id(), 0);
  std::vector<float> column(4);
  view.sliced({Slice{}, 1}).copy_to(StridedMemoryView::from_span(std::span(column)), stream);
  EXPECT_THAT(column, ElementsAre(1, 5, 9, 13));
}

}  // namespace
}  // namespace cuprum::tests
