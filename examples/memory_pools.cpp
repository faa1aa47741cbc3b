// Memory pools: limits, statistics, giving memory back, and going on after there was not enough.
#include <cuprum/cuprum.hpp>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

constexpr std::size_t megabyte = 1 << 20;

void print(const char* when, const MemoryPoolAttributes& attributes) {
  std::cout << "  " << when << ": " << attributes.used_mem_current() / megabyte << " MiB in use (at most "
            << attributes.used_mem_high() / megabyte << "), " << attributes.reserved_mem_current() / megabyte
            << " MiB reserved\n";
}

void memory_pools() {
  Device device;
  Stream stream = device.create_stream();

  std::cout << "A pool of its own, with a limit of 64 MiB\n";
  DeviceMemoryResource pool(device, {.max_size = 64 * megabyte});
  const MemoryPoolAttributes attributes = pool.attributes();
  print("at first", attributes);
  Buffer large = pool.allocate(32 * megabyte, stream);
  print("after allocating 32 MiB", attributes);
  check(attributes.used_mem_current() == 32 * megabyte, "the pool counts what is in use");

  std::cout << "Memory that was freed stays in the pool, so that the next allocation is cheap\n";
  const DevicePointer where = large.handle();
  large.close();
  Buffer again = pool.allocate(32 * megabyte, stream);
  check(again.handle() == where, "the same memory comes back in the same stream, without waiting");
  again.close();
  stream.sync();
  print("after freeing it", attributes);
  check(attributes.used_mem_current() == 0 && attributes.reserved_mem_current() > 0, "nothing in use, some reserved");
  pool.trim();
  print("after trim()", attributes);
  check(attributes.reserved_mem_current() == 0, "trim() gives it back to the device");

  std::cout << "More than the limit\n";
  std::vector<Buffer> buffers;
  try {
    for (;;) buffers.push_back(pool.allocate(8 * megabyte, stream));
  } catch (const OutOfMemory& error) {
    std::cout << "    " << error.what() << '\n';
  }
  check(buffers.size() >= 4, "most of the 64 MiB could be used");
  buffers.clear();
  buffers.push_back(pool.allocate(8 * megabyte, stream));
  check(buffers.size() == 1, "after freeing, the program goes on");

  std::cout << "The high-water mark can be reset\n";
  attributes.reset_used_mem_high();
  print("after the reset", attributes);
  check(attributes.used_mem_high() == attributes.used_mem_current(), "it starts again from what is in use");

  std::cout << "Letting other devices in\n";
  for (const Device& other : Device::all()) {
    if (other == device || !device.can_access_peer(other)) continue;
    pool.peer_accessible_by().add(other);
    check(pool.peer_accessible_by().contains(other), "another device can access the pool");
  }
  std::cout << "  accessible by " << pool.peer_accessible_by() << '\n';

  std::cout << "All allocations of a device can be made to come from the pool\n";
  const MemoryResource before = device.memory_resource();
  device.set_memory_resource(pool);
  check(device.allocate(megabyte, stream).memory_resource() == pool, "Device::allocate draws on it");
  device.set_memory_resource(before);
}

}  // namespace

int main() { return run(memory_pools); }
