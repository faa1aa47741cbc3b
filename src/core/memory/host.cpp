#include <cuprum/error.hpp>
#include <cuprum/host.hpp>
#include <ostream>

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

Host::Host(int numa_id) : numa_id_(numa_id) {
  if (numa_id < 0)
    throw InvalidArgument(support::text("NUMA node ", numa_id, ": the numbers of NUMA nodes are 0 and up"));
}

Host Host::numa_current() {
  Host host;
  host.is_numa_current_ = true;
  return host;
}

std::ostream& operator<<(std::ostream& out, const Host& host) {
  if (host.is_numa_current()) return out << "the NUMA node of the calling thread";
  if (host.numa_id()) return out << "NUMA node " << *host.numa_id();
  return out << "the host";
}

}  // namespace cuprum::inline CUPRUM_ABI
