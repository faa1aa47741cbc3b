// Fatbins, as nvcc and fatbinary make them: loaded, and as inputs of a link.
#include <string>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"
#include "unit/device_image/images.hpp"

namespace conformance {
namespace {

using cuprum::tests::raw_fatbin;
using cuprum::tests::RawEntry;

const std::string kHeader = ".version 7.0\n.target sm_75\n.address_size 64\n";

RawEntry ptx(const std::string& text, unsigned architecture) {
  return {.payload = text + '\0', .architecture = architecture};
}

class Fatbin : public DriverTest {
 protected:
  void TearDown() override {
    if (module_ != nullptr) {
      EXPECT_SUCCESS(CU(cuModuleUnload)(module_));
    }
    DriverTest::TearDown();
  }

  // A number that the kernel stores.
  int run(const char* name) {
    CUfunction function = nullptr;
    EXPECT_SUCCESS(CU(cuModuleGetFunction)(&function, module_, name));
    const DeviceMemory out(4);
    int value = 0;
    EXPECT_SUCCESS(CU(cuMemsetD32)(out.get(), 0, 1));
    EXPECT_SUCCESS(launch(function, 1, 1, nullptr, out.get(), 1));
    EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&value, out.get(), 4));
    return value;
  }

  CUmodule module_ = nullptr;
};

TEST_F(Fatbin, IsLoadedByEveryLoader) {
  const std::string fatbin = raw_fatbin({ptx(kKernels, 75)});
  ASSERT_SUCCESS(CU(cuModuleLoadFatBinary)(&module_, fatbin.data()));
  EXPECT_EQ(run("increment"), 1);
  ASSERT_SUCCESS(CU(cuModuleUnload)(module_));
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, fatbin.data()));
  EXPECT_EQ(run("increment"), 1);
  CUlibrary library = nullptr;
  ASSERT_SUCCESS(CU(cuLibraryLoadData)(&library, fatbin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_SUCCESS(CU(cuLibraryUnload)(library));
}

TEST_F(Fatbin, NewestPtxThatTheDeviceTakesIsTaken) {
  const auto kernel = [](const char* target, const char* number) {
    return std::string(".version 7.0\n.target ") + target +
           "\n.address_size 64\n.visible .entry which(.param .u64 out, .param .u32 n) {\n  .reg .b64 %rd1;\n"
           "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n  st.global.u32 [%rd1], " +
           number + ";\n  ret;\n}\n";
  };
  const std::string fatbin =
      raw_fatbin({ptx(kernel("sm_70", "70"), 70), ptx(kernel("sm_75", "75"), 75), ptx(kernel("sm_60", "60"), 60)});
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, fatbin.data()));
  EXPECT_EQ(run("which"), 75);
}

TEST_F(Fatbin, CanBeLinked) {
  const std::string main =
      kHeader +
      ".extern .func (.param .b32 value) nine();\n"
      ".visible .entry run(.param .u64 out, .param .u32 n) {\n  .reg .b32 %r1;\n  .reg .b64 %rd1;\n"
      "  {\n  .param .b32 result;\n  call.uni (result), nine, ();\n  ld.param.b32 %r1, [result];\n  }\n"
      "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n  st.global.u32 [%rd1], %r1;\n"
      "  ret;\n}\n";
  const std::string nine = kHeader +
                           ".visible .func (.param .b32 value) nine() {\n  .reg .b32 %r1;\n  mov.u32 %r1, 9;\n"
                           "  st.param.b32 [value], %r1;\n  ret;\n}\n";
  std::string first = raw_fatbin({ptx(main, 75)});
  std::string second = raw_fatbin({ptx(nine, 75)});
  CUlinkState link = nullptr;
  void* image = nullptr;
  size_t size = 0;
  ASSERT_SUCCESS(CU(cuLinkCreate)(0, nullptr, nullptr, &link));
  for (std::string* input : {&first, &second})
    ASSERT_SUCCESS(
        CU(cuLinkAddData)(link, CU_JIT_INPUT_FATBINARY, input->data(), input->size(), "part", 0, nullptr, nullptr));
  ASSERT_SUCCESS(CU(cuLinkComplete)(link, &image, &size));
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, image));
  EXPECT_SUCCESS(CU(cuLinkDestroy)(link));
  EXPECT_EQ(run("run"), 9);
  if (!is_softgpu()) return;
  // softgpu takes several modules for one architecture as parts of one program.
  ASSERT_SUCCESS(CU(cuModuleUnload)(module_));
  const std::string both = raw_fatbin({ptx(main, 75), ptx(nine, 75)});
  ASSERT_SUCCESS(CU(cuModuleLoadData)(&module_, both.data()));
  EXPECT_EQ(run("run"), 9);
}

TEST_F(Fatbin, WithoutCodeForTheDeviceIsRefused) {
  const std::string future = raw_fatbin({ptx(kKernels, 990)});
  EXPECT_CUDA_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU, CU(cuModuleLoadData)(&module_, future.data()));
}

}  // namespace
}  // namespace conformance
