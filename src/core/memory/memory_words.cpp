// The words of cuda.core for what memory is and where.
#include <cuprum/location.hpp>
#include <cuprum/managed_memory_resource.hpp>
#include <cuprum/virtual_memory_resource.hpp>
#include <ostream>

#include "support/enumeration.hpp"

namespace cuprum::inline CUPRUM_ABI {

using support::print_word;

std::ostream& operator<<(std::ostream& out, LocationType type) {
  return print_word(out, {"device", "host", "host_numa", "host_numa_current"}, type);
}

std::ostream& operator<<(std::ostream& out, ManagedMemoryLocationType type) {
  return print_word(out, {"device", "host", "host_numa"}, type);
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryAllocationType type) {
  return print_word(out, {"pinned", "managed"}, type);
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryHandleType type) {
  return print_word(out, {"posix_fd", "win32_kmt", "fabric"}, type);
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryGranularityType type) {
  return print_word(out, {"minimum", "recommended"}, type);
}

std::ostream& operator<<(std::ostream& out, VirtualMemoryAccessType type) { return print_word(out, {"rw", "r"}, type); }

}  // namespace cuprum::inline CUPRUM_ABI
