#include "bindings/python_entry.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace cuprum::python {
namespace {

namespace nb = nanobind;

/// Who is inside, and whether others may come in.
struct Gate {
  std::mutex mutex;
  std::condition_variable left;
  int inside = 0;
  std::thread::id ended_by = {};  ///< the thread that ends Python, which may go in as long as Python is there
};

Gate& gate() {
  static Gate& the_gate = *new Gate;  // threads may be there after all else
  return the_gate;
}

bool go_in() {
  std::lock_guard lock(gate().mutex);
  const bool is_ending = gate().ended_by != std::thread::id();
  if (is_ending && (gate().ended_by != std::this_thread::get_id() || !nb::is_alive())) return false;
  ++gate().inside;
  return true;
}

void go_out() {
  {
    std::lock_guard lock(gate().mutex);
    --gate().inside;
  }
  gate().left.notify_all();
}

/// atexit calls it when no Python thread runs any more but this one and daemons.
void close_gate() {
  nb::gil_scoped_release released;  // for those inside
  std::unique_lock lock(gate().mutex);
  gate().ended_by = std::this_thread::get_id();
  gate().left.wait(lock, [] { return gate().inside == 0; });
}

}  // namespace

PythonEntry::PythonEntry() : is_inside_(go_in()) {
  if (is_inside_) state_ = PyGILState_Ensure();
}

PythonEntry::~PythonEntry() {
  if (!is_inside_) return;
  PyGILState_Release(state_);
  go_out();
}

void watch_the_end_of_python() { nb::module_::import_("atexit").attr("register")(nb::cpp_function(&close_gate)); }

}  // namespace cuprum::python
