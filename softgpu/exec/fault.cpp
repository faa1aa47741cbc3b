#include "softgpu/exec/fault.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "softgpu/exec/float_control.hpp"
#include "softgpu/exec/paused_writes.hpp"

namespace softgpu::exec {
namespace {

// Read by the signal handler on any thread, so its access must not allocate: initial-exec storage exists with the
// thread, while a dlopened library's ordinary thread-local storage is made on first use.
[[gnu::tls_model("initial-exec")]] thread_local Running* t_running = nullptr;

struct CaughtSignal {
  int number;
  Outcome outcome;
};
constexpr std::array kCaught = {
    CaughtSignal{SIGSEGV, Outcome::illegal_address},
    CaughtSignal{SIGBUS, Outcome::illegal_address},
    CaughtSignal{SIGFPE, Outcome::illegal_instruction},
    CaughtSignal{SIGILL, Outcome::illegal_instruction},
};

// A handler as somebody installed it, and never deleted: the signal handler may look at it at any time.
struct Handler {
  struct sigaction action = {};
  Handler* known_before = nullptr;
};

struct Row {
  struct sigaction previous = {};             // what was there before ours
  std::atomic<const Handler*> over{nullptr};  // what the program had put in the place of ours, and ours is now again in
  std::atomic<bool> stood_aside{false};       // `over` has its place back
  const void* return_address = nullptr;  // of ours when the system calls it, and not a handler that it was handed on by
  Handler* known = nullptr;              // all that were ever `over`; under installing
};
std::array<Row, kCaught.size()> g_rows;
std::mutex g_installing;

std::size_t row_of(int signal) {
  std::size_t row = 0;
  while (kCaught[row].number != signal) ++row;
  return row;
}

void on_signal(int signal, siginfo_t* info, void* context);

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_signal;
}

struct sigaction installed_for(int signal) {
  struct sigaction current = {};
  sigaction(signal, nullptr, &current);
  return current;
}

// A handler that the program has put over ours gets its place back, and the fault happens again: it may do as it would
// have done without softgpu, also hand on to ours, or put ours back and fault once more. The next kernel takes its
// place again. False when there is no such handler, or it has done all that.
bool stand_aside(int signal, bool sent_by_a_process, bool called_by_the_system, Row& row) {
  if (!is_ours(installed_for(signal))) return called_by_the_system;  // another thread's fault has just done it
  const Handler* const over = row.over.load();
  if (over == nullptr || row.stood_aside.load()) return false;
  sigaction(signal, &over->action, nullptr);
  row.stood_aside.store(true);
  if (sent_by_a_process) raise(signal);  // one sent by kill() does not come again by itself
  return true;
}

// Does what would have happened without us.
void pass_on(int signal, siginfo_t* info, void* context, const struct sigaction& previous) {
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
  } else if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
  } else {
    // The faulting instruction runs again and meets the default action. A fault can't be ignored. One sent by
    // kill() does not come again by itself.
    struct sigaction standard = {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    if (info->si_code <= 0) raise(signal);
  }
}

FaultSite fault_of(int signal, const siginfo_t& info, const ucontext_t& context) {
  FaultSite fault;
#if defined(__x86_64__)
  fault.instruction = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  fault.instruction = context.uc_mcontext.pc;
#endif
  // Of an address that no address can be, the processor doesn't say which it was.
  fault.address_known = signal == SIGBUS || (signal == SIGSEGV && info.si_code != SI_KERNEL);
  fault.address = reinterpret_cast<std::uintptr_t>(info.si_addr);
  return fault;
}

Outcome outcome_of(std::size_t row, const siginfo_t& info) {
  if (kCaught[row].number == SIGBUS && info.si_code == BUS_ADRALN) return Outcome::misaligned_address;
  return kCaught[row].outcome;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const std::size_t row = row_of(signal);
  const bool sent_by_a_process = info->si_code <= 0;
  if (signal == SIGSEGV && !sent_by_a_process && wait_for_paused_writes(info->si_addr)) return;
  if (t_running == nullptr || sent_by_a_process) {
    const bool called_by_the_system = __builtin_return_address(0) == g_rows[row].return_address;
    if (stand_aside(signal, sent_by_a_process, called_by_the_system, g_rows[row])) return;
    return pass_on(signal, info, context, g_rows[row].previous);
  }
  t_running->fault = fault_of(signal, *info, *static_cast<const ucontext_t*>(context));
  // siglongjmp leaves the handler but not its signal mask.
  pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
  leave_kernel(outcome_of(row, *info));
}

void install(std::size_t row, struct sigaction* previous) {
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(kCaught[row].number, &action, previous);
#if defined(__x86_64__)
  g_rows[row].return_address = reinterpret_cast<const void*>(installed_for(kCaught[row].number).sa_restorer);
#endif
}

void install_each_handler() {
  for (std::size_t row = 0; row < kCaught.size(); ++row) install(row, &g_rows[row].previous);
}

const Handler& remembered(Row& row, const struct sigaction& action) {
  for (const Handler* known = row.known; known != nullptr; known = known->known_before)
    if (std::memcmp(&known->action, &action, sizeof action) == 0) return *known;
  row.known = new Handler{action, row.known};
  return *row.known;
}

// Puts ours in front of what the program has installed since.
void install_again(std::size_t number, const struct sigaction& current) {
  Row& row = g_rows[number];
  row.over.store(&remembered(row, current));
  row.stood_aside.store(false);
  install(number, nullptr);
}

// The system has to be asked, which takes longer than a small kernel: not more often than this.
constexpr std::chrono::microseconds kBetweenLooks{20};

// The calling thread's alternate signal stack: its own when it has one (sanitizers and some languages' runtimes
// provide it), else one that lives as long as the thread.
class AlternateStack {
 public:
  AlternateStack() {
    const auto needed = static_cast<std::size_t>(std::max(sysconf(_SC_MINSIGSTKSZ), 4096L)) + 4096;
    if (sigaltstack(nullptr, &previous_) == 0 && !(previous_.ss_flags & SS_DISABLE) && previous_.ss_size >= needed)
      return;
    size_ = std::max<std::size_t>(needed, 64 * 1024);
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) {
      memory_ = nullptr;
      return;
    }
    stack_t stack = {};
    stack.ss_sp = memory_;
    stack.ss_size = size_;
    sigaltstack(&stack, nullptr);
  }
  ~AlternateStack() {
    if (!memory_) return;
    sigaltstack(&previous_, nullptr);
    munmap(memory_, size_);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  stack_t previous_ = {};
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

void prepare_thread() {
  [[gnu::tls_model("initial-exec")]] static thread_local bool prepared = false;
  if (prepared) [[likely]]
    return;
  install_fault_handlers();
  static thread_local AlternateStack stack;
  prepared = true;
}

}  // namespace

Running* running() noexcept { return t_running; }

void install_fault_handlers() {
  static std::once_flag installed;
  std::call_once(installed, install_each_handler);
}

void keep_fault_handlers() {
  using Clock = std::chrono::steady_clock;
  static std::atomic<Clock::rep> next_look{0};
  const Clock::time_point now = Clock::now();
  if (now.time_since_epoch().count() < next_look.load(std::memory_order_relaxed)) return;
  install_fault_handlers();
  {
    const std::scoped_lock lock(g_installing);
    for (std::size_t row = 0; row < kCaught.size(); ++row) {
      const struct sigaction current = installed_for(kCaught[row].number);
      if (!is_ours(current)) install_again(row, current);
    }
  }
  next_look.store((Clock::now() + kBetweenLooks).time_since_epoch().count(), std::memory_order_relaxed);
}

Outcome run_guarded(Running& what, void (*body)(void*), void* context) {
  prepare_thread();
  const DefaultFloatControl control;
  const int left = sigsetjmp(what.leave, 0);
  if (left == 0) {
    t_running = &what;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    body(context);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_running = nullptr;
  return static_cast<Outcome>(left);
}

void end_kernel(Outcome outcome, const char* format, ...) noexcept {
  if (t_running != nullptr) {
    std::va_list values;
    va_start(values, format);
    std::vsnprintf(t_running->problem, sizeof t_running->problem, format, values);
    va_end(values);
  }
  leave_kernel(outcome);
}

void leave_kernel(Outcome outcome) noexcept {
  static_assert(static_cast<int>(Outcome::completed) == 0, "siglongjmp can't hand over zero");
  if (t_running == nullptr) std::abort();  // generated code was called outside run_guarded
  siglongjmp(t_running->leave, static_cast<int>(outcome));
}

}  // namespace softgpu::exec
