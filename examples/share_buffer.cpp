// Sharing a buffer between two processes: a pool, a buffer and an event, over a channel.
//
// The program starts itself a second time. The parent owns a memory pool, puts numbers into a buffer of it and records
// an event after that. The child maps the same memory, makes its stream wait for the event and doubles the numbers; the
// parent finds them doubled. Nothing is copied between the processes.
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>
#include <vector>

using namespace cuprum;

extern char** environ;

namespace {

constexpr std::size_t count = 1000;

constexpr const char* source = R"(
extern "C" __global__ void double_all(float* data, size_t n) {
  size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
  if (i < n) data[i] *= 2;
})";

/// Starts this program again with one end of a pair of channels, and returns the other. Files of the library are not
/// inherited by other programs, so the child is given a duplicate, which is known to it by its number.
ipc::Channel start_child(const char* program, pid_t& child) {
  auto [here, there] = ipc::Channel::pair();
  const std::string number = std::to_string(there.handle());
  const char* arguments[] = {program, number.c_str(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, there.handle(), there.handle());
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("the second process could not be started");
  return here;
}

// What comes over the channel is checked, but the memory itself is open to both processes from now on: share it only
// with processes that may see and change it.
void child_process(int channel_number) {
  const ipc::Channel channel(channel_number);
  const Device device;
  device.set_current();
  Stream stream = device.create_stream();
  const Kernel double_all = Program(source).compile(Target::cubin).get_kernel("double_all");

  const auto pool = DeviceMemoryResource::from_allocation_handle(device, channel.receive<IPCAllocationHandle>());
  const Buffer data = Buffer::from_ipc_descriptor(pool, channel.receive<IPCBufferDescriptor>(), stream);
  const Event written = Event::from_ipc_descriptor(channel.receive<IPCEventDescriptor>());
  std::cout << "child: mapped " << data.size() << " bytes of another process\n";

  stream.wait(written);
  launch(stream, {.grid = ceil_div(count, 256), .block = 256}, double_all, data, count);
  stream.sync();
  channel.send("doubled");
}

int parent_process(const char* program) {
  pid_t child = -1;
  const ipc::Channel channel = start_child(program, child);

  const Device device;
  device.set_current();
  std::cout << "parent: sharing memory of " << device << std::endl;
  Stream stream = device.create_stream();
  const DeviceMemoryResource pool(device, {.ipc_enabled = true});
  const Buffer data = pool.allocate(count * sizeof(float), stream);
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  data.copy_from(std::span(numbers), stream);
  const Event written = stream.record({.ipc_enabled = true});

  channel.send(pool.allocation_handle());  // the right to map the pool's memory
  channel.send(data.ipc_descriptor());     // which part of it
  channel.send(written.ipc_descriptor());  // when it is ready
  std::cout << "parent: the child says: " << channel.receive<std::string>() << '\n';

  std::vector<float> results(count);
  data.copy_to(std::span(results), stream);
  stream.sync();
  int status = -1;
  waitpid(child, &status, 0);
  bool is_right = status == 0;
  for (std::size_t i = 0; i < count; ++i) is_right = is_right && results[i] == 2 * numbers[i];
  std::cout << (is_right ? "parent: all numbers are doubled\n" : "parent: WRONG: the numbers are not doubled\n");
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    if (argument_count == 1) return parent_process(arguments[0]);
    child_process(std::atoi(arguments[1]));
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "share_buffer: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
