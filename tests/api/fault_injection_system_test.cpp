// Whatever system call fails, an Error says what the system said, and nothing is left behind: no file, no file
// descriptor.
#include <cuprum/ipc_channel.hpp>
#include <cuprum/pathfinder.hpp>
#include <cuprum/program_cache.hpp>

#include "api/faults.hpp"
#include "api/ipc_fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  std::function<void()> action_;
};

class SystemFaults : public ApiTest {
 protected:
  const std::string arch = "sm_" + device.arch();
  const TemporaryFolder folder;

  /// Nothing may stay behind that the scenario did not find, but for what it stored.
  std::function<void()> tidily(std::function<void()> scenario) {
    return [this, scenario = std::move(scenario), before = files()] {
      try {
        scenario();
      } catch (...) {
        const OutsideTheLibrary outside;
        EXPECT_EQ(files(), before) << "after " << Faults::failed();
        throw;
      }
      const OutsideTheLibrary outside;
      EXPECT_EQ(files(), before) << "after " << Faults::failed();
    };
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      const bool is_result = entry.path().extension() == ".code" || entry.path().extension() == ".cubin";
      if (!is_result && !entry.is_directory()) names.push_back(entry.path().string());
    }
    return names;
  }
};

TEST_F(SystemFaults, OfAProgramCache) {
  FileStreamProgramCache cache(folder / "cache");
  EXPECT_GE(fail_each_system_call(tidily([&] {
              cache.clear();
              cache.set("key", "value");
              EXPECT_EQ(cache.get("key"), "value");
              EXPECT_EQ(cache.size(), 1u);
              EXPECT_EQ(cache.size_bytes(), cache.size_bytes());
              EXPECT_TRUE(cache.erase("key"));
            })),
            8);
}

TEST_F(SystemFaults, OfACacheThatIsFull) {
  FileStreamProgramCache cache(folder / "cache", {.max_size_bytes = 4096});
  const std::string large(3000, 'x');
  EXPECT_GE(fail_each_system_call(tidily([&] {
                                    cache.set("one", large);
                                    cache.set("two", large);
                                    EXPECT_TRUE(!Faults::failed().empty() || !cache.get("one"));
                                    EXPECT_EQ(cache.get("two"), large);
                                    cache.clear();
                                  }),
                                  {{"rename", "an entry that can't be removed stays, and goes on to count"},
                                   {"lstat", "an entry of which nothing is known stays, and goes on to count"}}),
            8);
}

TEST_F(SystemFaults, KeepWhatIsInACache) {
  FileStreamProgramCache cache(folder / "cache");
  cache.set("key", "value");
  EXPECT_GE(fail_each_system_call([&] { EXPECT_EQ(cache.get("key"), "value"); }), 3);
  EXPECT_EQ(cache.get("key"), "value");
}

// What a cache can't do is told to the log hook, once for each message.
TEST_F(SystemFaults, OfCompilingWithACache) {
  FileStreamProgramCache cache(folder / "cache");
  const std::string header = folder.write("seven.h", "#define SEVEN 7\n");
  const ProgramOptions options = {.arch = arch, .include_path = {folder.path().string()}};
  const LogHook usual = set_log_hook([](std::string_view) {});
  fail_each_system_call(
      [&] {
        const Program program("#include \"seven.h\"\nextern \"C\" __global__ void k(int* p) { *p = SEVEN; }", options);
        EXPECT_THAT(program.compile(Target::ptx, {.cache = &cache}).code(), ::testing::HasSubstr(".entry k"));
      },
      {{"", "programs are compiled all the same"}});
  set_log_hook(usual);
}

TEST_F(SystemFaults, OfReadingAProgram) {
  const std::string file = folder.write("scale.cu", scale_source);
  EXPECT_GE(fail_each_system_call([&] { EXPECT_NE(Program::from_file(file, {.arch = arch}).handle(), nullptr); },
                                  {{"fstat", "says only how much room will do, and reading goes on until the end"}}),
            2);
}

TEST_F(SystemFaults, OfCodeInFiles) {
  const std::string file = folder / "code.cubin";
  const ObjectCode code = Program(scale_source, {.arch = arch}).compile(Target::ptx);
  EXPECT_GE(fail_each_system_call(tidily([&] {
                                    code.save(file);
                                    EXPECT_EQ(ObjectCode::from_file(file).code(), code.code());
                                  }),
                                  {{"fstat", "says only how much room will do, and reading goes on until the end"},
                                   {"open", "where no file may be made, the one that is there is written to"},
                                   {"rename", "one that may not be replaced is written to"},
                                   {"fchmod", "some file systems give all files the same rights"}}),
            5);
}

TEST_F(SystemFaults, OfPrecompiledHeaders) {
  const Program header("#define SEVEN 7\n", {.arch = arch});
  try {
    header.compile(Target::pch, {.cache = nullptr});
  } catch (const NotSupported& error) {
    GTEST_SKIP() << error.what();
  }
  EXPECT_GE(fail_each_system_call([&] { EXPECT_FALSE(header.compile(Target::pch, {.cache = nullptr}).code().empty()); },
                                  {{"fstat", "says only how much room will do, and reading goes on until the end"}}),
            4);
}

TEST_F(SystemFaults, OfChannels) {
  const DescriptorsAreClosed check;
  EXPECT_GE(fail_each_system_call([&] {
              const auto [here, there] = ipc::Channel::pair({.timeout_ms = 1000});
              here.send("hello");
              EXPECT_EQ(there.receive<std::string>(), "hello");
            }),
            10);
}

// A listener leaves the file of its socket when it can't see whether that is still its own.
TEST_F(SystemFaults, OfListeners) {
  const DescriptorsAreClosed check;
  const std::string path = folder / "socket";
  EXPECT_GE(fail_each_system_call(tidily([&] {
                                    const AtEnd remove([&] {
                                      const OutsideTheLibrary outside;
                                      if (Faults::go_on() || Faults::failed() == "stat") std::filesystem::remove(path);
                                    });
                                    const ipc::Listener listener(path, {.timeout_ms = 1000});
                                    const ipc::Channel client = ipc::connect(path, {.timeout_ms = 1000});
                                    const ipc::Channel server = listener.accept();
                                    client.send("hello");
                                    EXPECT_EQ(server.receive<std::string>(), "hello");
                                  }),
                                  {{"stat", "a destructor asks whether the file is its own"}}),
            15);
}

TEST_F(SystemFaults, OfSharedPools) {
  if (!device.properties().memory_pools_supported()) GTEST_SKIP() << "needs memory pools";
  const DescriptorsAreClosed check;
  EXPECT_GE(fail_each_system_call([&] {
              const DeviceMemoryResource pool(device, {.ipc_enabled = true});
              const auto [here, there] = ipc::Channel::pair({.timeout_ms = 1000});
              here.send(pool.allocation_handle());
              EXPECT_EQ(there.receive<IPCAllocationHandle>().uuid(), pool.uuid());
            }),
            10);
}

// Places that can't be looked at are passed over, and the message lists them.
TEST_F(SystemFaults, OfFindingLibraries) {
  EXPECT_GE(
      fail_each_system_call([&] { EXPECT_NE(pathfinder::locate(pathfinder::Kind::dynamic_lib, "nvrtc").path, ""); },
                            {{"", "another place has it, too"}}),
      0);
}

}  // namespace
}  // namespace cuprum::tests
