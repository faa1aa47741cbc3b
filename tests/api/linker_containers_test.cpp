// Linking code that comes in containers, as nvcc makes them and as ObjectCode::save() does.
#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

// containers/device_function.cpp, compiled, and an archive of it.
asm(".pushsection .rodata\n"
    "object_start: .incbin \"" DEVICE_OBJECT
    "\"\nobject_end:\n"
    "library_start: .incbin \"" DEVICE_LIBRARY
    "\"\nlibrary_end:\n"
    ".popsection\n");
extern "C" const char object_start[], object_end[], library_start[], library_end[];

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ObjectCode the_object() { return ObjectCode::from_object({object_start, object_end}); }
ObjectCode the_library() { return ObjectCode::from_library({library_start, library_end}); }

constexpr const char* kernel_source = R"(
extern "C" __device__ int from_object(int);
extern "C" __global__ void k(int* p) { *p = from_object(*p) + 7; }
)";
constexpr const char* function_source = "extern \"C\" __device__ int from_object(int x) { return x + 30; }";

class LinkerContainersTest : public ApiTest {
 protected:
  static ObjectCode compiled(const char* source, Target target = Target::ptx) {
    return Program(source, {.relocatable_device_code = true}).compile(target);
  }

  /// What the kernel leaves of a 5.
  int run(const ObjectCode& code) {
    Stream stream = device.create_stream();
    Buffer value = upload(std::vector<int>{5}, stream);
    launch(stream, {.grid = 1, .block = 1}, code.get_kernel("k"), value);
    return download<int>(value, stream).front();
  }

  ObjectCode saved(const ObjectCode& code, const char* name) {
    const std::string path = folder / name;
    code.save(path);
    return ObjectCode::from_file(path);
  }

  TemporaryFolder folder;
};

TEST_F(LinkerContainersTest, LinksFatbins) {
  const ObjectCode function = saved(compiled(function_source, Target::cubin), "function.fatbin");
  ASSERT_EQ(function.code_type(), Target::fatbin);
  EXPECT_EQ(run(Linker({compiled(kernel_source), function}).link(Target::cubin)), 42);
}

TEST_F(LinkerContainersTest, LinksObjects) {
  const ObjectCode object = the_object();
  ASSERT_EQ(object.code_type(), Target::object);
  EXPECT_EQ(run(Linker({compiled(kernel_source), object}).link(Target::cubin)), 42);
}

TEST_F(LinkerContainersTest, LinksLibraries) {
  const ObjectCode library = the_library();
  ASSERT_EQ(library.code_type(), Target::library);
  EXPECT_EQ(run(Linker({compiled(kernel_source), library}).link(Target::cubin)), 42);
}

// By the driver: nvJitLink 13.0 crashes over a library of which it needs nothing when it has optimised a link before.
// softgpu takes what is missing, as nvJitLink does, whose work it does over; NVIDIA's driver takes everything.
TEST_F(LinkerContainersTest, ALibraryMayDefineWhatIsThere) {
  const ObjectCode own = compiled("extern \"C\" __device__ int from_object(int x) { return x + 32; }");
  const auto link = [&] {
    const LinkerOptions by_driver = {.backend = CompilerBackendType::driver};
    return Linker({compiled(kernel_source), own, the_library()}, by_driver).link(Target::cubin);
  };
  if (driver::info().kind == driver::Choice::softgpu) {
    EXPECT_EQ(run(link()), 44);
  } else {
    EXPECT_THAT(error_of<LinkError>(link), HasSubstr("Multiple definition of 'from_object'"));
  }
}

TEST_F(LinkerContainersTest, LinksLtoirWithContainers) {
  const ObjectCode kernel = Program(kernel_source).compile(Target::ltoir);
  for (const ObjectCode& container : {the_object(), the_library()}) {
    Linker linker({kernel, container}, {.link_time_optimization = true});
    EXPECT_EQ(run(linker.link(Target::cubin)), 42) << container.code_type();
  }
}

TEST_F(LinkerContainersTest, LinksContainersByTheDriver) {
  const LinkerOptions by_driver = {.backend = CompilerBackendType::driver};
  for (const ObjectCode& container : {the_object(), the_library()}) {
    EXPECT_EQ(run(Linker({compiled(kernel_source), container}, by_driver).link(Target::cubin)), 42);
  }
}

TEST_F(LinkerContainersTest, LinkedCodeIsSavedWithItsPtx) {
  const ObjectCode linked = Linker({compiled(kernel_source), compiled(function_source)}).link(Target::cubin);
  const ObjectCode reloaded = saved(linked, "linked.fatbin");
  EXPECT_EQ(reloaded.code_type(), Target::fatbin);
  EXPECT_EQ(run(reloaded), 42);
}

TEST_F(LinkerContainersTest, LinkedLtoirIsSavedWithItsPtx) {
  const ObjectCode kernel = Program(kernel_source).compile(Target::ltoir);
  const ObjectCode function = Program(function_source).compile(Target::ltoir);
  const ObjectCode linked = Linker({kernel, function}, {.link_time_optimization = true}).link(Target::cubin);
  EXPECT_EQ(run(saved(linked, "linked.fatbin")), 42);
}

TEST_F(LinkerContainersTest, DamagedLtoirIsReported) {
  const ObjectCode kernel = Program("extern \"C\" __global__ void k(int* p) { *p = 1; }").compile(Target::ltoir);
  const std::string_view whole = kernel.code();
  const ObjectCode half = ObjectCode::from_ltoir(whole.substr(0, whole.size() / 2), {.name = "half.ltoir"});
  Linker linker({half}, {.name = "damaged", .link_time_optimization = true});
  EXPECT_THAT(error_of<LinkError>([&] { linker.link(Target::cubin); }),
              AllOf(HasSubstr("nvJitLink could not link 'damaged'"), HasSubstr("half.ltoir")));
}

}  // namespace
}  // namespace cuprum::tests
