// What a link takes: objects, archives, fatbins, text; and what becomes of it. tests/conformance has the rest.
#include "softgpu/runtime/code/link_state.hpp"

#include <gtest/gtest.h>

#include "device_image/fatbin.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "tests/unit/device_image/images.hpp"

namespace softgpu::runtime {
namespace {

using cuprum::device_image::EntryKind;
using cuprum::device_image::write_fatbin;
using cuprum::tests::raw_archive;
using cuprum::tests::raw_elf;
using cuprum::tests::RawElf;

const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";
std::string kernel_that_calls(const std::string& name) {
  return kHeader + ".extern .func " + name + "();\n.visible .entry k() { call " + name + ", (); ret; }\n";
}
std::string function(const std::string& name) { return kHeader + ".visible .func " + name + "() { ret; }\n"; }
std::string function_that_calls(const std::string& name, const std::string& called) {
  return kHeader + ".extern .func " + called + "();\n.visible .func " + name + "() { call " + called + ", (); ret; }\n";
}

std::string fatbin(const std::string& ptx) {
  return write_fatbin({{.kind = EntryKind::cubin, .architecture = {80}, .contents = "machine code"},
                       {.kind = EntryKind::ptx, .architecture = {80}, .contents = ptx}});
}
std::string machine_code() {
  return write_fatbin({{.kind = EntryKind::cubin, .architecture = {80}, .contents = "machine code"}});
}
std::string object(const std::string& fatbins, const char* section = "__nv_relfatbin") {
  return raw_elf(
      RawElf{.machine = EM_X86_64, .type = ET_REL, .sections = {{".text", "host code"}, {section, fatbins}}});
}

// A link with logs.
class Links : public testing::Test {
 protected:
  void SetUp() override {
    values_[0] = errors_;
    values_[1] = reinterpret_cast<void*>(sizeof errors_);
    values_[2] = infos_;
    values_[3] = reinterpret_cast<void*>(sizeof infos_);
    link_ = std::make_unique<LinkState>(JitOptions(4, options_, values_, JitOptions::Use::link), 90u);
  }

  CUresult add(CUjitInputType type, const std::string& data, const char* name) {
    return outcome([&] { link_->add(type, data.data(), data.size(), name); });
  }
  CUresult complete() {
    return outcome([&] { image_ = link_->complete(); });
  }
  std::vector<std::string> names_in_image() {
    EXPECT_EQ(complete(), CUDA_SUCCESS) << errors_;
    std::vector<std::string> names;
    for (const PtxPart& part : ptx_of(image_.data(), image_.size(), 90)) names.push_back(part.name);
    return names;
  }

  std::unique_ptr<LinkState> link_;
  std::string image_;
  char errors_[4096] = "", infos_[4096] = "";

 private:
  template <typename Work>
  static CUresult outcome(Work&& work) {
    try {
      work();
      return CUDA_SUCCESS;
    } catch (const Failure& failure) {
      return failure.code();
    }
  }

  CUjit_option options_[4] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                              CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void* values_[4] = {};
};

using Names = std::vector<std::string>;

TEST_F(Links, TakesObjectsAndFatbins) {
  EXPECT_EQ(add(CU_JIT_INPUT_PTX, kernel_that_calls("f"), "main"), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, object(fatbin(function_that_calls("f", "g"))), "f.o"), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_FATBINARY, fatbin(function("g")), nullptr), CUDA_SUCCESS);
  EXPECT_EQ(names_in_image(), (Names{"main", "f.o", "input 3"}));
}

TEST_F(Links, TakesFatbinsForCubins) {
  EXPECT_EQ(add(CU_JIT_INPUT_CUBIN, fatbin(function("f")), "f.cubin"), CUDA_SUCCESS);
  EXPECT_EQ(names_in_image(), Names{"f.cubin"});
}

TEST_F(Links, TakesSeveralFatbinsOfOneObject) {
  EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, object(fatbin(kernel_that_calls("f")) + fatbin(function("f"))), "both.o"),
            CUDA_SUCCESS);
  EXPECT_EQ(names_in_image(), (Names{"both.o:1", "both.o:2"}));
}

TEST_F(Links, TakesCodeThatWasLinkedBefore) {
  EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, object(fatbin(function("f")), ".nv_fatbin"), "f.o"), CUDA_SUCCESS);
  EXPECT_EQ(names_in_image(), Names{"f.o"});
}

TEST_F(Links, TakesMembersOfArchivesThatAreMissing) {
  const std::string archive = raw_archive({{"unused.o/", object(fatbin(function("unused")))},
                                           {"g.o/", object(fatbin(function("g")))},
                                           {"host.o/", object("", ".data")},
                                           {"notes.txt/", "what was changed when"},
                                           {"f.o/", object(fatbin(function_that_calls("f", "g")))}});
  EXPECT_EQ(add(CU_JIT_INPUT_LIBRARY, archive, "lib.a"), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_PTX, kernel_that_calls("f"), "main"), CUDA_SUCCESS);
  EXPECT_EQ(names_in_image(), (Names{"main", "lib.a:f.o", "lib.a:g.o"}));
}

TEST_F(Links, LeavesOutMembersThatItCannotRun) {
  const std::string archive = raw_archive({{"sm.o/", object(machine_code())},
                                           {"lto.o/", cuprum::tests::raw_ltoir()},
                                           {"bad.o/", object(fatbin(kHeader + ".func f() { frobnicate; }"))}});
  EXPECT_EQ(add(CU_JIT_INPUT_LIBRARY, archive, "lib.a"), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_PTX, kernel_that_calls("f"), "main"), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_SOURCE);
  EXPECT_NE(std::string(infos_).find("'lib.a:sm.o' is left out"), std::string::npos) << infos_;
  EXPECT_NE(std::string(infos_).find("'lib.a:lto.o' is left out"), std::string::npos) << infos_;
  EXPECT_NE(std::string(infos_).find("frobnicate"), std::string::npos) << infos_;
  EXPECT_NE(std::string(errors_).find("Undefined reference to 'f' in 'main'"), std::string::npos) << errors_;
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE) << "it has failed";
}

TEST_F(Links, RefusesWhatHoldsNoPtx) {
  EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, object("", ".data"), "host.o"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(std::string(errors_).find("'host.o' is an object file without device code"), std::string::npos) << errors_;
  EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, object(machine_code()), "sm.o"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(add(CU_JIT_INPUT_CUBIN, raw_elf(), "k.cubin"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(add(CU_JIT_INPUT_LIBRARY, "!<thin>\n", "thin.a"), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(std::string(errors_).find("thin archive"), std::string::npos) << errors_;
}

TEST_F(Links, RefusesWhatIsCutOff) {
  const std::string whole = object(fatbin(function("f")));
  for (const std::size_t size : {std::size_t{5}, std::size_t{70}, whole.size() - 1})
    EXPECT_EQ(add(CU_JIT_INPUT_OBJECT, whole.substr(0, size), "f.o"), CUDA_ERROR_INVALID_IMAGE) << size;
  const std::string archive = raw_archive({{"f.o/", whole}});
  EXPECT_EQ(add(CU_JIT_INPUT_LIBRARY, archive.substr(0, archive.size() / 2), "f.a"), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(Links, NeedsSomethingToLink) {
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add(CU_JIT_INPUT_LIBRARY, raw_archive({{"f.o/", object(fatbin(function("f")))}}), "f.a"), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(add(CU_JIT_INPUT_PTX, kernel_that_calls("f"), "main"), CUDA_SUCCESS);
  EXPECT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(add(CU_JIT_INPUT_PTX, function("g"), "late"), CUDA_ERROR_INVALID_VALUE);
  const std::string first = image_;
  EXPECT_EQ(complete(), CUDA_SUCCESS);
  EXPECT_EQ(image_, first);
}

}  // namespace
}  // namespace softgpu::runtime
