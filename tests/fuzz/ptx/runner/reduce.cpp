#include "fuzz/ptx/runner/reduce.hpp"

#include <algorithm>

namespace ptx_fuzz {

Choice reduce(Worker& worker, Choice choice, unsigned statements, Verdict::Kind kind, std::chrono::milliseconds limit) {
  const auto still_fails = [&](const Choice& candidate) { return worker.run(candidate, limit).kind == kind; };
  for (unsigned size = std::max(statements / 2, 1u);; size = std::max(size / 2, 1u)) {
    bool smaller = false;
    // From the end: what a statement computes is used behind it.
    for (unsigned end = statements; end > 0; end -= std::min(end, size)) {
      Choice candidate = choice;
      for (unsigned number = end - std::min(end, size); number < end; ++number) candidate.without.insert(number);
      if (candidate.without.size() == choice.without.size() || !still_fails(candidate)) continue;
      choice = candidate;
      smaller = true;
    }
    if (size == 1 && !smaller) return choice;
  }
}

}  // namespace ptx_fuzz
