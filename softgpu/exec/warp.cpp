#include "softgpu/exec/warp.hpp"

#include <algorithm>
#include <bit>

namespace softgpu::exec {
namespace {

using abi::Mark;
using Gangs = std::array<abi::Gang*, kWarp>;

template <typename Visit>
void for_each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::uint32_t>(std::countr_zero(lanes)));
}

// The lane to read from, by the rules of shfl.sync: c holds a clamp value in its low bits and a segment mask above.
std::uint32_t source_of(Mark operation, std::uint32_t lane, const abi::WarpRequest& request) {
  const auto own = static_cast<std::int32_t>(lane), b = static_cast<std::int32_t>(request.b & 31);
  const auto clamp = static_cast<std::int32_t>(request.c & 31),
             segment = static_cast<std::int32_t>(request.c >> 8 & 31);
  const std::int32_t lowest = own & segment, limit = lowest | (clamp & ~segment);
  std::int32_t source = lowest | (b & ~segment);
  if (operation == Mark::shfl_up) source = own - b;
  if (operation == Mark::shfl_down) source = own + b;
  if (operation == Mark::shfl_bfly) source = own ^ b;
  const bool inside = operation == Mark::shfl_up ? source >= limit : source <= limit;
  return static_cast<std::uint32_t>(inside ? source : own);
}

void shuffle(Mark operation, std::uint32_t lanes, const Gangs& gangs) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    const std::uint32_t source = source_of(operation, lane, gangs[lane]->warp);
    const std::uint32_t from = lanes >> source & 1 ? source : lane;
    gangs[lane]->result = static_cast<std::uint32_t>(gangs[from]->warp.value);
  });
}

void match(bool all, std::uint32_t lanes, const Gangs& gangs) {
  for_each_lane(lanes, [&](std::uint32_t lane) {
    std::uint32_t same = 0;
    for_each_lane(lanes, [&](std::uint32_t other) {
      if (gangs[other]->warp.value == gangs[lane]->warp.value) same |= std::uint32_t{1} << other;
    });
    gangs[lane]->result = all && same != lanes ? 0 : same;
  });
}

std::uint32_t combined(Mark operation, std::uint32_t a, std::uint32_t b) {
  const auto as_signed = [](std::uint32_t value) { return static_cast<std::int32_t>(value); };
  switch (operation) {
    case Mark::redux_add: return a + b;
    case Mark::redux_min_s: return as_signed(a) < as_signed(b) ? a : b;
    case Mark::redux_max_s: return as_signed(a) > as_signed(b) ? a : b;
    case Mark::redux_min_u: return std::min(a, b);
    case Mark::redux_max_u: return std::max(a, b);
    case Mark::redux_and: return a & b;
    case Mark::redux_or: return a | b;
    default: return a ^ b;
  }
}

std::uint32_t reduction(Mark operation, std::uint32_t lanes, const Gangs& gangs) {
  const auto value = [&](std::uint32_t lane) { return static_cast<std::uint32_t>(gangs[lane]->warp.value); };
  std::uint32_t result = value(static_cast<std::uint32_t>(std::countr_zero(lanes)));
  for_each_lane(lanes & (lanes - 1), [&](std::uint32_t lane) { result = combined(operation, result, value(lane)); });
  return result;
}

std::uint32_t vote(Mark operation, std::uint32_t lanes, const Gangs& gangs) {
  std::uint32_t set = 0;
  for_each_lane(lanes, [&](std::uint32_t lane) {
    if (gangs[lane]->warp.value != 0) set |= std::uint32_t{1} << lane;
  });
  switch (operation) {
    case Mark::vote_ballot: return set;
    case Mark::vote_any: return set != 0;
    case Mark::vote_all: return set == lanes;
    default: return set == lanes || set == 0;
  }
}

}  // namespace

void exchange(Mark operation, std::uint32_t lanes, const Gangs& gangs) {
  const auto give_all = [&](std::uint32_t result) {
    for_each_lane(lanes, [&](std::uint32_t lane) { gangs[lane]->result = result; });
  };
  switch (operation) {
    case Mark::shfl_up:
    case Mark::shfl_down:
    case Mark::shfl_bfly:
    case Mark::shfl_idx: return shuffle(operation, lanes, gangs);
    case Mark::match_any_32:
    case Mark::match_any_64: return match(false, lanes, gangs);
    case Mark::match_all_32:
    case Mark::match_all_64: return match(true, lanes, gangs);
    case Mark::vote_all:
    case Mark::vote_any:
    case Mark::vote_uni:
    case Mark::vote_ballot: return give_all(vote(operation, lanes, gangs));
    case Mark::activemask: return give_all(lanes);
    case Mark::warp_sync: return;
    default: return give_all(reduction(operation, lanes, gangs));
  }
}

void Warp::wait(std::uint32_t lane, abi::Gang& gang, std::vector<std::uint32_t>& released) {
  const auto operation = static_cast<Mark>(gang.warp.operation);
  const bool active = operation == Mark::activemask;
  const std::uint32_t members = active ? gang.line : gang.warp.members;
  gangs_[lane] = &gang;
  waiting_ |= std::uint32_t{1} << lane;
  active_ |= active;
  auto meeting = std::find_if(meetings_.begin(), meetings_.end(), [&](const Meeting& known) {
    return known.operation == operation && known.members == members;
  });
  if (meeting == meetings_.end()) meeting = meetings_.insert(meeting, {operation, members, 0});
  meeting->arrived |= std::uint32_t{1} << lane;
  if (active || !complete(*meeting)) return;
  const Meeting done = *meeting;
  meetings_.erase(meeting);
  release(done, released);
}

void Warp::exit(std::uint32_t lane, std::vector<std::uint32_t>& released) {
  missing_ |= std::uint32_t{1} << lane;
  for (std::size_t i = 0; i < meetings_.size();) {
    const Meeting meeting = meetings_[i];
    if (meeting.operation == Mark::activemask || !complete(meeting)) {
      ++i;
      continue;
    }
    meetings_.erase(meetings_.begin() + static_cast<std::ptrdiff_t>(i));
    release(meeting, released);
  }
}

void Warp::release_active(std::vector<std::uint32_t>& released) {
  active_ = false;
  for (std::size_t i = 0; i < meetings_.size();) {
    const Meeting meeting = meetings_[i];
    if (meeting.operation != Mark::activemask) {
      ++i;
      continue;
    }
    meetings_.erase(meetings_.begin() + static_cast<std::ptrdiff_t>(i));
    release(meeting, released);
  }
}

bool Warp::complete(const Meeting& meeting) const { return (meeting.members & ~missing_ & ~meeting.arrived) == 0; }

void Warp::release(const Meeting& meeting, std::vector<std::uint32_t>& released) {
  exchange(meeting.operation, meeting.arrived, gangs_);
  waiting_ &= ~meeting.arrived;
  for_each_lane(meeting.arrived, [&](std::uint32_t lane) { released.push_back(lane); });
}

}  // namespace softgpu::exec
