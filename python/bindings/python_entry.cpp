#include "bindings/python_entry.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cuprum/detail/deferred.hpp>
#include <thread>

namespace cuprum::python {
namespace {

namespace nb = nanobind;

/// Who asks for the GIL or has got it by a PythonEntry, and whether others still may. One of the two is changed before
/// the other is looked at, by both sides, so that neither misses the other.
std::atomic<int> inside{0};
std::atomic<bool> is_ending{false};
/// The thread that ends Python, which may go in as long as Python is there.
std::atomic<std::thread::id> ended_by{std::thread::id()};

void go_out() { inside.fetch_sub(1); }

bool go_in() {
  inside.fetch_add(1);
  if (!is_ending.load()) return true;
  if (ended_by.load() == std::this_thread::get_id() && nb::is_alive()) return true;
  go_out();
  return false;
}

/// atexit calls it when no Python thread runs any more but this one and daemons.
void close_gate() {
  ended_by.store(std::this_thread::get_id());
  is_ending.store(true);
  PyThreadState* const state = PyEval_SaveThread();  // for those inside
  while (inside.load() != 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
  PyEval_RestoreThread(state);
}

/// Without the GIL, as everything that may wait for the device.
int release_now(void*) {
  const GilRelease without_gil;
  detail::release_deferred();
  return 0;
}

/// When Python has no room for one more, the next call of the library that waits does it.
void tell_main_thread() {
  if (go_in()) {
    Py_AddPendingCall(&release_now, nullptr);
    go_out();
  }
}

}  // namespace

void release_deferred_soon() { detail::set_deferred_notice(&tell_main_thread); }

PythonEntry::PythonEntry() : is_inside_(go_in()) {
  if (is_inside_) state_ = PyGILState_Ensure();
}

PythonEntry::~PythonEntry() {
  if (!is_inside_) return;
  PyGILState_Release(state_);
  go_out();
}

GilRelease::~GilRelease() {
  while (!go_in()) pause();
  PyEval_RestoreThread(state_);
  go_out();
}

void watch_the_end_of_python() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_gate)); }

}  // namespace cuprum::python
