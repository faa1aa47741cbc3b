#include <cstring>
#include <cuprum/error.hpp>
#include <cuprum/untyped_prepared_launch.hpp>

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using support::text;

namespace {

constexpr std::size_t alignment = alignof(std::max_align_t);

std::size_t aligned(std::size_t size) { return (size + alignment - 1) / alignment * alignment; }

}  // namespace

UntypedPreparedLaunch::UntypedPreparedLaunch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                                             const KernelArguments& arguments)
    : plan_(detail::make_plan(stream, config, kernel, arguments)),
      stream_(stream),
      queue_(detail::keep_queue(stream)),
      sizes_(arguments.sizes.begin(), arguments.sizes.end()) {
  std::size_t room = 0;
  for (const std::size_t size : sizes_) room += aligned(size);
  values_.resize(room);
  point_at_own_values();
  for (std::size_t index = 0; index < sizes_.size(); ++index)
    std::memcpy(addresses_[index], arguments.addresses[index], sizes_[index]);
}

UntypedPreparedLaunch::UntypedPreparedLaunch(const UntypedPreparedLaunch& other)
    : plan_(other.plan_), stream_(other.stream_), queue_(other.queue_), sizes_(other.sizes_), values_(other.values_) {
  point_at_own_values();
}

UntypedPreparedLaunch& UntypedPreparedLaunch::operator=(const UntypedPreparedLaunch& other) {
  return *this = UntypedPreparedLaunch(other);
}

void UntypedPreparedLaunch::point_at_own_values() {
  addresses_.clear();
  addresses_.reserve(sizes_.size());
  std::byte* next = values_.data();
  for (const std::size_t size : sizes_) {
    addresses_.push_back(next);
    next += aligned(size);
  }
}

void UntypedPreparedLaunch::set(std::size_t index, const void* value, std::size_t size) {
  const auto what = [&] { return text("setting argument ", index, " of ", kernel(), ", counted from 0"); };
  if (index >= sizes_.size()) throw InvalidArgument(text(what(), ": there are ", sizes_.size()));
  if (size != sizes_[index])
    throw WrongType(text(what(), ": a value of ", size, " bytes, but the argument has ", sizes_[index]));
  if (!value) throw InvalidArgument(text(what(), ": the address of the value is null"));
  std::memcpy(addresses_[index], value, size);
}

void UntypedPreparedLaunch::set_config(const LaunchConfig& config) {
  plan_ = detail::make_plan(queue_, config, kernel(), nullptr, sizes_.size());
}

}  // namespace cuprum::inline CUPRUM_ABI
