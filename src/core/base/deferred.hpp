// What is to be destroyed, but not here: on the threads on which a driver calls functions of the program CUDA may not
// be used, and what such a function owned, or lets go of, may have to be released with it.
#pragma once

#include <memory>
#include <new>
#include <utility>

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

/// Destroys what has come together, unless a driver called this. Called where the library waits for work, and where
/// graphs end. Costs a load when there is nothing.
void destroy_deferred() noexcept;

/// As long as it is there, this thread runs a function that a driver called.
class InsideHostFunction {
 public:
  InsideHostFunction() noexcept;
  ~InsideHostFunction();
  InsideHostFunction(const InsideHostFunction&) = delete;
  InsideHostFunction& operator=(const InsideHostFunction&) = delete;

 private:
  bool before_;
};

/// Whether there is one on this thread, so that nothing may be released now.
bool is_inside_host_function() noexcept;

/// Calls `function` when deferred things are destroyed. False when there is no memory to note it.
template <typename Function>
bool defer_call(Function function) noexcept {
  struct Call final : Deferred {
    explicit Call(Function the_function) : call(std::move(the_function)) {}
    ~Call() override { call(); }
    Function call;
  };
  Call* const item = new (std::nothrow) Call(std::move(function));
  if (item) defer(item);
  return item != nullptr;
}

/// As std::make_shared, for what CUDA is needed to destroy: the last to let go of it may be a function that a driver
/// calls.
template <typename T, typename... Arguments>
std::shared_ptr<T> make_deferrable(Arguments&&... arguments) {
  return {new T(std::forward<Arguments>(arguments)...), [](T* object) {
            const auto destroy = [object] { delete object; };
            if (!is_inside_host_function() || !defer_call(destroy)) destroy();
          }};
}

/// Destroys what was deferred at the end of a scope, however it ends.
struct DestroyDeferred {
  DestroyDeferred() = default;
  DestroyDeferred(const DestroyDeferred&) = delete;
  DestroyDeferred& operator=(const DestroyDeferred&) = delete;
  ~DestroyDeferred() { destroy_deferred(); }
};

}  // namespace cuprum::core
