// The processes that use softgpu at this moment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "softgpu/usage/page.hpp"

namespace softgpu::usage {

// Copies of the pages of all processes of this user that are alive, by process number; empty when there are none, or no
// such folder. `folder`: empty for the user's own. Removes what dead ones have left behind.
std::vector<Page> running(const std::string& folder);

// Nanoseconds that the seats of a process have spent in kernels of a device, with those that still run.
std::uint64_t busy_ns(const Page& page, unsigned device, std::uint64_t now);

}  // namespace softgpu::usage
