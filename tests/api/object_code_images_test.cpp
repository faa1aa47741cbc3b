// Object code from images and files of every kind, and into files.
#include <cuprum/driver.hpp>
#include <filesystem>

#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"
#include "unit/device_image/images.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ObjectCodeImages : public ApiTest {
 protected:
  std::vector<float> scaled(const ObjectCode& code) {
    Stream stream = device.create_stream();
    Buffer data = upload(numbers(4), stream);
    launch(stream, {.grid = 1, .block = 4}, code.get_kernel("scale"), data, 2.0f, std::size_t{4});
    return download<float>(data, stream);
  }

  /// A host object of the kind that nvcc makes.
  static std::string host_object(const std::string& fatbin) {
    return raw_elf({.machine = EM_X86_64, .type = ET_REL, .abi_version = 0, .sections = {{"__nv_relfatbin", fatbin}}});
  }

  TemporaryFolder folder;
};

using Maker = ObjectCode (*)(std::string_view, ObjectCodeOptions);

struct Kind {
  Target type;
  Maker make;
  const char* maker;
  const char* words;
  std::string image;
};

std::vector<Kind> kinds() {
  const std::string fatbin = raw_fatbin({{.payload = ptx_text()}});
  const std::string object = raw_elf({.machine = EM_X86_64, .type = ET_REL, .sections = {{".nv_fatbin", fatbin}}});
  return {{Target::ptx, ObjectCode::from_ptx, "from_ptx", "PTX", ptx_text()},
          {Target::cubin, ObjectCode::from_cubin, "from_cubin", "a cubin (machine code)", raw_elf()},
          {Target::ltoir, ObjectCode::from_ltoir, "from_ltoir", "LTO-IR", raw_ltoir()},
          {Target::fatbin, ObjectCode::from_fatbin, "from_fatbin", "a fatbin", fatbin},
          {Target::object, ObjectCode::from_object, "from_object", "a host object file", object},
          {Target::library, ObjectCode::from_library, "from_library", "an archive", raw_archive({{"a.o/", object}})}};
}

TEST_F(ObjectCodeImages, EachKindIsTakenFromMemoryAndFromAFile) {
  for (const Kind& kind : kinds()) {
    const ObjectCode code = kind.make(kind.image, {.name = "image"});
    EXPECT_EQ(code.code_type(), kind.type);
    EXPECT_EQ(code.code(), kind.image);
    folder.write("image", kind.image);
    const ObjectCode read = ObjectCode::from_file(folder / "image");
    EXPECT_EQ(read.code_type(), kind.type);
    EXPECT_EQ(read.code(), kind.image);
    EXPECT_EQ(read.name(), folder / "image");
  }
}

TEST_F(ObjectCodeImages, AnotherKindIsRefusedByName) {
  for (const Kind& wanted : kinds()) {
    for (const Kind& given : kinds()) {
      if (wanted.type == given.type) continue;
      EXPECT_EQ(error_of<InvalidArgument>([&] { wanted.make(given.image, {.name = "x"}); }),
                std::string("object code 'x' is ") + given.words + ", not " + wanted.words +
                    ": use ObjectCode::" + given.maker);
    }
  }
}

TEST_F(ObjectCodeImages, EmptyGarbageAndTruncatedCodeIsRefused) {
  for (const Kind& kind : kinds()) {
    EXPECT_EQ(error_of<InvalidArgument>([&] { kind.make("", {}); }), "object code is empty");
    EXPECT_THAT(error_of<InvalidArgument>([&] { kind.make("garbage", {.name = "junk"}); }),
                AllOf(StartsWith("object code 'junk' is not "), HasSubstr("nor any other code for a device")));
    if (kind.type == Target::ptx) continue;  // text that ends early is the driver's to refuse
    const std::size_t kept = kind.type == Target::ltoir ? 40 : kind.image.size() - 1;
    EXPECT_THAT(error_of<InvalidArgument>([&] { kind.make(kind.image.substr(0, kept), {.name = "half"}); }),
                AllOf(StartsWith("object code 'half' is damaged: "), HasSubstr("is cut off")));
  }
}

TEST_F(ObjectCodeImages, RealMachineCodeThatIsCutOffNeverReachesTheDriver) {
  const std::string cubin(Program(scale_source).compile(Target::cubin).code());
  for (std::size_t size = 64; size < cubin.size(); size += 97)
    EXPECT_THROW(ObjectCode::from_cubin(cubin.substr(0, size)), InvalidArgument) << size;
}

TEST_F(ObjectCodeImages, FilesThatCantBeReadAreRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { ObjectCode::from_file(folder / "none"); }),
              HasSubstr("can't be read: No such file"));
  folder.write("text", "no device code");
  EXPECT_THAT(error_of<InvalidArgument>([&] { ObjectCode::from_file(folder / "text"); }),
              AllOf(HasSubstr("text' is not PTX, nor any other code for a device")));
  folder.write("empty", "");
  EXPECT_THAT(error_of<InvalidArgument>([&] { ObjectCode::from_file(folder / "empty"); }), HasSubstr("is empty"));
}

TEST_F(ObjectCodeImages, AHostObjectWithoutDeviceCodeIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([] { ObjectCode::from_object(raw_elf({.machine = EM_X86_64})); }),
              HasSubstr("is a host object file without device code: compile it with nvcc"));
}

TEST_F(ObjectCodeImages, InputOfTheLinkerIsNotLoaded) {
  for (const Kind& kind : kinds()) {
    if (kind.type != Target::ltoir && kind.type != Target::object && kind.type != Target::library) continue;
    const ObjectCode code = kind.make(kind.image, {.name = "input"});
    EXPECT_THAT(error_of<InvalidArgument>([&] { code.get_kernel("scale"); }),
                HasSubstr("input of the linker, and can't be loaded; link it"));
    EXPECT_THROW(code.handle(), InvalidArgument);
    EXPECT_THROW(code.kernel_names(), InvalidArgument);
    EXPECT_THROW(code.get_module(), InvalidArgument);
    EXPECT_THROW(code.get_global("counter"), InvalidArgument);
  }
}

TEST_F(ObjectCodeImages, AProgramOnlyCheckedForErrorsHasNothingToLoadOrToSave) {
  const ObjectCode code = Program(scale_source, {.name = "scale.cu", .fdevice_syntax_only = true}).compile(Target::ptx);
  EXPECT_EQ(error_of<InvalidArgument>([&] { code.get_kernel("scale"); }), "object code 'scale.cu' is empty");
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.save(folder / "code"); }), HasSubstr("there is nothing to save"));
  EXPECT_EQ(folder.files(), 0);
}

TEST_F(ObjectCodeImages, MachineCodeOfAnotherArchitectureIsRefusedWithBoth) {
  const ObjectCode code = ObjectCode::from_cubin(raw_elf({.flags = 0x06000a04}), {.name = "ancient"});
  EXPECT_THAT(error_of<NotSupported>([&] { code.get_kernel("scale"); }),
              AllOf(HasSubstr("loading object code 'ancient' (cubin for sm_10): nothing in it runs on device 0"),
                    HasSubstr("compile for sm_")));
  const ObjectCode fatbin = ObjectCode::from_fatbin(
      raw_fatbin({{.kind = 2, .payload = "code", .architecture = 10}, {.payload = "text", .architecture = 990}}));
  EXPECT_THAT(error_of<NotSupported>([&] { fatbin.get_kernel("scale"); }),
              HasSubstr("(fatbin for sm_10, compute_990): nothing in it runs on device 0"));
}

TEST_F(ObjectCodeImages, CodeForAnOlderArchitectureRunsByItsPtxAndNotWithout) {
  if (device.compute_capability().major <= 8) GTEST_SKIP() << "the device may run code for sm_80";
  const ObjectCode code = Program(scale_source, {.arch = "sm_80"}).compile(Target::cubin);
  EXPECT_THAT(scaled(code), ElementsAre(0, 2, 4, 6));
  const ObjectCode bare = ObjectCode::from_cubin(code.code());
  EXPECT_THAT(error_of<NotSupported>([&] { bare.get_kernel("scale"); }),
              HasSubstr("loading object code (cubin for sm_80): nothing in it runs on device 0"));
}

TEST_F(ObjectCodeImages, WhatTheCompilerMakesIsRecognised) {
  for (const Target target : {Target::ptx, Target::cubin, Target::ltoir}) {
    folder.write("code", Program(scale_source).compile(target).code());
    EXPECT_EQ(ObjectCode::from_file(folder / "code").code_type(), target);
  }
}

TEST_F(ObjectCodeImages, ProgramsMakeNoContainers) {
  for (const Target target : {Target::fatbin, Target::object, Target::library})
    EXPECT_THAT(error_of<InvalidArgument>([&] { Program(scale_source).compile(target); }),
                HasSubstr("is CUDA C++, which can't be compiled to"));
}

TEST_F(ObjectCodeImages, AFatbinRuns) {
  std::string ptx(Program(scale_source).compile(Target::ptx).code());
  ptx += '\0';  // as NVIDIA's tools have it
  const auto [major, minor] = device.compute_capability();
  const auto architecture = static_cast<std::uint32_t>(major * 10 + minor);
  const std::string plain = raw_fatbin({{.payload = ptx, .architecture = architecture}});
  EXPECT_THAT(scaled(ObjectCode::from_fatbin(plain)), ElementsAre(0, 2, 4, 6));
  const std::string packed =
      raw_fatbin({{.flags = 0x8011, .payload = zstd(ptx), .decompressed = ptx.size(), .architecture = architecture}});
  EXPECT_THAT(scaled(ObjectCode::from_fatbin(packed)), ElementsAre(0, 2, 4, 6));
}

TEST_F(ObjectCodeImages, AnAddressAmongTheBytesIsNotFollowed) {
  const std::string fatbin = raw_fatbin({{.payload = ptx_text()}});
  struct Wrapper {
    std::uint32_t magic = 0x466243b1, version = 1;
    const void* fatbin = nullptr;
    const void* unused = nullptr;
  } wrapper{.fatbin = fatbin.data()};
  const std::string_view bytes(reinterpret_cast<const char*>(&wrapper), sizeof wrapper);
  for (const void* address : {static_cast<const void*>(fatbin.data()), reinterpret_cast<const void*>(8)}) {
    wrapper.fatbin = address;
    EXPECT_THAT(error_of<InvalidArgument>([&] { ObjectCode::from_fatbin(bytes); }),
                HasSubstr("pass the bytes of the fatbin itself"));
  }
}

TEST_F(ObjectCodeImages, SavedMachineCodeKeepsItsPtx) {
  Program(scale_source).compile(Target::cubin).save(folder / "scale.fatbin");
  const ObjectCode code = ObjectCode::from_file(folder / "scale.fatbin");
  EXPECT_EQ(code.code_type(), Target::fatbin);
  EXPECT_THAT(scaled(code), ElementsAre(0, 2, 4, 6));
  code.save(folder / "again.fatbin");
  EXPECT_EQ(ObjectCode::from_file(folder / "again.fatbin").code(), code.code());
}

TEST_F(ObjectCodeImages, TheLinkerTakesWhatIsSaved) {
  const ProgramOptions relocatable = {.relocatable_device_code = true};
  Program(scale_source, relocatable).compile(Target::cubin).save(folder / "scale.fatbin");
  const ObjectCode linked = Linker({ObjectCode::from_file(folder / "scale.fatbin")}).link(Target::cubin);
  EXPECT_THAT(scaled(linked), ElementsAre(0, 2, 4, 6));
}

TEST_F(ObjectCodeImages, LinkedCodeIsSavedWithTheModulesThatItWasMadeFrom) {
  const ProgramOptions relocatable = {.relocatable_device_code = true};
  const ObjectCode kernel = Program(
                                "__device__ float twice(float);\n"
                                "extern \"C\" __global__ void scale(float* data, float, size_t n) {\n"
                                "  if (threadIdx.x < n) data[threadIdx.x] = twice(data[threadIdx.x]);\n"
                                "}",
                                relocatable)
                                .compile(Target::ptx);
  const ObjectCode function =
      Program("__device__ float twice(float x) { return 2 * x; }", relocatable).compile(Target::ptx);
  Linker({kernel, function}).link(Target::cubin).save(folder / "linked");
  EXPECT_THAT(scaled(ObjectCode::from_file(folder / "linked")), ElementsAre(0, 2, 4, 6));
}

TEST_F(ObjectCodeImages, OtherCodeIsSavedAsItIs) {
  const ObjectCode ptx = Program(scale_source).compile(Target::ptx);
  ptx.save(folder / "code");
  EXPECT_EQ(ObjectCode::from_file(folder / "code").code(), ptx.code());
  const ObjectCode ltoir = ObjectCode::from_ltoir(raw_ltoir());
  ltoir.save(folder / "code");
  EXPECT_EQ(ObjectCode::from_file(folder / "code").code_type(), Target::ltoir) << "the first file was replaced";
  EXPECT_EQ(folder.files(), 1);
}

TEST_F(ObjectCodeImages, ATemplateIsFoundAgainByTheSavedMapping) {
  const ObjectCode code = Program("template <typename T> __global__ void twice(T* data) { *data *= 2; }")
                              .compile(Target::cubin, {.name_expressions = {"twice<float>"}});
  code.save(folder / "twice.fatbin");
  const ObjectCode again = ObjectCode::from_file(folder / "twice.fatbin", {.symbol_mapping = code.symbol_mapping()});
  EXPECT_EQ(again.get_kernel("twice<float>").name(), code.get_kernel("twice<float>").name());
}

TEST_F(ObjectCodeImages, WhatCantBeSavedLeavesNothing) {
  const ObjectCode code = ObjectCode::from_ptx(ptx_text());
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.save(folder / "no" + "/folder"); }),
              HasSubstr("can't be written: No such file or directory"));
  std::filesystem::create_directory(folder / "taken");
  EXPECT_THAT(error_of<InvalidArgument>([&] { code.save(folder / "taken"); }), HasSubstr("can't be written"));
  EXPECT_EQ(folder.files(), 1);
}

// A driver that runs machine code takes it; one that runs PTX alone says what to do.
TEST_F(ObjectCodeImages, BareMachineCodeRunsOrIsRefusedWithAdvice) {
  const ObjectCode code = ObjectCode::from_cubin(Program(scale_source).compile(Target::cubin).code(), {.name = "bare"});
  try {
    EXPECT_THAT(scaled(code), ElementsAre(0, 2, 4, 6));
  } catch (const DriverError& error) {
    EXPECT_EQ(error.code(), CUDA_ERROR_NO_BINARY_FOR_GPU);
    EXPECT_THAT(error.what(), HasSubstr("takes no such machine code: load PTX, or a fatbin that holds it"));
  }
}

using ObjectCodeBytes = ApiTest;

TEST_F(ObjectCodeBytes, HaveAllOfIt) {
  const char* source = "template <int N> __global__ void set(int* out) { *out = N; }";
  const ObjectCode code = Program(source, {.name = "set.cu"}).compile(Target::cubin, {.name_expressions = {"set<42>"}});
  const ObjectCode again = ObjectCode::from_bytes(code.to_bytes());
  EXPECT_EQ(again.code(), code.code());
  EXPECT_EQ(again.code_type(), Target::cubin);
  EXPECT_EQ(again.name(), "set.cu");
  EXPECT_EQ(again.symbol_mapping(), code.symbol_mapping());
  const Stream stream = device.create_stream();
  const Buffer out = device.allocate<int>(1, stream);
  launch(stream, {.grid = 1, .block = 1}, again.get_kernel("set<42>"), out);  // by the PTX where there is no GPU
  EXPECT_EQ(download<int>(out, stream).front(), 42);
}

TEST_F(ObjectCodeBytes, OfLinkedCodeHaveThePtx) {
  const ObjectCode part =
      Program("extern \"C\" __global__ void set(int* out) { *out = 7; }", {.relocatable_device_code = true})
          .compile(Target::ptx);
  const ObjectCode again = ObjectCode::from_bytes(Linker({part}).link(Target::cubin).to_bytes());
  const Stream stream = device.create_stream();
  const Buffer out = device.allocate<int>(1, stream);
  launch(stream, {.grid = 1, .block = 1}, again.get_kernel("set"), out);
  EXPECT_EQ(download<int>(out, stream).front(), 7);
}

TEST_F(ObjectCodeBytes, OfOtherOriginAreRefused) {
  const std::string bytes = Program("extern \"C\" __global__ void k() {}").compile(Target::ptx).to_bytes();
  EXPECT_THAT(error_of<InvalidArgument>([] { ObjectCode::from_bytes("nonsense"); }),
              HasSubstr("these 8 bytes are not what to_bytes()"));
  for (std::size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_THROW(ObjectCode::from_bytes(std::string_view(bytes).substr(0, length)), InvalidArgument) << length;
  EXPECT_THROW(ObjectCode::from_bytes(bytes + "x"), InvalidArgument);
}

}  // namespace
}  // namespace cuprum::tests
