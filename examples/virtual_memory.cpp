// Virtual memory: a buffer that grows, without a copy, while its contents stay.
#include <cuprum/cuprum.hpp>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

constexpr std::size_t kilobyte = 1024;

bool begins_with(const Buffer& buffer, int value, const Stream& stream) {
  std::vector<int> values(buffer.size() / sizeof(int));
  buffer.copy_to(std::span(values), stream);
  stream.sync();
  return values.front() == value;
}

void virtual_memory() {
  Device device;
  if (!device.properties().virtual_memory_management_supported()) {
    std::cout << device << " has no virtual memory management\n";
    return;
  }
  Stream stream = device.create_stream();

  VirtualMemoryResource resource(device, {.granularity = VirtualMemoryGranularityType::minimum});
  const std::size_t unit = resource.granularity();
  std::cout << "Memory is mapped in units of " << unit / kilobyte << " KiB\n";

  Buffer log = resource.allocate(unit, stream);
  log.fill<int>(7, stream);
  stream.sync();
  const DevicePointer where = log.handle();
  std::cout << "A log of " << log.size() / kilobyte << " KiB\n";

  for (std::size_t units : {2u, 4u, 8u}) {
    resource.modify_allocation(log, units * unit);
    std::cout << "grown to " << log.size() / kilobyte << " KiB "
              << (log.handle() == where ? "where it was" : "at another address") << '\n';
    check(log.size() == units * unit, "it has the new size");
    check(begins_with(log, 7, stream), "its contents are still there");
  }

  std::cout << "Write-protecting it\n";
  VirtualMemoryResourceOptions options = resource.options();
  options.self_access = VirtualMemoryAccessType::read;
  resource.modify_allocation(log, log.size(), options);
  check(resource.options().self_access == VirtualMemoryAccessType::read, "kernels may read it only");
  check(begins_with(log, 7, stream), "reading works");

  std::cout << "What does not fit leaves everything as it was\n";
  try {
    resource.modify_allocation(log, std::size_t{1} << 50);
    check(false, "an impossible size is refused");
  } catch (const OutOfMemory&) {
    check(log.size() == 8 * unit && begins_with(log, 7, stream), "the log is as it was");
  }
}

}  // namespace

int main() { return run(virtual_memory); }
