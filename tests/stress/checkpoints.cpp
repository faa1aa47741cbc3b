// A process that computes all the time on several streams, and others that lock, checkpoint, restore and unlock it in
// random order and are killed meanwhile. Its results stay right, and its states are those of a model.
//
//   checkpoints [--rounds N] [--seconds S] [--seed K]
//
// First N transitions one after the other by several processes, each compared with the model; then for S seconds
// several processes at once, of which one is killed every now and then. Exits with 0 when all was right.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuprum/checkpoint.hpp>
#include <cuprum/cuprum.hpp>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace cuprum;
using checkpoint::ProcessState;
using Clock = std::chrono::steady_clock;

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

// ---- The process that computes -----------------------------------------------------------------

const char* const source = R"(
extern "C" __global__ void add(unsigned* data, unsigned value, int n) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) data[i] = data[i] * 3 + value;
}
)";

class Computation {
 public:
  explicit Computation(unsigned seed) : random_(seed) {
    device_.set_current();
    for (int i = 0; i < kStreams; ++i) lanes_.push_back(std::make_unique<Lane>(device_, n_));
  }

  /// Queues work on all streams, and looks at the results of one.
  void round() {
    for (const auto& lane : lanes_) {
      const auto value = static_cast<unsigned>(random_());
      launch(lane->stream, {.grid = 8, .block = 128}, add_, lane->data, value, n_);
      lane->expected = lane->expected * 3 + value;
    }
    Lane& one = *lanes_[random_() % lanes_.size()];
    std::vector<unsigned> found(static_cast<std::size_t>(n_));
    one.data.copy_to(std::span(found), one.stream);
    one.stream.sync();
    for (const unsigned number : found) require(number == one.expected, "a result is wrong");
    if (random_() % 16 == 0) one.refill(device_, n_);
  }

 private:
  static constexpr int kStreams = 4;
  struct Lane {
    Lane(const Device& device, int n) : stream(device.create_stream()) { refill(device, n); }
    void refill(const Device& device, int n) {
      data = device.allocate(static_cast<std::size_t>(n) * sizeof(unsigned), stream);
      data.fill<unsigned>(0, stream);
      expected = 0;
    }
    Stream stream;
    Buffer data;
    unsigned expected = 0;
  };

  const int n_ = 50'000;
  Device device_{0};
  Kernel add_ = Program(source).compile(Target::cubin).get_kernel("add");
  std::mt19937 random_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

// Answers "rounds" with their number, and "end" with what was wrong, or "right".
void compute(const ipc::Channel& channel, unsigned seed) {
  std::atomic<bool> end = false;
  std::atomic<unsigned long> rounds = 0;
  std::string wrong = "right";
  std::thread worker([&] {
    try {
      Computation computation(seed);
      for (; !end; ++rounds) computation.round();
    } catch (const std::exception& error) {
      wrong = error.what();
      end = true;
    }
  });
  while (channel.receive<std::string>() == "rounds") channel.send(end ? "none" : std::to_string(rounds));
  end = true;
  worker.join();
  channel.send(wrong);
}

// ---- The processes that control ----------------------------------------------------------------

constexpr const char* kTransitions[] = {"lock", "checkpoint", "restore", "unlock"};

// The name of what went wrong; "done" for nothing.
std::string perform(const checkpoint::Process& process, const std::string& transition) {
  try {
    if (transition == "lock") process.lock(std::chrono::seconds(30));
    if (transition == "checkpoint") process.checkpoint();
    if (transition == "restore") process.restore();
    if (transition == "unlock") process.unlock();
    return "done";
  } catch (const DriverError& error) {
    return error.name();
  }
}

// Does what it is told; told a number, it does random things until it is killed.
void control(const ipc::Channel& channel, int pid) {
  const checkpoint::Process process(pid);
  for (;;) {
    const auto told = channel.receive<std::string>();
    if (told == "end") return;
    if (told.front() >= 'a') {
      channel.send(perform(process, told));
      continue;
    }
    std::mt19937 random(static_cast<unsigned>(std::stoul(told)));
    for (;;) perform(process, kTransitions[random() % 4]);
  }
}

// ---- The one who starts and compares -----------------------------------------------------------

// This program again, in another role.
class Helper {
 public:
  Helper(const std::string& role, unsigned long argument) {
    const auto [here, there] = ipc::Channel::pair();
    channel_.emplace(here);
    const std::string number = std::to_string(there.handle()), text = std::to_string(argument);
    const char* arguments[] = {"/proc/self/exe", role.c_str(), number.c_str(), text.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there.handle(), there.handle());
    const int error = posix_spawn(&pid_, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    require(error == 0, "no process");
  }
  ~Helper() { kill(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  int pid() const { return pid_; }
  void tell(const std::string& text) const { channel_->send(text); }
  std::string ask(const std::string& text) const {
    tell(text);
    return channel_->receive<std::string>();
  }
  void kill() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  std::optional<ipc::Channel> channel_;
};

// What the process must be and say.
class Model {
 public:
  std::string expect(const std::string& transition) {
    struct Way {
      const char* name;
      ProcessState from, to;
    };
    static constexpr Way kWays[] = {{"lock", ProcessState::running, ProcessState::locked},
                                    {"checkpoint", ProcessState::locked, ProcessState::checkpointed},
                                    {"restore", ProcessState::checkpointed, ProcessState::locked},
                                    {"unlock", ProcessState::locked, ProcessState::running}};
    for (const Way& way : kWays) {
      if (transition != way.name || state != way.from) continue;
      state = way.to;
      return "done";
    }
    return "CUDA_ERROR_ILLEGAL_STATE";
  }
  ProcessState state = ProcessState::running;
};

void one_after_the_other(const Helper& target, int rounds, std::mt19937& random) {
  const checkpoint::Process process(target.pid());
  std::vector<std::unique_ptr<Helper>> controllers;
  for (int i = 0; i < 3; ++i) controllers.push_back(std::make_unique<Helper>("control", target.pid()));
  Model model;
  for (int i = 0; i < rounds; ++i) {
    const std::string transition = kTransitions[random() % 4];
    const std::string expected = model.expect(transition);
    const std::string found = controllers[random() % controllers.size()]->ask(transition);
    require(found == expected, transition + " gave " + found + " and not " + expected);
    require(process.state() == model.state, "the state after " + transition + " is another than the model's");
  }
  for (const auto& controller : controllers) controller->tell("end");
}

// Whatever state it was left in, anybody can make it run again.
void recover(const checkpoint::Process& process) {
  const ProcessState left = process.state();
  require(left != ProcessState::failed, "the process has failed");
  if (left == ProcessState::checkpointed) process.restore();
  if (left != ProcessState::running) process.unlock();
  require(process.state() == ProcessState::running, "the process does not run again");
}

unsigned long rounds_of(const Helper& target) {
  const std::string answer = target.ask("rounds");
  require(answer != "none", "the process stopped computing");
  return std::stoul(answer);
}

void require_progress(const Helper& target) {
  const unsigned long before = rounds_of(target);
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (rounds_of(target) < before + 2 && Clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  require(rounds_of(target) >= before + 2, "the process does not go on");
}

void all_at_once(const Helper& target, int seconds, std::mt19937& random) {
  const checkpoint::Process process(target.pid());
  std::vector<std::unique_ptr<Helper>> controllers(3);
  int killed = 0;
  for (const auto end = Clock::now() + std::chrono::seconds(seconds); Clock::now() < end; ++killed) {
    for (auto& controller : controllers) {
      if (controller != nullptr) continue;
      controller = std::make_unique<Helper>("control", target.pid());
      controller->tell(std::to_string(random()));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300'000));
    controllers[random() % controllers.size()].reset();
    if (killed % 4 != 3) continue;
    controllers.clear();
    controllers.resize(3);
    recover(process);
    require_progress(target);
  }
  controllers.clear();
  recover(process);
  std::printf("killed %d controllers\n", killed);
}

int option(int argc, char** argv, const char* name, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::atoi(argv[i + 1]);
  return otherwise;
}

void supervise(int argc, char** argv) {
  const auto seed = static_cast<unsigned>(option(argc, argv, "--seed", 1));
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  Helper target("compute", seed);
  while (rounds_of(target) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  one_after_the_other(target, option(argc, argv, "--rounds", 200), random);
  recover(checkpoint::Process(target.pid()));
  require_progress(target);
  all_at_once(target, option(argc, argv, "--seconds", 10), random);
  require_progress(target);
  const std::string wrong = target.ask("end");
  require(wrong == "right", wrong);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string role = argc == 4 ? argv[1] : "";
    if (role == "compute")
      compute(ipc::Channel(std::atoi(argv[2]), {.timeout_ms = -1}), static_cast<unsigned>(std::atoi(argv[3])));
    else if (role == "control")
      control(ipc::Channel(std::atoi(argv[2]), {.timeout_ms = -1}), std::atoi(argv[3]));
    else
      supervise(argc, argv);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "checkpoints: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
