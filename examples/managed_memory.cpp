// Managed memory: one address for the host and the device, and telling the driver where it will be used.
#include <algorithm>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>

#include "check.hpp"

using namespace cuprum;

namespace {

// Managed memory from outside of Cuprum: drivers take advice for it, but not all of them for memory of a pool.
struct ManagedAllocation {
  explicit ManagedAllocation(std::size_t size) {
    driver::call<&driver::Api::cuMemAllocManaged>(&pointer, size, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  }
  ~ManagedAllocation() { driver::try_call<&driver::Api::cuMemFree>(pointer); }
  ManagedAllocation(const ManagedAllocation&) = delete;
  ManagedAllocation& operator=(const ManagedAllocation&) = delete;

  DevicePointer pointer = 0;
};

void managed_memory() {
  Device device;
  device.set_current();
  if (!device.properties().concurrent_managed_access()) {
    std::cout << device << " has no concurrent managed access\n";
    return;
  }
  Stream stream = device.create_stream();
  Kernel square = Program(R"(extern "C" __global__ void square(int* data, int n) {
                               int i = threadIdx.x + blockIdx.x * blockDim.x;
                               if (i < n) data[i] *= data[i];
                             })")
                      .compile(Target::cubin)
                      .get_kernel("square");

  constexpr int count = 1 << 16;
  ManagedBuffer data = ManagedMemoryResource().allocate(count * sizeof(int), stream);
  std::cout << "The host writes, the device computes, the host reads: no copy in sight\n";
  std::span<int> values = data.as_span<int>();
  std::ranges::fill(values, 12);
  data.prefetch(device, stream);  // rather all at once than page by page
  launch(stream, {.grid = ceil_div(count, 256), .block = 256}, square, data, count);
  data.prefetch(Host(), stream);
  stream.sync();
  check(std::ranges::all_of(values, [](int value) { return value == 144; }), "all numbers are squared");

  std::cout << "Advice: where the memory should be and who uses it\n";
  const auto memory = std::make_shared<ManagedAllocation>(count * sizeof(int));
  ManagedBuffer advised = ManagedBuffer::from_handle(memory->pointer, count * sizeof(int), memory);
  advised.set_preferred_location(device);
  advised.accessed_by().add(Host());
  advised.set_read_mostly(true);
  check(advised.preferred_location() == Location(device), "it prefers the device");
  check(advised.accessed_by().contains(Host()), "it stays mapped for the host");
  check(advised.read_mostly(), "it is mostly read");
  std::cout << "  accessed by " << advised.accessed_by() << '\n';
  advised.set_preferred_location(std::nullopt);
  advised.set_accessed_by({});
  advised.set_read_mostly(false);
  check(!advised.preferred_location() && advised.accessed_by().empty() && !advised.read_mostly(),
        "advice can be withdrawn");

  std::cout << "Contents that are not needed any more need not be moved\n";
  data.discard_prefetch(device, stream);
  data.fill<int>(1, stream);
  stream.sync();
  check(values[count - 1] == 1, "after discarding, the memory is written anew");

  std::cout << "Several buffers by one call\n";
  ManagedMemoryResource near_device({.preferred_location = device.device_id()});
  ManagedBuffer first = near_device.allocate(4096, stream);
  ManagedBuffer second = near_device.allocate(4096, stream);
  first.fill<int>(1, stream);
  second.fill<int>(2, stream);
  prefetch_batch(stream, {first, second}, {Location(device), Location(Host())});
  stream.sync();
  check(first.as_span<int>()[0] == 1 && second.as_span<int>()[0] == 2, "they keep their contents");
}

}  // namespace

int main() { return run(managed_memory); }
