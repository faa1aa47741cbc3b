#include <cstring>
#include <set>

#include "conformance/driver.hpp"

namespace conformance {
namespace {

TEST(BeforeInit, DISABLED_CallsSayThatTheDriverIsNotInitialized) {
  int count = 0;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_INITIALIZED, CU(cuDeviceGetCount)(&count));
  CUcontext context = nullptr;
  EXPECT_CUDA_ERROR(CUDA_ERROR_NOT_INITIALIZED, CU(cuCtxGetCurrent)(&context));
  int version = 0;
  EXPECT_SUCCESS(CU(cuDriverGetVersion)(&version));
}

TEST(Init, IsNeededBeforeAnythingElse) {
  EXPECT_EQ(run_in_child("BeforeInit.DISABLED_CallsSayThatTheDriverIsNotInitialized"), 0);
}

TEST(Init, TakesNoFlagsAndCanBeRepeated) {
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuInit)(1));
  EXPECT_SUCCESS(CU(cuInit)(0));
  EXPECT_SUCCESS(CU(cuInit)(0));
}

TEST(Init, VersionIsThatOfCuda12OrLater) {
  int version = 0;
  ASSERT_SUCCESS(CU(cuDriverGetVersion)(&version));
  EXPECT_GE(version, 12000);
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuDriverGetVersion)(nullptr));
}

TEST(Errors, HaveNamesAndDescriptions) {
  const char* text = nullptr;
  ASSERT_SUCCESS(CU(cuGetErrorName)(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ASSERT_SUCCESS(CU(cuGetErrorString)(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  ASSERT_SUCCESS(CU(cuGetErrorName)(CUDA_SUCCESS, &text));
  EXPECT_STREQ(text, "CUDA_SUCCESS");
}

TEST(Errors, UnknownCodesHaveNeither) {
  const char* text = "";
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuGetErrorName)(static_cast<CUresult>(998), &text));
  EXPECT_EQ(text, nullptr);
}

class ProcAddress : public DriverTest {
 protected:
  static void* find(const char* name, int version, cuuint64_t flags = 0) {
    void* address = nullptr;
    EXPECT_SUCCESS(CU(cuGetProcAddress)(name, &address, version, flags, &status_));
    return address;
  }
  static CUdriverProcAddressQueryResult status_;
};
CUdriverProcAddressQueryResult ProcAddress::status_;

TEST_F(ProcAddress, PicksTheNewestFormThatIsNotNewerThanAskedFor) {
  EXPECT_EQ(find("cuCtxCreate", 3020), symbol("cuCtxCreate_v2"));
  EXPECT_EQ(find("cuCtxCreate", 11030), symbol("cuCtxCreate_v2"));
  EXPECT_EQ(find("cuCtxCreate", 11040), symbol("cuCtxCreate_v3"));
  EXPECT_EQ(find("cuCtxCreate", 12000), symbol("cuCtxCreate_v3"));
}

TEST_F(ProcAddress, FindsPerThreadFormsWhenAskedTo) {
  EXPECT_EQ(find("cuStreamSynchronize", 12000), symbol("cuStreamSynchronize"));
  EXPECT_EQ(find("cuStreamSynchronize", 12000, CU_GET_PROC_ADDRESS_LEGACY_STREAM), symbol("cuStreamSynchronize"));
  EXPECT_EQ(find("cuStreamSynchronize", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            symbol("cuStreamSynchronize_ptsz"));
  EXPECT_EQ(find("cuMemcpyHtoD", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM), symbol("cuMemcpyHtoD_v2_ptds"));
  // Where there is no such form, the plain one.
  EXPECT_EQ(find("cuMemAlloc", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM), symbol("cuMemAlloc_v2"));
}

TEST_F(ProcAddress, SaysWhyThereIsNone) {
  EXPECT_EQ(find("cuNoSuchFunction", 12000), nullptr);
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(find("cuMemAllocAsync", 11010), nullptr);
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_NE(find("cuMemAllocAsync", 11020), nullptr);
  EXPECT_EQ(status_, CU_GET_PROC_ADDRESS_SUCCESS);
}

}  // namespace
}  // namespace conformance
