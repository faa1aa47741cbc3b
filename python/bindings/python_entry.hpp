// Going into Python from C++, on whichever thread that happens to be.
#pragma once

#include <nanobind/nanobind.h>

namespace cuprum::python {

/// Takes the GIL, unless Python is about to end: then whoever takes it is never heard of again, because Python stops
/// the thread in the middle of it.
///
///   PythonEntry python;
///   if (!python) return;   // the process ends, and with it what was to be done
///   ...
///
/// The end waits for those who are inside.
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

/// Has Python tell when it is about to end.
void watch_the_end_of_python();

}  // namespace cuprum::python
