// Views and DLPack when calls of the driver fail.
#include "api/failing_api.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ViewFaultTest : public ApiTest {
 protected:
  Stream stream = device.create_stream();
  Stream theirs = device.create_stream();
  FailingApi failing;
};

TEST_F(ViewFaultTest, EveryFailingCallOfACopyIsReported) {
  EXPECT_GT(failing.fail_each_call([&] {
    std::vector<int> values(12);
    std::iota(values.begin(), values.end(), 0);
    std::vector<int> back(12);
    const auto matrix = StridedMemoryView::from_buffer<int>(device.allocate(48, stream), {3, 4});
    matrix.copy_from(StridedMemoryView::from_span(std::span(values), {3, 4}), stream);
    matrix.transposed().copy_to(StridedMemoryView::from_span(std::span(back), {4, 3}), stream);
    EXPECT_EQ(back, (std::vector<int>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11})) << "after " << failing.failed();
  }),
            8);
}

TEST_F(ViewFaultTest, EveryFailingCallOfAnExportIsReported) {
  EXPECT_GT(failing.fail_each_call([&] {
    Buffer buffer = device.allocate(64, stream);
    const DLPackTensorVersioned tensor =
        to_dlpack_versioned(buffer, {.stream = reinterpret_cast<std::intptr_t>(theirs.handle())});
    EXPECT_EQ(from_dlpack(to_dlpack(buffer, {.stream = 1})).size(), 64) << "after " << failing.failed();
  }),
            5);
}

TEST_F(ViewFaultTest, AFailedCopyNamesBothViewsAndTheStream) {
  const auto from = StridedMemoryView::from_buffer<int>(device.allocate(48, stream), {3, 4});
  const auto to = StridedMemoryView::from_buffer<int>(device.allocate(48, stream), {4, 3});
  failing.fail_next("cuMemcpy3DAsync", CUDA_ERROR_INVALID_VALUE);
  EXPECT_THAT(error_of<DriverError>([&] { to.copy_from(from.transposed(), stream); }),
              AllOf(HasSubstr("copying a view of int32 with shape (4, 3), strides (1, 4)"),
                    HasSubstr("to a view of int32 with shape (4, 3), strides (3, 1)"), HasSubstr("on stream "),
                    HasSubstr("cuMemcpy3DAsync failed with CUDA_ERROR_INVALID_VALUE")));
}

}  // namespace
}  // namespace cuprum::tests
