// What other bindings need of program caches.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "bindings/common.hpp"

namespace cuprum::python {

/// The cache that a caller gave to a compilation: one of the library's, or a class of the caller's in Python.
class GivenCache {
 public:
  /// Of a cuprum.utils.ProgramCacheResource; TypeError for what else, but None is the cache that everybody has.
  explicit GivenCache(nb::handle given);
  ~GivenCache();

  /// Null for none.
  ProgramCacheResource* get() const { return cache_; }
  /// Whether the caller gave one.
  bool is_given() const { return is_given_; }
  /// Throws what the cache's functions in Python raised first. Needs the GIL.
  void rethrow() const;

 private:
  class InPython;
  std::unique_ptr<InPython> in_python_;
  ProgramCacheResource* cache_ = nullptr;
  bool is_given_ = false;
};

}  // namespace cuprum::python
