// Leaving Python and coming back, on whichever thread that happens to be.
//
// When Python ends, it stops threads that ask for the GIL in the middle of whatever they do, which C++ can't bear. So
// the end is announced first: from then on nobody asks, and it waits for those who did before.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum::python {

/// Takes the GIL, unless Python is about to end.
///
///   PythonEntry python;
///   if (!python) return;   // the process ends, and with it what was to be done
///   ...
class PythonEntry {
 public:
  PythonEntry();
  ~PythonEntry();
  PythonEntry(const PythonEntry&) = delete;
  PythonEntry& operator=(const PythonEntry&) = delete;

  explicit operator bool() const { return is_inside_; }

 private:
  bool is_inside_;
  PyGILState_STATE state_{};
};

/// Gives up the GIL as long as it is there, and takes it back. A thread that Python no longer waits for, because it
/// ends, stays here for the rest of the process.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

/// A Python object that is made when it is first needed, and kept for ever. Not a static variable of a function, which
/// another thread would wait for with the GIL in its hands: making the object may let that go. So two threads may make
/// it, and one of the two is kept.
class MadeOnce {
 public:
  constexpr MadeOnce() = default;

  template <typename Make>
  nanobind::handle get(Make&& make) {
    if (PyObject* there = object_.load()) return there;
    nanobind::object made = make();
    PyObject* other = nullptr;
    return object_.compare_exchange_strong(other, made.ptr()) ? made.release() : nanobind::handle(other);
  }

 private:
  std::atomic<PyObject*> object_{nullptr};
};

/// Has Python's main thread let go, between two of its instructions, of what the driver let go of.
void release_deferred_soon();

/// Has Python tell when it is about to end.
void watch_the_end_of_python();

}  // namespace cuprum::python
