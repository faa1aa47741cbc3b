#include "softgpu/jit/pipeline.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "softgpu/jit/code_generation.hpp"
#include "softgpu/jit/compiled_kernel.hpp"
#include "softgpu/jit/float_atomics.hpp"
#include "softgpu/jit/line_table.hpp"
#include "softgpu/jit/long_code.hpp"
#include "softgpu/jit/masked_accesses.hpp"
#include "softgpu/jit/passes.hpp"
#include "softgpu/lower/lower.hpp"
#include "softgpu/simt/analysis_text.hpp"
#include "softgpu/simt/check_access.hpp"
#include "softgpu/simt/check_addresses.hpp"
#include "softgpu/simt/found_addresses.hpp"
#include "softgpu/simt/gang_code.hpp"
#include "softgpu/simt/local_memory.hpp"
#include "softgpu/simt/note_addresses.hpp"
#include "softgpu/simt/reducible.hpp"
#include "softgpu/simt/scalar_code.hpp"
#include "softgpu/simt/spin_loops.hpp"
#include "softgpu/simt/thread_function.hpp"
#include "softgpu/simt/waiting_function.hpp"

namespace softgpu::jit {
namespace {

void lower(Compilation& c) {
  c.code = lower::lower_kernel(*c.context, *c.source, *c.kernel);
  c.thread = c.code->getFunction(c.kernel->name);
  if (!c.thread) throw std::runtime_error("lowering made no function " + c.kernel->name);
}

void set_target(Compilation& c) {
  c.code->setTargetTriple(c.target->getTargetTriple().str());
  c.code->setDataLayout(c.target->createDataLayout());
}

void choose_width(Compilation& c) { c.width = simt::gang_width(*c.thread, c.settings.width, *c.target); }

// Where lanes may have to wait for each other the gang is a single thread after all.
void analyse(Compilation& c) {
  if (c.width > 1) {
    c.divergence = std::make_unique<simt::Divergence>(*c.thread, c.shape, c.width);
    c.layout = std::make_unique<simt::Layout>(*c.thread, *c.divergence, simt::suspending_blocks(*c.thread, c.width));
    if (!simt::may_run_in_step(*c.thread, *c.layout)) c.width = 1;
  }
  if (c.width == 1) {
    c.shape = abi::BlockShape::rows;
    for (llvm::Function& function : *c.code)
      if (!function.isDeclaration()) simt::let_others_run_in_long_loops(function);
  }
  c.suspends = simt::calls_waiting_functions(*c.thread) || !simt::suspending_blocks(*c.thread, c.width).empty();
  if (!c.suspends) simt::drop_ends_of_spin_loops(*c.thread);
}

void make_gangs(Compilation& c) {
  c.gangs =
      c.width == 1 ? simt::keep_single(*c.thread) : simt::widen(*c.thread, *c.divergence, *c.layout, c.shape, c.width);
  c.layout.reset();
  c.divergence.reset();
}

void make_entry(Compilation& c) {
  if (c.suspends)
    simt::make_start_gang(c.gangs, c.shape, c.width, kEntryName);
  else
    simt::make_run_block(c.gangs, c.shape, c.width, kEntryName);
  c.thread->eraseFromParent();
  c.thread = nullptr;
}

constexpr std::array kThreadPasses = {
    Pass{"lower", "LLVM IR of one thread; other threads and the launch are calls of marked functions", lower},
    Pass{"set-target", "the module knows the CPU", set_target},
    Pass{"inline", "no function but the kernel and recursive ones",
         [](Compilation& c) { simt::inline_functions(*c.code, *c.target); }},
    Pass{"replace-exits", "threads end in one way: they return",
         [](Compilation& c) { simt::replace_exits(*c.thread); }},
    Pass{"optimise-thread", "optimised scalar code",
         [](Compilation& c) { simt::optimise_thread(*c.thread, *c.target); }},
    Pass{"thread-functions", "recursive functions get the thread that they run for as a parameter",
         [](Compilation& c) { simt::add_thread_parameters(*c.thread); }},
    Pass{"make-reducible", "a loop has one entry",
         [](Compilation& c) {
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration()) simt::make_reducible(function, *c.target);
         }},
    Pass{"spin-loops", "loops that wait for other threads let them run in each round",
         [](Compilation& c) {
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration()) simt::mark_spin_loops(function);
           simt::mark_ends_of_spin_loops(*c.thread);
         }},
    Pass{"choose-width", "how many threads a gang may have", choose_width},
};

constexpr std::array kGangPasses = {
    Pass{"simplify-control-flow", "branches only, one return; values are scalars",
         [](Compilation& c) { simt::simplify_control_flow(*c.thread, *c.target); }},
    Pass{"close-loops", "loops simplified and closed", [](Compilation& c) { simt::close_loops(*c.thread, *c.target); }},
    Pass{"find-addresses", "it is known whether the kernel uses addresses that it finds in memory",
         [](Compilation& c) {
           c.finds_addresses = false;
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration()) c.finds_addresses |= simt::finds_addresses(function, &function == c.thread);
         }},
    Pass{"check-access", "a kernel that may meet memory which its device may not use asks before every access",
         [](Compilation& c) {
           if (!c.checks_access) return;
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration()) simt::check_access(function);
         }},
    Pass{"note-addresses", "a note of each address that may not be aligned",
         [](Compilation& c) {
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration()) simt::note_addresses(function);
         }},
    Pass{"analyse", "how lanes differ, in which order they run blocks, and whether they may run in step", analyse},
    Pass{"make-gangs", "functions that run a gang", make_gangs},
    Pass{"check-addresses", "gangs and functions that find a bad address end the kernel",
         [](Compilation& c) {
           for (llvm::Function& function : *c.code)
             if (!function.isDeclaration() && &function != c.thread) simt::check_addresses(function);
         }},
    Pass{"tidy-gangs", "values of gangs in registers", [](Compilation& c) { simt::tidy(c.gangs, *c.target); }},
    Pass{"move-local-memory-of-gangs", "what suspended gangs index is neither on the host's stack nor in frames",
         [](Compilation& c) {
           if (c.suspends) simt::move_local_memory_of_gangs(c.gangs);
         }},
    Pass{"make-entry", "one exported function; gangs that wait are coroutines", make_entry},
    Pass{"split-coroutines", "coroutines are functions and frames",
         [](Compilation& c) {
           if (c.suspends) simt::split_coroutines(*c.code, *c.target);
         }},
    Pass{"optimise-gangs", "optimised code", [](Compilation& c) { simt::optimise_gangs(*c.code, *c.target); }},
    Pass{"move-local-memory", "nor is what anything else indexes",
         [](Compilation& c) { simt::move_local_memory(*c.code); }},
    Pass{"name-variables", "module variables have names that nothing else has",
         [](Compilation& c) {
           if (c.source) name_variables(*c.code, *c.source);
         }},
    Pass{"drop-locks", "what only threads of one block see is updated without locks",
         [](Compilation& c) { drop_locks(*c.code); }},
    Pass{"flush-float-atomics", "sums of floats in global memory flush subnormal numbers",
         [](Compilation& c) { flush_float_atomics(*c.code); }},
    Pass{"expand-masked-accesses", "no masked access that the CPU has no instruction for",
         [](Compilation& c) { expand_masked_accesses(*c.code, *c.target); }},
    Pass{"choose-bit-fields", "no choice that the code generator mixes up",
         [](Compilation& c) { choose_bit_fields_by_logic(*c.code, *c.target); }},
    Pass{"settle-undefined", "what is undefined is the same at each of its uses",
         [](Compilation& c) { settle_undefined(*c.code); }},
    Pass{"settle-masks", "masks are combined as masks alone", [](Compilation& c) { settle_masks(*c.code, *c.target); }},
    Pass{"probe-stacks", "large frames touch their pages in order, and so the guard below the stack",
         [](Compilation& c) {
           probe_stacks(*c.code);
           c.stack_bytes = simt::stack_bytes(*c.code);
         }},
    Pass{"line-table", "functions say which line of the PTX their code is from",
         [](Compilation& c) { give_lines_to_functions(*c.code); }},
    Pass{"split-blocks", "no basic block is too long for the code generator",
         [](Compilation& c) { split_blocks(*c.code); }},
    Pass{"hide-ends-of-loops", "nor are there many loops for it to look into",
         [](Compilation& c) { hide_ends_of_loops(*c.code); }},
    Pass{"generate", "object code", [](Compilation& c) { c.object = generate(*c.code, *c.target); }},
};

void check(const Compilation& c, std::string_view pass) {
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*c.code, &out))
    throw std::runtime_error("internal error: invalid code behind pass " + std::string(pass) + ": " + problem);
}

// Behind the analysis of a gang what it has found out, with the code that it is about.
void dump(const Compilation& c, std::string_view pass) {
  const auto& wanted = c.settings.dump;
  if (std::find(wanted.begin(), wanted.end(), pass) == wanted.end()) return;
  llvm::errs() << "; " << (c.kernel ? c.kernel->name : c.code->getName().str()) << " behind " << pass << '\n';
  if (c.layout)
    simt::print_analysis(llvm::errs(), *c.divergence, *c.layout);
  else
    llvm::errs() << *c.code;
}

// Of processor time: what else runs on the machine hardly changes it.
double thread_milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::span<const Pass> thread_passes() { return kThreadPasses; }
std::span<const Pass> gang_passes() { return kGangPasses; }

bool is_pass(std::string_view name) {
  const auto has = [&](std::span<const Pass> passes) {
    return std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; });
  };
  return has(kThreadPasses) || has(kGangPasses);
}

std::string names_of_passes() {
  std::string names;
  for (std::span<const Pass> passes : {thread_passes(), gang_passes()})
    for (const Pass& pass : passes) names.append(names.empty() ? "" : ", ").append(pass.name);
  return names;
}

void run(std::span<const Pass> passes, Compilation& c, std::string_view from) {
  bool started = from.empty();
  for (const Pass& pass : passes) {
    started |= pass.name == from;
    if (!started) continue;
    if (pass.name == c.settings.failing_pass)
      throw std::runtime_error("pass " + std::string(pass.name) + " fails, as SOFTGPU_FAILING_PASS asks it to");
    const double begin = thread_milliseconds();
    pass.run(c);
    const double taken = thread_milliseconds() - begin;
    if (c.settings.time_passes)
      llvm::errs() << "softgpu: " << llvm::format("%9.3f ms  %7u instructions  ", taken, c.code->getInstructionCount())
                   << pass.name << (c.kernel ? " of " + c.kernel->name : "") << '\n';
    check(c, pass.name);
    dump(c, pass.name);
  }
}

}  // namespace softgpu::jit
