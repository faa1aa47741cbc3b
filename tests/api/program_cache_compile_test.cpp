// Which compilations a cache takes for the same, and what happens when it is of no use.
#include <filesystem>
#include <set>

#include "api/failing_api.hpp"
#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// Counts how it is used.
class CountingCache : public InMemoryProgramCache {
 public:
  std::optional<ProgramCacheEntry> get_entry(std::string_view key) override {
    std::optional<ProgramCacheEntry> entry = InMemoryProgramCache::get_entry(key);
    last_key = key;
    (entry ? hits : misses) += 1;
    return entry;
  }
  int hits = 0;
  int misses = 0;
  std::string last_key;
};

/// A cache that can do nothing. A message is told once per process, so each has its own.
class BrokenCache : public InMemoryProgramCache {
 public:
  std::optional<ProgramCacheEntry> get_entry(std::string_view) override {
    throw WrongState("no ladder for shelf " + number);
  }
  void set_entry(std::string_view, const ProgramCacheEntry&) override {
    throw WrongState("no room on shelf " + number);
  }

 private:
  static inline int count = 0;
  const std::string number = std::to_string(++count);
};

/// The same in the words of somebody who has no exceptions of the standard library.
class RudeCache : public InMemoryProgramCache {
 public:
  std::optional<ProgramCacheEntry> get_entry(std::string_view) override { throw 1; }
  void set_entry(std::string_view, const ProgramCacheEntry&) override { throw 2; }
};

class ProgramCacheCompileTest : public ApiTest {
 protected:
  /// Whether it came from the cache.
  bool is_hit(const Program& program, Target target = Target::ptx, std::vector<std::string> names = {}) {
    const int before = cache.hits;
    program.compile(target, {.name_expressions = std::move(names), .cache = &cache});
    return cache.hits != before;
  }
  bool is_hit(const ProgramOptions& options) { return is_hit(Program(source, options)); }

  std::string source = "template <int> __global__ void k(int* p) { *p = 1; }";
  TemporaryFolder folder;
  CountingCache cache;
};

TEST_F(ProgramCacheCompileTest, TellsCompilationsApart) {
  EXPECT_FALSE(is_hit(Program(source)));
  EXPECT_TRUE(is_hit(Program(source)));
  EXPECT_FALSE(is_hit(Program(source + " ")));
  EXPECT_FALSE(is_hit(Program(source), Target::cubin));
  EXPECT_FALSE(is_hit(Program(source), Target::ltoir));
  EXPECT_FALSE(is_hit(Program(source), Target::ptx, {"k<1>"}));
  EXPECT_FALSE(is_hit(Program(source), Target::ptx, {"k<1>", "k<2>"}));
  EXPECT_TRUE(is_hit(Program(source), Target::ptx, {"k<2>", "k<1>"}));
  EXPECT_FALSE(is_hit({.name = "other.cu"}));
  EXPECT_FALSE(is_hit({.arch = "compute_80"}));
  EXPECT_FALSE(is_hit({.std = "c++20"}));
  EXPECT_FALSE(is_hit({.define_macro = {{"A", "B"}}}));
  EXPECT_FALSE(is_hit({.define_macro = {{"A"}, {"B"}}}));
  EXPECT_TRUE(is_hit({.arch = "compute_" + device.arch()})) << "which is what it was compiled for by default";
}

TEST_F(ProgramCacheCompileTest, SeesChangesOfHeaders) {
  folder.write("inner.h", "#define VALUE 1\n");
  folder.write("outer.h", "#include \"inner.h\"\n");
  const Program program("#include <outer.h>\n__global__ void k(int* p) { *p = VALUE; }",
                        {.include_path = {folder.path().string()}});
  EXPECT_FALSE(is_hit(program));
  EXPECT_TRUE(is_hit(program));
  folder.write("inner.h", "#define VALUE 2\n");
  EXPECT_FALSE(is_hit(program));
  folder.write("inner.h", "#define VALUE 1\n");
  EXPECT_TRUE(is_hit(program));
}

TEST_F(ProgramCacheCompileTest, SeesAHeaderThatComesBeforeAnother) {
  folder.write("second/value.h", "#define VALUE 1\n");
  const std::string pre_include = folder.write("pre.h", "");
  const Program program("#include \"value.h\"\n__global__ void k(int* p) { *p = VALUE; }",
                        {.name = folder / "source/program.cu",
                         .include_path = {folder / "first", folder / "second"},
                         .pre_include = {pre_include}});
  EXPECT_FALSE(is_hit(program));
  folder.write("first/value.h", "#define VALUE 2\n");
  EXPECT_FALSE(is_hit(program));
  folder.write("source/value.h", "#define VALUE 3\n");
  EXPECT_FALSE(is_hit(program));
  folder.write("pre.h", "#define OTHER\n");
  EXPECT_FALSE(is_hit(program));
  EXPECT_TRUE(is_hit(program));
}

TEST_F(ProgramCacheCompileTest, TakesCudasHeadersAsTheyAre) {
  const Program program("#include <cuda_fp16.h>\n__global__ void k(__half* p) { *p = __hadd(*p, *p); }");
  EXPECT_FALSE(is_hit(program));
  EXPECT_TRUE(is_hit(program));
}

TEST_F(ProgramCacheCompileTest, DebugInformationIsOfAFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  EXPECT_FALSE(is_hit({.lineinfo = true}));
  EXPECT_FALSE(is_hit(ProgramOptions()));
  std::filesystem::current_path(folder.path());
  EXPECT_FALSE(is_hit({.lineinfo = true}));
  EXPECT_TRUE(is_hit(ProgramOptions()));
  std::filesystem::current_path(before);
}

TEST_F(ProgramCacheCompileTest, CachesWhatPtxBecomes) {
  const std::string ptx(Program("extern \"C\" __global__ void k() {}").compile(Target::ptx, {.cache = nullptr}).code());
  const Program assembly(ptx, SourceCodeType::ptx);
  EXPECT_FALSE(is_hit(assembly, Target::cubin));
  EXPECT_TRUE(is_hit(assembly, Target::cubin));
}

TEST_F(ProgramCacheCompileTest, StaysAwayFromWhatHasAnotherPurpose) {
  const std::string trace = folder / "trace";
  EXPECT_FALSE(is_hit({.time = trace}));
  EXPECT_FALSE(is_hit({.fdevice_syntax_only = true}));
  EXPECT_FALSE(is_hit({.pch = true, .pch_dir = folder.path().string()}));
  EXPECT_FALSE(is_hit(Program("#define HEADER <cuda_fp16.h>\n#include HEADER\n")));
  EXPECT_FALSE(is_hit(Program("__global__ void k(const char** p) { *p = __TIME__; }")));
  EXPECT_EQ(cache.misses, 0) << "was looked for";
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(std::filesystem::exists(trace));
}

TEST_F(ProgramCacheCompileTest, KeepsNoFailures) {
  const Program program("__global__ void k() { undefined_name; }");
  EXPECT_THROW(is_hit(program), CompileError);
  EXPECT_THROW(is_hit(program), CompileError);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_THAT(error_of<InvalidArgument>([&] { is_hit({.arch = "nonsense"}); }), HasSubstr("arch is 'nonsense'"));
}

TEST_F(ProgramCacheCompileTest, ValuesAreTheCodeItself) {
  for (const Target target : {Target::ptx, Target::cubin, Target::ltoir}) {
    cache.clear();
    const ObjectCode code = Program(source).compile(target, {.name_expressions = {"k<1>"}, .cache = &cache});
    EXPECT_EQ(cache.size(), 1u);
    const std::string key = cache.last_key;
    EXPECT_EQ(cache.get(key), code.code());
    const ObjectCode again = Program(source).compile(target, {.name_expressions = {"k<1>"}, .cache = &cache});
    EXPECT_EQ(again.code(), code.code());
    EXPECT_EQ(again.symbol_mapping(), code.symbol_mapping());
    EXPECT_EQ(again.to_bytes(), code.to_bytes()) << "with the PTX";
  }
}

TEST_F(ProgramCacheCompileTest, ReplacesWhatIsNoCompilation) {
  EXPECT_FALSE(is_hit(Program(source)));
  const std::string key = cache.last_key;
  const std::string value = *cache.get(key);
  const std::string notes = cache.get_entry(key)->notes;
  for (const std::string& bytes : {std::string("nonsense"), std::string(), value.substr(0, 1)}) {
    cache.set(key, bytes);
    Program(source).compile(Target::ptx, {.cache = &cache});
    EXPECT_EQ(cache.get(key), value);
  }
  // Notes that are not of this value say that one of the two is not what it was.
  for (const std::string& bytes : {value.substr(0, value.size() - 1), value + "x", value}) {
    cache.set_entry(key, {bytes, bytes == value ? notes + "x" : notes});
    Program(source).compile(Target::ptx, {.cache = &cache});
    EXPECT_EQ(cache.get(key), value);
    EXPECT_EQ(cache.get_entry(key)->notes, notes);
  }
}

TEST_F(ProgramCacheCompileTest, TakesCodeThatSomebodyElseStored) {
  EXPECT_FALSE(is_hit(Program(source)));
  const std::string other(
      Program("extern \"C\" __global__ void other() {}").compile(Target::ptx, {.cache = nullptr}).code());
  cache.set(cache.last_key, other);
  EXPECT_EQ(Program(source).compile(Target::ptx, {.cache = &cache}).code(), other);

  // Without notes nobody knows the names of templates.
  EXPECT_FALSE(is_hit(Program(source), Target::ptx, {"k<1>"}));
  cache.set(cache.last_key, other);
  EXPECT_NE(Program(source).compile(Target::ptx, {.name_expressions = {"k<1>"}, .cache = &cache}).code(), other);
}

TEST_F(ProgramCacheCompileTest, MachineCodeWithoutItsPtxIsCompiledAgain) {
  const Program program("extern \"C\" __global__ void k(int* p) { *p = 7; }");
  EXPECT_FALSE(is_hit(program, Target::cubin));
  const std::string key = cache.last_key;
  cache.set(key, *cache.get(key));  // as somebody else would store it
  const ObjectCode code = program.compile(Target::cubin, {.cache = &cache});
  EXPECT_NO_THROW(code.get_kernel("k").load()) << "a driver that takes PTX alone";
  EXPECT_NE(cache.get_entry(key)->notes, "");
}

TEST_F(ProgramCacheCompileTest, ABrokenCacheFailsNoCompilation) {
  std::vector<std::string> told;
  const LogHook before = set_log_hook([&](std::string_view line) { told.emplace_back(line); });
  BrokenCache broken;
  for (int round = 0; round < 3; ++round) {
    EXPECT_FALSE(Program(source).compile(Target::ptx, {.cache = &broken}).code().empty());
  }
  set_log_hook(before);
  EXPECT_THAT(told,
              ::testing::ElementsAre(AllOf(HasSubstr("no ladder for shelf"), HasSubstr("are compiled all the same")),
                                     HasSubstr("no room on shelf")));
}

TEST_F(ProgramCacheCompileTest, AHeaderThatAMacroOfTheOptionsAsksForIsPartOfTheProgram) {
  const ProgramOptions options{.define_macro = {{"HAS_IT", "__has_include(<it.h>)"}}, .include_path = {folder.path()}};
  const Program program("#if !HAS_IT\n__global__ void without() {}\n#endif", options);
  EXPECT_FALSE(is_hit(program));
  EXPECT_TRUE(is_hit(program));
  folder.write("it.h", "");
  EXPECT_FALSE(is_hit(program));
}

TEST_F(ProgramCacheCompileTest, ARudeCacheFailsNoCompilation) {
  std::vector<std::string> told;
  const LogHook before = set_log_hook([&](std::string_view line) { told.emplace_back(line); });
  RudeCache rude;
  EXPECT_FALSE(Program(source).compile(Target::ptx, {.cache = &rude}).code().empty());
  set_log_hook(before);
  EXPECT_THAT(told, ::testing::ElementsAre(HasSubstr("threw something that is not a std::exception")));
}

TEST_F(ProgramCacheCompileTest, ADriverThatFailsWhileTheKeyIsMadeCostsACompilation) {
  FailingApi failing;
  EXPECT_EQ(failing.fail_each_call([&] { is_hit(Program(source)); }), 0);
}

TEST_F(ProgramCacheCompileTest, TheKeyIsForEverybody) {
  const ProgramOptions options{.std = "c++20"};
  const std::string key =
      make_program_cache_key(source, SourceCodeType::cxx, options, Target::ptx, {.name_expressions = {"k<1>"}});
  EXPECT_FALSE(is_hit(Program(source, options), Target::ptx, {"k<1>"}));
  EXPECT_EQ(cache.last_key, key);
  EXPECT_EQ(cache.get_code(key)->symbol_mapping().size(), 1u);

  cache.clear();
  cache.set_code(key, Program(source, options).compile(Target::ptx, {.name_expressions = {"k<1>"}, .cache = nullptr}));
  EXPECT_TRUE(is_hit(Program(source, options), Target::ptx, {"k<1>"}));
}

TEST_F(ProgramCacheCompileTest, TheKeyOfNvvmIrHasAllItsModules) {
  const auto key_with = [](const ProgramOptions& options) {
    return make_program_cache_key("not looked at", SourceCodeType::nvvm, options, Target::ptx);
  };
  const std::set<std::string> keys = {
      key_with({}), key_with({.extra_sources = {{"a", "1"}}}), key_with({.extra_sources = {{"a", "2"}}}),
      key_with({.extra_sources = {{"a", "1"}, {"b", "2"}}}), key_with({.use_libdevice = true})};
  EXPECT_EQ(keys.size(), 5u);
  EXPECT_EQ(key_with({.use_libdevice = false}), key_with({}));
}

TEST_F(ProgramCacheCompileTest, SaysWhyThereIsNoKey) {
  const auto why = [&](const std::string& text, ProgramOptions options, SourceCodeType type = SourceCodeType::cxx) {
    options.name = "mine.cu";
    return error_of<InvalidArgument>([&] { make_program_cache_key(text, type, options, Target::ptx); });
  };
  EXPECT_THAT(why(source, {.create_pch = "x"}), HasSubstr("'mine.cu' has no cache key: the option create_pch is for"));
  EXPECT_THAT(why(source, {.time = "x"}), HasSubstr("the option time is for"));
  EXPECT_THAT(why("#include HEADER", {}), HasSubstr("a computed #include can't be followed"));
  EXPECT_THAT(why(source, {.define_macro = {{"WHEN", "__TIME__"}}}), HasSubstr("__TIME__ is never the same"));
  EXPECT_THAT(why(source, {.define_macro = {{"HAS(x)", "__has_include(x)"}}}), HasSubstr("a computed __has_include"));
  EXPECT_THAT(why(source, {.define_macro = {{"HAS=__has_include"}}}), HasSubstr("another name for __has_include"));
  EXPECT_THAT(why(".version 8.0", {}, SourceCodeType::ptx),
              HasSubstr("a program of ptx is not compiled to become ptx"));
  EXPECT_THAT(why(source, {.use_libdevice = true}), HasSubstr("no option for use_libdevice"));

  const auto key_with = [](std::string digest) {
    return make_program_cache_key("#include HEADER", SourceCodeType::cxx, {}, Target::ptx,
                                  {.extra_digest = std::move(digest)});
  };
  EXPECT_NE(key_with("one"), key_with("another"));
  EXPECT_EQ(key_with("one"), key_with("one"));
}

}  // namespace
}  // namespace cuprum::tests
