// The words of cuda.core for what memory is and where.
#include <cuprum/location.hpp>
#include <cuprum/managed_memory_resource.hpp>
#include <cuprum/virtual_memory_resource.hpp>
#include <ostream>

namespace cuprum::inline CUPRUM_ABI {
namespace {

template <typename Enumeration, std::size_t Count>
std::ostream& print_word(std::ostream& out, Enumeration value, const char* const (&words)[Count]) {
  return out << words[static_cast<std::size_t>(value)];
}

}  // namespace

std::ostream& operator<<(std::ostream& out, LocationType type) {
  return print_word(out, type, {"device", "host", "host_numa", "host_numa_current"});
}

std::ostream& operator<<(std::ostream& out, ManagedMemoryLocationType type) {
  return print_word(out, type, {"device", "host", "host_numa"});
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryAllocationType type) {
  return print_word(out, type, {"pinned", "managed"});
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryHandleType type) {
  return print_word(out, type, {"posix_fd", "win32_kmt", "fabric"});
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryGranularityType type) {
  return print_word(out, type, {"minimum", "recommended"});
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryAccessType type) { return print_word(out, type, {"rw", "r"}); }

}  // namespace cuprum::inline CUPRUM_ABI
