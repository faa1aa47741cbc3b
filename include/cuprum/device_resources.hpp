// The parts of a device that contexts can be given: multiprocessors, and queues for work. A context that was given some
// is a green context: kernels in its streams run on its multiprocessors, and leave the others alone.
//
//   Device device;
//   auto [groups, rest] = device.resources().sm().split({.count = {16, 16}});
//   Context left = device.create_context({.resources = {groups[0]}});
//   Context right = device.create_context({.resources = {groups[1]}});
//   launch(left.create_stream(), config, kernel, data);       // on the first 16 multiprocessors
//
// Green contexts need a driver of CUDA 12.4 or newer; what else is needed is said where.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

struct CUdevResource_st;

namespace cuprum::inline CUPRUM_ABI {

class Device;
class SMResource;
struct SMSplit;

namespace detail {
class SMResourceState;
class WorkqueueResourceState;
class ResourceSource;
}  // namespace detail

/// An option of a division into groups: nothing, one value for all groups, or a list with one for each.
template <typename T>
class PerGroup {
 public:
  /// Nothing: the driver decides.
  PerGroup() = default;
  /// The same for all groups.
  PerGroup(T value) : values_{value} {}
  /// One for each group.
  PerGroup(std::initializer_list<T> values) : values_(values), is_list_(true) {}
  /// One for each group.
  PerGroup(std::vector<T> values) : values_(std::move(values)), is_list_(true) {}

  /// Whether there is a value, or a list.
  bool is_given() const { return is_list_ || !values_.empty(); }
  /// Whether it is one for each group.
  bool is_list() const { return is_list_; }
  /// Of the list; 1 for a single value, 0 for nothing.
  std::size_t size() const { return values_.size(); }
  /// For a group; `otherwise` when nothing was given.
  T of(std::size_t group, T otherwise) const { return values_.empty() ? otherwise : values_[is_list_ ? group : 0]; }

 private:
  std::vector<T> values_;
  bool is_list_ = false;
};

/// For SMResource::split. The length of `count` says how many groups there are; a single value, or nothing, means one.
struct SMResourceOptions {
  /// Multiprocessors of each group. Nothing, or 0: what the driver decides.
  PerGroup<int> count = {};
  /// Multiprocessors that are scheduled together at least, for clusters. Needs a driver of CUDA 13.1 or newer.
  PerGroup<int> coscheduled_sm_count = {};
  /// What the driver tries to schedule together beyond that. Needs a driver of CUDA 13.1 or newer.
  PerGroup<int> preferred_coscheduled_sm_count = {};
  /// Fills a group up with multiprocessors that are not scheduled together with the others. Drivers before CUDA 13.1
  /// do without.
  PerGroup<bool> backfill = {};
};

/// Multiprocessors of a device: all of them, those of a context, or a group of a division. A value: copying is cheap,
/// threads may share it, and there is nothing to close.
class CUPRUM_API SMResource {
 public:
  /// Nothing, for a variable that gets its value later: sm_count() is 0, and everything else throws InvalidArgument.
  SMResource() = default;

  /// How many there are.
  int sm_count() const noexcept;
  /// The smallest group that they can be divided into.
  int min_partition_size() const;
  /// How many are scheduled together: the sizes of groups are multiples of it, unless they are filled up.
  int coscheduled_alignment() const;
  /// As the driver gives them: 1 for a group that was filled up. 0 before CUDA 13.1.
  unsigned flags() const;
  /// Whose they are.
  Device device() const;
  /// Whether a context can be made of it: not of the result of a trial, and not of no multiprocessors.
  bool is_usable() const noexcept;
  /// The driver's struct, which lives as long as a copy of this; null for nothing.
  const CUdevResource_st* handle() const noexcept;

  /// Divides them into groups that don't overlap, and what remains. With `dry_run` the result only tells what it would
  /// be. What was divided, and the groups, can't be divided again before a context was made of them: ask that for its
  /// resources.
  ///
  /// From CUDA 13.1 on the driver takes the options as they are. Older drivers make groups of one size, rounded up to
  /// what they can do, and maybe fewer than asked for; NotSupported says when more is wanted. Throws InvalidArgument
  /// for negative numbers and for lists of different lengths, DriverError
  /// (CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION) when the groups don't fit.
  SMSplit split(const SMResourceOptions& options, bool dry_run = false) const;

 private:
  friend class detail::SMResourceState;
  explicit SMResource(std::shared_ptr<const detail::SMResourceState> state) : state_(std::move(state)) {}
  std::shared_ptr<const detail::SMResourceState> state_;
};

/// What SMResource::split returns.
struct SMSplit {
  std::vector<SMResource> groups;  ///< in the order of the options
  SMResource remainder;            ///< what is in no group; its sm_count() may be 0
};

/// Prints "16 multiprocessors of device 0".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const SMResource& resource);

/// Who shares the queues that a context's work goes through.
enum class WorkqueueSharingScopeType {
  device_ctx,          ///< all contexts share all queues
  green_ctx_balanced,  ///< green contexts of this kind get queues of their own, as far as there are enough
};

/// For WorkqueueResource::configure. What is not given stays as it is.
struct WorkqueueResourceOptions {
  std::optional<WorkqueueSharingScopeType> sharing_scope = {};  ///< who shares the queues
  std::optional<int> concurrency_limit = {};  ///< how many streams are expected to have work at once: 1 or more
};

/// The queues through which work gets to a device. Copies share one configuration, which takes effect in the contexts
/// that are made of it afterwards. Needs a driver of CUDA 13.1 or newer.
class CUPRUM_API WorkqueueResource {
 public:
  /// Nothing, for a variable that gets its value later; to use it before throws InvalidArgument.
  WorkqueueResource() = default;

  /// Who shares them.
  WorkqueueSharingScopeType sharing_scope() const;
  /// How many streams are expected to have work at once.
  int concurrency_limit() const;
  /// Whose they are.
  Device device() const;
  /// Changes it for all copies. Throws InvalidArgument for a limit below 1.
  void configure(const WorkqueueResourceOptions& options);
  /// The driver's struct with the configuration, which lives as long as a copy of this; null for nothing.
  const CUdevResource_st* handle() const noexcept;

 private:
  friend class detail::WorkqueueResourceState;
  explicit WorkqueueResource(std::shared_ptr<detail::WorkqueueResourceState> state) : state_(std::move(state)) {}
  std::shared_ptr<detail::WorkqueueResourceState> state_;
};

/// Prints "workqueues of device 0, shared by all contexts, for 8 streams at once".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const WorkqueueResource& resource);

/// What a context can be made of.
using DeviceResource = std::variant<SMResource, WorkqueueResource>;

/// What a device has, or a context was given: see Device::resources, Context::resources and Stream::resources. Each
/// function asks the driver anew. Keeps the context that it is of.
class CUPRUM_API DeviceResources {
 public:
  /// The multiprocessors. Throws NotSupported when the driver is older than CUDA 12.4.
  SMResource sm() const;
  /// The queues. Throws NotSupported when the driver is older than CUDA 13.1.
  WorkqueueResource workqueue() const;

 private:
  friend class detail::ResourceSource;
  explicit DeviceResources(std::shared_ptr<const detail::ResourceSource> source) : source_(std::move(source)) {}
  std::shared_ptr<const detail::ResourceSource> source_;
};

}  // namespace cuprum::inline CUPRUM_ABI
