#include "support/random_graph.hpp"

#include <algorithm>

namespace random_graph {
namespace {

using Kind = RandomOperation::Kind;

class Generator {
 public:
  Generator(std::uint32_t seed, int max_nodes, Semaphores semaphores)
      : random_(seed), left_(max_nodes), semaphores_(semaphores) {}

  RandomProgram make() {
    const int count = 2 + below(left_ / 2);
    program_.operations = list(count, 0, false);
    return std::move(program_);
  }

 private:
  // std::uniform_int_distribution differs between libraries.
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint32_t>(end)); }
  int cell() { return below(RandomProgram::kPlainCells); }

  // `restricted`: what may be inside of a conditional node, or of a child graph that is cloned.
  RandomList list(int count, int depth, bool restricted) {
    RandomList operations;
    for (int i = 0; i < count && left_ > 0; ++i) operations.push_back(operation(depth, restricted));
    return operations;
  }

  RandomOperation operation(int depth, bool restricted) {
    static constexpr Kind kPlain[] = {Kind::mix, Kind::mix, Kind::mix, Kind::fill, Kind::copy, Kind::empty};
    static constexpr Kind kFree[] = {Kind::host, Kind::record, Kind::wait, Kind::scratch};
    static constexpr Kind kNested[] = {Kind::child, Kind::if_else, Kind::loop, Kind::switch_on};
    const int choice = below(20);
    if (choice < 4 && depth < 3 && left_ > 6) return nested(kNested[choice], depth, restricted);
    if (choice >= 4 && choice < 8 && !restricted) return plain(kFree[choice - 4]);
    if (choice == 8 && !restricted && semaphores_ == Semaphores::some) return plain(Kind::handover);
    return plain(kPlain[below(6)]);
  }

  RandomOperation plain(Kind kind) {
    RandomOperation made{.kind = kind, .target = cell(), .first = cell(), .number = below(1000)};
    take(kind == Kind::scratch ? 5 : kind == Kind::handover ? 4 : 1);
    const bool has_effect = kind != Kind::empty && kind != Kind::record && kind != Kind::wait;
    if (has_effect) made.writes.insert(made.target);
    if (kind == Kind::mix || kind == Kind::copy || kind == Kind::scratch || kind == Kind::handover)
      made.reads.insert(made.first);
    return made;
  }

  RandomOperation nested(Kind kind, int depth, bool restricted) {
    RandomOperation made{.kind = kind, .first = cell()};
    take(3);
    int lists = 1;
    if (kind == Kind::if_else) lists = 1 + below(2);
    if (kind == Kind::switch_on) lists = 1 + below(4);
    if (kind == Kind::loop) {
      made.target = program_.cells++;
      made.number = below(4);
      made.writes.insert(made.target);
    } else if (kind != Kind::child) {
      made.reads.insert(made.first);
    }
    // A child graph has no conditional nodes, wherever it is.
    const bool is_child = kind == Kind::child;
    for (int i = 0; i < lists; ++i)
      made.lists.push_back(is_child ? plain_list(restricted) : list(1 + below(5), depth + 1, true));
    for (const RandomList& inside : made.lists)
      for (const RandomOperation& one : inside) {
        made.reads.insert(one.reads.begin(), one.reads.end());
        made.writes.insert(one.writes.begin(), one.writes.end());
      }
    return made;
  }

  RandomList plain_list(bool restricted) {
    RandomList operations;
    const int count = 1 + below(5);
    for (int i = 0; i < count; ++i) {
      static constexpr Kind kKinds[] = {Kind::mix, Kind::fill, Kind::copy, Kind::host};
      operations.push_back(plain(kKinds[below(restricted ? 3 : 4)]));
    }
    return operations;
  }

  void take(int nodes) {
    left_ -= nodes;
    program_.nodes += nodes;
  }

  std::mt19937 random_;
  int left_;
  const Semaphores semaphores_;
  RandomProgram program_;
};

bool meet(const std::set<int>& a, const std::set<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int cell) { return b.contains(cell); });
}

}  // namespace

RandomProgram random_program(std::uint32_t seed, int max_nodes, Semaphores semaphores) {
  return Generator(seed, max_nodes, semaphores).make();
}

std::vector<std::vector<std::size_t>> order_of(const RandomList& list) {
  std::vector<std::vector<std::size_t>> order(list.size());
  for (std::size_t later = 0; later < list.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (meet(list[earlier].writes, list[later].writes) || meet(list[earlier].writes, list[later].reads) ||
          meet(list[earlier].reads, list[later].writes))
        order[later].push_back(earlier);
  return order;
}

}  // namespace random_graph
