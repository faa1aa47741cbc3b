// Checkpoints: another process gives its device memory away while it is locked, and goes on as if nothing had happened.
//
// The program starts itself a second time. The child fills a buffer and then doubles it whenever it is told. Meanwhile
// the parent locks it, takes its device memory, gives it back and unlocks it; the child's numbers are as they should
// be. On NVIDIA's driver this needs CUDA 12.8 or later.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cuprum/checkpoint.hpp>
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>
#include <vector>

#include "check.hpp"

using namespace cuprum;
using checkpoint::ProcessState;

extern char** environ;

namespace {

constexpr std::size_t count = 1 << 20;

constexpr const char* source = R"(
extern "C" __global__ void double_all(float* data, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] *= 2;
})";

void child_process(int channel_number) {
  const ipc::Channel channel(channel_number);
  const Device device;
  device.set_current();
  Stream stream = device.create_stream();
  const Kernel double_all = Program(source).compile(Target::cubin).get_kernel("double_all");
  std::vector<float> numbers(count), results(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const Buffer data = device.allocate(count * sizeof(float), stream);
  data.copy_from(std::span(numbers), stream);
  stream.sync();
  channel.send("ready");

  // It knows nothing of checkpoints: while it is locked, the launch waits.
  while (channel.receive<std::string>() == "double") {
    launch(stream, {.grid = ceil_div(count, 256), .block = 256}, double_all, data, count);
    data.copy_to(std::span(results), stream);
    stream.sync();
    for (float& number : numbers) number *= 2;
    channel.send(results == numbers ? "right" : "wrong");
  }
}

void parent_process(const ipc::Channel& channel, pid_t child) {
  channel.receive<std::string>();
  const auto is_right = [&] {
    channel.send("double");
    return channel.receive<std::string>() == "right";
  };
  check(is_right(), "the child computes");

  const checkpoint::Process process(child);
  std::cout << process << " is " << process.state() << '\n';
  process.lock(std::chrono::seconds(10));
  check(process.state() == ProcessState::locked, "it is locked: its work is done, and its calls wait");
  process.checkpoint();
  check(process.state() == ProcessState::checkpointed, "it is checkpointed: its device memory is free for others");
  process.restore();
  check(process.state() == ProcessState::locked, "it is restored, and still locked");
  process.unlock();
  check(process.state() == ProcessState::running, "it runs again");
  check(is_right(), "its numbers are as they should be");

  try {
    process.unlock();
    check(false, "a process that runs can't be unlocked");
  } catch (const DriverError& error) {
    std::cout << error.what() << '\n';
    check(error.name() == "CUDA_ERROR_ILLEGAL_STATE", "a process that runs can't be unlocked");
  }
  channel.send("end");
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count > 1) return run([&] { child_process(std::atoi(arguments[1])); });
  return run([&] {
    const auto [here, there] = ipc::Channel::pair();
    const std::string number = std::to_string(there.handle());
    const char* child_arguments[] = {arguments[0], number.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, there.handle(), there.handle());
    pid_t child = -1;
    const int error =
        posix_spawn(&child, "/proc/self/exe", &actions, nullptr, const_cast<char**>(child_arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("the second process could not be started");
    parent_process(here, child);
    int status = -1;
    waitpid(child, &status, 0);
    check(status == 0, "the child ended well");
  });
}
