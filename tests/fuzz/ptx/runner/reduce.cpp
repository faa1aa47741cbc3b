#include "fuzz/ptx/runner/reduce.hpp"

#include <algorithm>

namespace ptx_fuzz {

std::set<unsigned> reduce(Worker& worker, const Program& whole, std::set<unsigned> out, Verdict::Kind kind,
                          std::chrono::milliseconds limit) {
  const auto still_fails = [&](const std::set<unsigned>& candidate) {
    return worker.run(make_trial(without(whole, candidate)), limit).kind == kind;
  };
  const unsigned statements = count_statements(whole);
  for (unsigned size = std::max(statements / 2, 1u);; size = std::max(size / 2, 1u)) {
    bool smaller = false;
    // From the end: what a statement computes is used behind it.
    for (unsigned end = statements; end > 0; end -= std::min(end, size)) {
      std::set<unsigned> candidate = out;
      for (unsigned number = end - std::min(end, size); number < end; ++number) candidate.insert(number);
      if (candidate.size() == out.size() || !still_fails(candidate)) continue;
      out = std::move(candidate);
      smaller = true;
    }
    if (size == 1 && !smaller) return out;
  }
}

}  // namespace ptx_fuzz
