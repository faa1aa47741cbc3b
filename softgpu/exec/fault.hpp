// What goes wrong in generated code ends the kernel, not the process.
#pragma once

#include "softgpu/exec/running.hpp"

namespace softgpu::exec {

// Calls body(context) with running() == &what. Returns `completed`, or why the code was left: a bad access, an
// illegal instruction or an arithmetic trap raised as a signal, or leave_kernel(). Nothing of the frames in between
// is unwound. Floating-point control is CUDA's inside: round to nearest, denormals kept, no traps.
//
// The first call in a process installs the fault handlers; the first call on a thread makes sure it has an alternate
// signal stack, so that an overflowing kernel stack is caught too.
Outcome run_guarded(Running& what, void (*body)(void*), void* context);

// Handlers for SIGSEGV, SIGBUS, SIGFPE and SIGILL that pass on what is none of ours. Once in a process.
void install_fault_handlers();

// Puts them in front of handlers that the program has installed since. Those get all faults that are not a kernel's, as
// if ours were not there. For the start of every piece of work: costs next to nothing.
void keep_fault_handlers();

// Ends the kernel that this thread runs, for a reason that is kept in Running.
[[noreturn, gnu::format(printf, 2, 3)]] void end_kernel(Outcome, const char* format, ...) noexcept;

// The same without words.
[[noreturn]] void leave_kernel(Outcome) noexcept;

}  // namespace softgpu::exec
