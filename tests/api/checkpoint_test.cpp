// Checkpoints: another process of this program is locked, checkpointed, restored and unlocked.
#include <unistd.h>

#include <cuprum/checkpoint.hpp>
#include <cuprum/system.hpp>
#include <sstream>
#include <unordered_set>

#include "api/child_process.hpp"
#include "api/fixture.hpp"

namespace cuprum::tests {
namespace {

using checkpoint::Process;
using checkpoint::ProcessState;
using std::chrono::milliseconds;

constexpr std::size_t kCount = 1 << 20;

class CheckpointTest : public ApiTest {
 protected:
  void SetUp() override {
    if (driver::info().version < 12080) GTEST_SKIP() << "drivers have checkpoints from CUDA 12.8 on";
  }
  /// What NVML says that the process has on the device; 0 when it is not listed.
  static std::uint64_t memory_of(int pid) {
    for (const auto& process : system::Device::from_index(0).compute_running_processes())
      if (process.pid == static_cast<unsigned>(pid)) return process.used_gpu_memory.value_or(0);
    return 0;
  }
  static void cycle(const Process& process, const std::map<Uuid, Uuid>& mapping = {}) {
    process.lock(milliseconds(20'000));
    process.checkpoint();
    process.restore(mapping);
    process.unlock();
  }
};

// Doubles numbers whenever it is told "double", and says whether they are right.
TEST_F(CheckpointTest, DISABLED_Doubles) {
  const ipc::Channel channel = channel_to_parent();
  Stream stream = device.create_stream();
  const Kernel scale = compile(scale_source, "scale");
  std::vector<float> expected = numbers(kCount);
  const Buffer data = upload(expected, stream);
  stream.sync();
  channel.send("ready");
  for (std::string told = channel.receive<std::string>(); told != "end"; told = channel.receive<std::string>()) {
    if (told == "uuid") {
      channel.send(device.uuid().to_string());
      continue;
    }
    if (told == "bus") {
      channel.send(device.pci_bus_id() + " " + std::to_string(device.properties().pci_bus_id()));
      continue;
    }
    launch(stream, {.grid = ceil_div(kCount, 256), .block = 256}, scale, data, 2.0f, kCount);
    for (float& number : expected) number *= 2;
    channel.send(download<float>(data, stream) == expected ? "right" : "wrong");
  }
}

class Doubler {
 public:
  explicit Doubler(const std::vector<std::string>& settings = {})
      : child_("CheckpointTest.DISABLED_Doubles", settings) {
    EXPECT_EQ(child_.channel().receive<std::string>(), "ready");
  }
  std::string ask(const std::string& text) {
    child_.channel().send(text);
    return child_.channel().receive<std::string>();
  }
  bool ends_well() {
    child_.channel().send("end");
    return child_.passed();
  }
  ChildProcess& child() { return child_; }
  Process process() const { return Process(child_.id()); }

 private:
  ChildProcess child_;
};

TEST_F(CheckpointTest, AProcessGoesThroughItsStatesAndKeepsItsResults) {
  Doubler doubler;
  const Process process = doubler.process();
  EXPECT_EQ(process.state(), ProcessState::running);
  EXPECT_GT(process.restore_thread_id(), 0);
  EXPECT_EQ(doubler.ask("double"), "right");
  process.lock();
  EXPECT_EQ(process.state(), ProcessState::locked);
  process.checkpoint();
  EXPECT_EQ(process.state(), ProcessState::checkpointed);
  process.restore();
  EXPECT_EQ(process.state(), ProcessState::locked);
  process.unlock();
  EXPECT_EQ(process.state(), ProcessState::running);
  EXPECT_EQ(doubler.ask("double"), "right");
  cycle(process);
  EXPECT_EQ(doubler.ask("double"), "right");
  EXPECT_TRUE(doubler.ends_well());
}

TEST_F(CheckpointTest, ItsMemoryIsFreeMeanwhile) {
  Doubler doubler;
  const Process process = doubler.process();
  const std::uint64_t before = memory_of(process.pid());
  if (before == 0) GTEST_SKIP() << "NVML does not tell the memory of processes here";
  EXPECT_GE(before, kCount * sizeof(float));
  process.lock(milliseconds(20'000));
  process.checkpoint();
  EXPECT_EQ(memory_of(process.pid()), 0u);
  process.restore();
  process.unlock();
  EXPECT_GE(memory_of(process.pid()), kCount * sizeof(float));
  EXPECT_EQ(doubler.ask("double"), "right");
}

TEST_F(CheckpointTest, WrongStatesAreDriverErrorsThatSaySo) {
  Doubler doubler;
  const Process process = doubler.process();
  const auto code_of = [](auto&& statement) {
    try {
      statement();
    } catch (const DriverError& error) {
      return error.name();
    }
    return std::string("none");
  };
  EXPECT_EQ(code_of([&] { process.checkpoint(); }), "CUDA_ERROR_ILLEGAL_STATE");
  EXPECT_EQ(code_of([&] { process.restore(); }), "CUDA_ERROR_ILLEGAL_STATE");
  EXPECT_THAT(error_of<DriverError>([&] { process.unlock(); }),
              testing::HasSubstr("unlocking process " + std::to_string(process.pid())));
  EXPECT_EQ(process.state(), ProcessState::running);
}

TEST_F(CheckpointTest, AProcessThatEndedIsADriverError) {
  Doubler doubler;
  const Process process = doubler.process();
  doubler.child().kill();
  EXPECT_THROW(process.state(), DriverError);
  EXPECT_THROW(process.restore_thread_id(), DriverError);
  EXPECT_THROW(process.lock(), DriverError);
  EXPECT_THROW(process.unlock(), DriverError);
}

TEST_F(CheckpointTest, BadArgumentsAreRefused) {
  EXPECT_THROW(Process(0), InvalidArgument);
  EXPECT_THAT(error_of<InvalidArgument>([] { Process(-7); }), testing::HasSubstr("-7"));
  EXPECT_THROW(Process(1).lock(milliseconds(-1)), InvalidArgument);
  EXPECT_THROW(Process(1).lock(std::chrono::hours(24 * 50)), InvalidArgument);
}

TEST_F(CheckpointTest, ProcessesAreValues) {
  const Process one(7), same(7), other(8);
  EXPECT_EQ(one, same);
  EXPECT_NE(one, other);
  EXPECT_EQ((std::unordered_set<Process>{one, same, other}).size(), 2u);
  std::ostringstream text;
  text << one << ' ' << ProcessState::running << ' ' << ProcessState::locked << ' ' << ProcessState::checkpointed << ' '
       << ProcessState::failed;
  EXPECT_EQ(text.str(), "<Process 7> running locked checkpointed failed");
}

TEST_F(CheckpointTest, AMappingMustNameDevicesThatThereAre) {
  Doubler doubler;
  const Process process = doubler.process();
  process.lock(milliseconds(20'000));
  process.checkpoint();
  EXPECT_THROW(process.restore({{Uuid::random(), Uuid::random()}}), DriverError);
  EXPECT_EQ(process.state(), ProcessState::checkpointed);
  std::map<Uuid, Uuid> stays;
  for (const Device& each : Device::all()) stays[each.uuid()] = each.uuid();
  process.restore(stays);
  process.unlock();
  EXPECT_EQ(doubler.ask("double"), "right");
}

TEST(CheckpointOfOlderDriver, DISABLED_IsNotSupported) {
  EXPECT_THAT(error_of<NotSupported>([] { Process(getpid()).state(); }),
              testing::HasSubstr("cuCheckpointProcessGetState"));
}

TEST_F(CheckpointTest, OlderDriversAreToldOf) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "only softgpu can be an older one";
  ChildProcess child("CheckpointOfOlderDriver.DISABLED_IsNotSupported", {"SOFTGPU_CUDA_VERSION=12.4"});
  EXPECT_TRUE(child.passed());
}

/// The rest runs in processes that have two devices.
TEST_F(CheckpointTest, DISABLED_Moves) {
  const Uuid first = Device(0).uuid(), second = Device(1).uuid();
  Doubler doubler;
  const auto bus_of = [](const Device& one) {
    return one.pci_bus_id() + " " + std::to_string(one.properties().pci_bus_id());
  };
  EXPECT_EQ(doubler.ask("uuid"), first.to_string());
  EXPECT_EQ(doubler.ask("bus"), bus_of(Device(0)));
  cycle(doubler.process(), {{first, second}, {second, first}});
  EXPECT_EQ(doubler.ask("uuid"), second.to_string());
  EXPECT_EQ(doubler.ask("bus"), bus_of(Device(1)));
  EXPECT_EQ(doubler.ask("double"), "right");
  EXPECT_EQ(memory_of(doubler.process().pid()), 0u);  // on device 0
  cycle(doubler.process(), {{first, second}, {second, first}});
  EXPECT_EQ(doubler.ask("uuid"), first.to_string());
  EXPECT_EQ(doubler.ask("double"), "right");
  EXPECT_GT(memory_of(doubler.process().pid()), 0u);
}

TEST_F(CheckpointTest, AProcessMovesToAnotherDevice) {
  if (driver::info().kind != driver::Choice::softgpu) GTEST_SKIP() << "needs two GPUs of a kind";
  ChildProcess child("CheckpointTest.DISABLED_Moves", {"SOFTGPU_DEVICES=2"});
  EXPECT_TRUE(child.passed());
}

}  // namespace
}  // namespace cuprum::tests
