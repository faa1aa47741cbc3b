// How the handle classes hold what they stand for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <memory>
#include <utility>

namespace cuprum::inline CUPRUM_ABI::detail {

/// What all copies of one handle share: whether it is closed, who still needs the resource, and the resource itself,
/// which Closable adds. docs/guide/lifetimes.md says the rule.
///
/// One word counts those that keep the resource and has a mark for "closed". The resource is given back by whoever
/// makes the count zero when the mark is there, or sets the mark when the count is zero.
class CUPRUM_API SharedState {
 public:
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;

  void add_handle() noexcept {
    if (!is_permanent_) handles_.fetch_add(1, std::memory_order_relaxed);
  }
  void drop_handle() noexcept {
    if (!is_permanent_ && handles_.fetch_sub(1, std::memory_order_acq_rel) == 1) last_handle_is_gone();
  }

  bool is_closed() const noexcept { return (keepers_.load(std::memory_order_acquire) & closed_mark) != 0; }
  bool is_permanent() const noexcept { return is_permanent_; }

  /// Whether there is one handle, and nobody else who needs the resource.
  bool is_held_once() const noexcept {
    return !is_permanent_ && handles_.load(std::memory_order_acquire) == 1 &&
           keepers_.load(std::memory_order_acquire) < one_keeper;
  }

  /// One more that needs this object, but not the resource, until drop_part().
  void add_part() noexcept { parts_.fetch_add(1, std::memory_order_relaxed); }
  void drop_part() noexcept;
  /// Whether it is closed, and nobody keeps the resource any more.
  bool is_given_back() const noexcept { return keepers_.load(std::memory_order_acquire) == closed_mark; }

  /// CUDA's handle, or the address, as a number; 0 when it is closed. Whoever needs it to stay valid keeps the
  /// resource.
  std::uint64_t handle() const noexcept { return is_closed() ? 0 : handle_.load(std::memory_order_relaxed); }
  /// The same, also when it is closed, for those who keep the resource.
  std::uint64_t kept_handle() const noexcept { return handle_.load(std::memory_order_relaxed); }

  /// Ends it for the user. The resource is given back now if nobody keeps it, else by the last who does.
  void close() noexcept;

  /// One more that keeps the resource, however often it is closed then. False when it is closed already.
  bool try_keep() noexcept {
    if (is_permanent_) return true;
    std::uint64_t before = keepers_.load(std::memory_order_relaxed);
    do {
      if (before & closed_mark) [[unlikely]]
        return false;
    } while (!keepers_.compare_exchange_weak(before, before + one_keeper, std::memory_order_acquire,
                                             std::memory_order_relaxed));
    return true;
  }
  /// The same for one who keeps it already.
  void keep_again() noexcept {
    if (!is_permanent_) keepers_.fetch_add(one_keeper, std::memory_order_relaxed);
  }
  void let_go() noexcept {
    if (is_permanent_) return;
    if (keepers_.fetch_sub(one_keeper, std::memory_order_acq_rel) == (one_keeper | closed_mark)) give_back();
  }

 protected:
  struct Permanent {};

  SharedState() noexcept = default;
  /// Never closed or destroyed, so that nothing is counted.
  explicit SharedState(Permanent) noexcept : is_permanent_(true) {}
  virtual ~SharedState() = default;
  void set_handle(std::uint64_t handle) noexcept { handle_.store(handle, std::memory_order_relaxed); }

 private:
  static constexpr std::uint64_t closed_mark = 1;
  static constexpr std::uint64_t one_keeper = 2;

  virtual void release() noexcept = 0;  ///< destroys the resource; called once
  void give_back() noexcept;
  void last_handle_is_gone() noexcept;

  std::atomic<std::uint64_t> keepers_{0};
  std::atomic<std::uint64_t> handle_{0};
  std::atomic<std::uint32_t> handles_{1};
  std::atomic<std::uint16_t> parts_{2};  ///< that need this object: the handles are one, the resource is the other
  const bool is_permanent_ = false;
};

/// What all copies of one handle share, with the resource. Defined in the library.
template <typename Resource>
struct Closable;

/// A handle's reference to that. Copying it at the same time as replace() is safe; assigning is not.
template <typename Resource>
class Shared {
 public:
  Shared() noexcept = default;
  /// Takes over the reference that a new state has.
  explicit Shared(SharedState* state) noexcept : state_(state) {}
  Shared(const Shared& other) noexcept : state_(other.get()) {
    if (SharedState* state = get()) state->add_handle();
  }
  Shared(Shared&& other) noexcept : state_(other.get()) { other.state_.store(nullptr, std::memory_order_relaxed); }
  Shared& operator=(Shared other) noexcept {
    SharedState* mine = get();
    state_.store(other.get(), std::memory_order_relaxed);
    other.state_.store(mine, std::memory_order_relaxed);
    return *this;
  }
  ~Shared() {
    if (SharedState* state = get()) state->drop_handle();
  }

  /// What replace() put there is seen whole.
  SharedState* get() const noexcept { return state_.load(std::memory_order_acquire); }
  explicit operator bool() const noexcept { return get() != nullptr; }

  /// Puts another state into the place of a permanent one.
  void replace(SharedState& state) noexcept {
    state.add_handle();
    state_.store(&state, std::memory_order_release);
  }

 private:
  std::atomic<SharedState*> state_{nullptr};
};

/// One who needs a resource: an operation until its end, or what was given the resource and may outlive close(). As
/// long as it is there, the resource is. Only the library looks at that.
template <typename Resource>
class [[nodiscard]] Kept {
 public:
  Kept() noexcept = default;
  /// Takes over one count of try_keep().
  explicit Kept(SharedState* counted) noexcept : state_(counted) {}
  Kept(const Kept& other) noexcept : state_(other.state_) {
    if (state_) state_->keep_again();
  }
  Kept(Kept&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Kept& operator=(Kept other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~Kept() {
    if (state_) state_->let_go();
  }

  explicit operator bool() const noexcept { return state_ != nullptr; }

  /// CUDA's handle, or the address, as a number.
  std::uint64_t handle() const noexcept { return state_->kept_handle(); }
  Resource& operator*() const noexcept { return shared().resource; }
  Resource* operator->() const noexcept { return &shared().resource; }
  Closable<Resource>& shared() const noexcept { return *static_cast<Closable<Resource>*>(state_); }

 private:
  SharedState* state_ = nullptr;
};

/// The library's own way into the handle classes.
struct Access;

struct ArrayResource;
struct BufferResource;
struct ContextResource;
struct EventResource;
struct GraphicsState;
struct KernelResource;
struct LinkerResource;
struct MappedImageResource;
struct MipmappedArrayResource;
struct ObjectCodeResource;
struct OwnedContext;
class PoolMemory;
struct ProgramResource;
struct StreamResource;
struct SurfaceResource;
struct TextureResource;

}  // namespace cuprum::inline CUPRUM_ABI::detail
