// Memory operations: allocating, filling, copying between host and device, and who frees what when.
#include <algorithm>
#include <cuprum/cuprum.hpp>
#include <memory>
#include <numeric>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

void memory_operations() {
  Device device;
  Stream stream = device.create_stream();
  constexpr std::size_t count = 1 << 16;
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);

  std::cout << "Copying from the host to the device and back\n";
  Buffer data = device.allocate(count * sizeof(int), stream);
  data.copy_from(std::span(numbers), stream);
  std::vector<int> back(count);
  data.copy_to(std::span(back), stream);
  stream.sync();  // copies are asynchronous: the contents are there now
  check(back == numbers, "what came back is what was sent");

  std::cout << "Page-locked memory: the host and the device see the same bytes, and copies need no detour\n";
  Buffer staging = PinnedMemoryResource().allocate(data.size(), stream);
  staging.copy_from(data, stream);
  stream.sync();
  std::span<int> view = staging.as_span<int>();
  check(std::ranges::equal(view, numbers), "the view shows the device's numbers");

  std::cout << "Copying to a new buffer\n";
  Buffer copy = data.copy_to(stream);
  check(copy.size() == data.size() && copy != data, "the copy is of the same size, elsewhere");

  std::cout << "Filling with patterns of 1, 2 and 4 bytes\n";
  staging.fill<std::uint8_t>(0xff, stream);
  stream.sync();
  check(std::ranges::all_of(view, [](int value) { return value == -1; }), "bytes of 0xff make numbers of -1");
  staging.fill<int>(42, stream);
  stream.sync();
  check(std::ranges::all_of(view, [](int value) { return value == 42; }), "an int is repeated as a whole");

  std::cout << "Sizes are checked before anything happens\n";
  try {
    device.allocate(16, stream).copy_from(data, stream);
    check(false, "a copy that does not fit is refused");
  } catch (const InvalidArgument& error) {
    std::cout << "    " << error.what() << '\n';
    check(true, "a copy that does not fit is refused");
  }

  std::cout << "Many copies by one call\n";
  Buffer first = device.allocate(1024, stream);
  Buffer second = device.allocate(2048, stream);
  first.fill<int>(1, stream);
  second.fill<int>(2, stream);
  Buffer first_on_host = PinnedMemoryResource().allocate(1024, stream);
  Buffer second_on_host = PinnedMemoryResource().allocate(2048, stream);
  copy_batch(stream, {first, second}, {first_on_host, second_on_host});
  stream.sync();
  check(first_on_host.as_span<int>()[0] == 1 && second_on_host.as_span<int>()[0] == 2, "both arrived");

  std::cout << "Wrapping memory that somebody else owns\n";
  auto owner = std::make_shared<std::vector<int>>(16, 5);
  Buffer wrapped = Buffer::from_handle(reinterpret_cast<DevicePointer>(owner->data()), 16 * sizeof(int), owner);
  check(wrapped.is_host_accessible() && owner.use_count() == 2, "the buffer keeps the owner");
  wrapped.close();
  check(owner.use_count() == 1, "and lets it go when it is closed");

  // A buffer is freed in the order of its stream, so it may go as soon as the last work with it is queued.
  data.close();
  copy.close(stream);
}

}  // namespace

int main() { return run(memory_operations); }
