// What is to be destroyed, but not here: on the threads on which a driver calls functions of the program CUDA may not
// be used, and what such a function owned may have to be released with it.
#pragma once

namespace cuprum::core {

/// Base of what waits for that.
class Deferred {
 public:
  Deferred() = default;
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  virtual ~Deferred() = default;

 private:
  friend void defer(Deferred* item) noexcept;
  friend void destroy_deferred() noexcept;
  Deferred* next_ = nullptr;
};

/// Takes the object over. Takes no lock and allocates nothing: for functions that a driver calls.
void defer(Deferred* item) noexcept;

/// Destroys what has come together. Called where the library waits for work, and where graphs end. Costs a load when
/// there is nothing.
void destroy_deferred() noexcept;

/// Does that at the end of a scope, however it ends.
struct DestroyDeferred {
  DestroyDeferred() = default;
  DestroyDeferred(const DestroyDeferred&) = delete;
  DestroyDeferred& operator=(const DestroyDeferred&) = delete;
  ~DestroyDeferred() { destroy_deferred(); }
};

}  // namespace cuprum::core
