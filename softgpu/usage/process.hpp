// What the kernel knows of processes.
#pragma once

#include <cstdint>
#include <optional>

namespace softgpu::usage {

// When a process was started, in the kernel's ticks since the machine was; empty when there is none, or it has ended
// and only waits for its parent.
std::optional<std::uint64_t> start_time(std::uint32_t pid);

// Where the stack of the program begins that a process runs at this moment, which the kernel chooses anew whenever one
// is started; 0 when it does not tell.
std::uint64_t stack_start(std::uint32_t pid);

// A number for the PID namespace of this process; 0 when the kernel does not tell.
std::uint64_t pid_namespace();

}  // namespace softgpu::usage
