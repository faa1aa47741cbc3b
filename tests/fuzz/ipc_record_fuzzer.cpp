// Descriptions of pools, buffers and events as another process may send them: refused with a reason, or the same bytes
// when they are written again.
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <cuprum/error.hpp>
#include <cuprum/ipc.hpp>
#include <span>

#include "core/ipc/wire.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace cuprum;
using cuprum::tests::require;
namespace wire = core::wire;

std::string as_string(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <typename Read>
void check(std::span<const std::byte> bytes, Read&& read) {
  try {
    const std::vector<std::byte> again = read(bytes).to_bytes();
    require(std::ranges::equal(again, bytes), "what is accepted is written as it was read");
  } catch (const InvalidArgument& refusal) {
    require(refusal.what()[0] != '\0', "a refusal has a reason");
  }
}

// What a peer that means harm would send: bytes with the right checksum.
std::vector<std::byte> with_checksum(std::span<const std::byte> bytes) {
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  if (sealed.size() < sizeof(std::uint64_t)) return sealed;
  const std::size_t at = sealed.size() - sizeof(std::uint64_t);
  const std::uint64_t sum = wire::checksum(std::span(sealed).first(at));
  std::memcpy(sealed.data() + at, &sum, sizeof(sum));
  return sealed;
}

void check_all(std::span<const std::byte> bytes) {
  check(bytes, [](auto record) { return IPCBufferDescriptor::from_bytes(record); });
  check(bytes, [](auto record) { return IPCEventDescriptor::from_bytes(record); });
  check(bytes, [](auto record) { return IPCAllocationHandle::from_bytes(record, open("/dev/null", O_RDONLY)); });
}

}  // namespace

std::vector<std::string> good_inputs() {
  const Uuid some{{1, 2, 3, 4, 5, 6, 7, 8, 9}}, other{{9, 8, 7}};
  const detail::IpcOrigin origin{some, other};
  wire::BufferRecord buffer{};
  buffer.pool = some;
  buffer.size = 4096;
  wire::PoolRecord pool{};
  pool.pool = other;
  pool.place = wire::Place::device;
  return {as_string(wire::seal(buffer, 0, origin)), as_string(wire::seal(pool, 0, origin)),
          as_string(wire::seal(wire::EventRecord{}, wire::blocking_sync, origin))};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check_all(bytes);
  check_all(with_checksum(bytes));
  return 0;
}
