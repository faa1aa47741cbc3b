#include <array>
#include <cstring>
#include <cuprum/device.hpp>
#include <ostream>

#include "core/stream/device_resources.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::SMResourceState;
using driver::Api;
using driver::Doing;
using support::text;

namespace {

// CU_DEV_SM_RESOURCE_GROUP_PARAMS of CUDA 13.1.
struct GroupParameters {
  unsigned count;
  unsigned coscheduled;
  unsigned preferred_coscheduled;
  unsigned flags;
  unsigned reserved[12];
};
static_assert(sizeof(GroupParameters) == 64);
constexpr unsigned backfill_flag = 1;

// CUdevSmResource has them since CUDA 13.1, behind the three numbers that it had before.
unsigned flags_of(const CUdevResource& resource) {
  std::array<unsigned, 4> numbers;
  std::memcpy(&numbers, &resource.sm, sizeof numbers);
  return numbers[3];
}

[[noreturn]] void refuse_split(const std::string& why) { throw InvalidArgument("splitting multiprocessors: " + why); }

template <typename T>
void check_length(const char* name, const PerGroup<T>& option, const PerGroup<int>& count, std::size_t groups) {
  if (!option.is_list()) return;
  if (!count.is_list())
    refuse_split(text(name, " is a list, but count is scalar; give a list of counts for several groups"));
  if (option.size() != groups)
    refuse_split(text(name, " has ", option.size(), " values, expected ", groups, ", as many as count"));
}

void check_numbers(const char* name, const PerGroup<int>& option, std::size_t groups) {
  for (std::size_t i = 0; i < groups; ++i)
    if (const int value = option.of(i, 0); value < 0)
      refuse_split(text(name, " must be non-negative, got ", value, "; 0 is what the driver decides"));
}

// How many groups there are, if the options make sense.
std::size_t checked_groups(const SMResourceOptions& options) {
  const std::size_t groups = options.count.is_list() ? options.count.size() : 1;
  if (groups == 0) refuse_split("count is an empty list; it has a number for each group");
  check_length("coscheduled_sm_count", options.coscheduled_sm_count, options.count, groups);
  check_length("preferred_coscheduled_sm_count", options.preferred_coscheduled_sm_count, options.count, groups);
  check_length("backfill", options.backfill, options.count, groups);
  check_numbers("count", options.count, groups);
  check_numbers("coscheduled_sm_count", options.coscheduled_sm_count, groups);
  check_numbers("preferred_coscheduled_sm_count", options.preferred_coscheduled_sm_count, groups);
  return groups;
}

GroupParameters parameters_of(const SMResourceOptions& options, std::size_t group) {
  return {.count = static_cast<unsigned>(options.count.of(group, 0)),
          .coscheduled = static_cast<unsigned>(options.coscheduled_sm_count.of(group, 0)),
          .preferred_coscheduled = static_cast<unsigned>(options.preferred_coscheduled_sm_count.of(group, 0)),
          .flags = options.backfill.of(group, false) ? backfill_flag : 0,
          .reserved = {}};
}

// What the driver leaves out, of groups and of remainders, is as in the whole.
SMResource group_of(const CUdevResource& group, const SMResourceState& whole, bool dry_run) {
  using Use = SMResourceState::Use;
  SMResourceState::Granularity granularity{group.sm.minSmPartitionSize, group.sm.smCoscheduledAlignment};
  if (granularity.smallest == 0) granularity.smallest = whole.granularity.smallest;
  if (granularity.alignment == 0) granularity.alignment = whole.granularity.alignment;
  const bool is_empty = group.sm.smCount == 0;
  return SMResourceState::make(group, granularity, whole.device,
                               is_empty  ? Use::empty
                               : dry_run ? Use::trial
                                         : Use::usable);
}

// From CUDA 13.1 on. A trial fills in the counts.
SMSplit split_by_groups(const SMResourceState& whole, const SMResourceOptions& options, std::size_t groups,
                        bool dry_run) {
  std::vector<GroupParameters> parameters;
  for (std::size_t i = 0; i < groups; ++i) parameters.push_back(parameters_of(options, i));
  std::vector<CUdevResource> made(groups);
  CUdevResource rest{};
  driver::call<&Api::cuDevSmResourceSplit>(
      Doing{[&] { return text("splitting ", whole.resource.sm.smCount, " multiprocessors of device ", whole.device); }},
      dry_run ? nullptr : made.data(), static_cast<unsigned>(groups), &whole.resource, &rest, 0U,
      reinterpret_cast<CU_DEV_SM_RESOURCE_GROUP_PARAMS_st*>(parameters.data()));
  SMSplit split;
  for (std::size_t i = 0; i < groups; ++i) {
    if (dry_run) made[i].sm.smCount = parameters[i].count;
    split.groups.push_back(group_of(made[i], whole, dry_run));
  }
  split.remainder = group_of(rest, whole, dry_run);
  return split;
}

void require_simple(const SMResourceOptions& options, std::size_t groups) {
  const auto refuse = [](const char* what) {
    throw NotSupported(text("splitting multiprocessors: ", what, " needs a driver of CUDA 13.1 or newer"));
  };
  if (options.coscheduled_sm_count.is_given()) refuse("coscheduled_sm_count");
  if (options.preferred_coscheduled_sm_count.is_given()) refuse("preferred_coscheduled_sm_count");
  for (std::size_t i = 1; i < groups; ++i)
    if (options.count.of(i, 0) != options.count.of(0, 0)) refuse("groups of different sizes");
}

// Before. Groups have one size, and there may be fewer of them; a trial differs in nothing but what it is good for.
SMSplit split_by_count(const SMResourceState& whole, const SMResourceOptions& options, std::size_t groups,
                       bool dry_run) {
  require_simple(options, groups);
  std::vector<CUdevResource> made(groups);
  CUdevResource rest{};
  auto count = static_cast<unsigned>(groups);
  driver::call<&Api::cuDevSmResourceSplitByCount>(
      Doing{[&] { return text("splitting ", whole.resource.sm.smCount, " multiprocessors of device ", whole.device); }},
      made.data(), &count, &whole.resource, &rest, 0U, static_cast<unsigned>(options.count.of(0, 0)));
  SMSplit split;
  for (unsigned i = 0; i < count; ++i) split.groups.push_back(group_of(made[i], whole, dry_run));
  split.remainder = group_of(rest, whole, dry_run);
  return split;
}

}  // namespace

SMResource SMResourceState::make(const CUdevResource& resource, const Granularity& granularity, int device, Use use) {
  return SMResource(std::make_shared<const SMResourceState>(resource, granularity, device, use));
}

SMResource SMResourceState::make(const CUdevResource& resource, int device) {
  return make(resource, {resource.sm.minSmPartitionSize, resource.sm.smCoscheduledAlignment}, device, Use::usable);
}

const SMResourceState& SMResourceState::required(const SMResource& resource) {
  if (!resource.state_)
    throw WrongState("an SMResource without multiprocessors can't be used; get one from resources() or split()");
  return *resource.state_;
}

int SMResource::sm_count() const noexcept { return state_ ? static_cast<int>(state_->resource.sm.smCount) : 0; }

int SMResource::min_partition_size() const {
  return static_cast<int>(SMResourceState::required(*this).granularity.smallest);
}

int SMResource::coscheduled_alignment() const {
  return static_cast<int>(SMResourceState::required(*this).granularity.alignment);
}

unsigned SMResource::flags() const { return flags_of(SMResourceState::required(*this).resource); }

Device SMResource::device() const { return detail::Access::device(SMResourceState::required(*this).device); }

bool SMResource::is_usable() const noexcept { return state_ && state_->use == SMResourceState::Use::usable; }

const CUdevResource_st* SMResource::handle() const noexcept { return state_ ? &state_->resource : nullptr; }

SMSplit SMResource::split(const SMResourceOptions& options, bool dry_run) const {
  const SMResourceState& whole = SMResourceState::required(*this);
  const std::size_t groups = checked_groups(options);
  if (!is_usable()) refuse_split(text(*this, " can't be split"));
  return driver::api().cuDevSmResourceSplit.function ? split_by_groups(whole, options, groups, dry_run)
                                                     : split_by_count(whole, options, groups, dry_run);
}

std::ostream& operator<<(std::ostream& out, const SMResource& resource) {
  const SMResourceState* state = SMResourceState::of(resource);
  if (!state) return out << "no multiprocessors";
  return out << resource.sm_count() << (resource.sm_count() == 1 ? " multiprocessor" : " multiprocessors")
             << " of device " << state->device << (state->use == SMResourceState::Use::trial ? ", of a dry run" : "");
}

}  // namespace cuprum::inline CUPRUM_ABI
