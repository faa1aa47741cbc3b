// Random programs of graph nodes: put together as a graph, captured from streams, or done one by one.
//
// A program works on cells of kCell ints. What it does is a list of operations, some of which hold lists themselves;
// two operations of a list that use the same cell, one of them writing, are done in the order of the list, and no
// others are ordered. So there is one right result, whatever runs at the same time. The tests of the driver's interface
// and those of the library put the same programs together, each in its own way.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace random_graph {

struct RandomOperation {
  enum class Kind {
    mix,       // target = target * 31 + first + number, by a kernel
    fill,      // target = number, by a memset
    copy,      // target = first, by a memcpy
    host,      // target = target * 3 + number, by a function of the host
    empty,     //
    record,    // an event that nobody waits for
    wait,      // for an event that has been
    scratch,   // target = first * 31 + number, through memory that the graph allocates and frees
    handover,  // mix twice, the second time behind a semaphore that is signalled after the first
    child,     // lists[0]
    if_else,   // lists[0] when the lowest bit of `first` is set, else lists[1] if there is one
    loop,      // lists[0], number times; `target` is a cell of its own
    switch_on  // lists[the lowest bits of `first`] if there is one
  };
  Kind kind = Kind::empty;
  int target = 0, first = 0, number = 0;
  std::vector<std::vector<RandomOperation>> lists;
  std::set<int> reads, writes;  // cells, those of the lists included
};
using RandomList = std::vector<RandomOperation>;

struct RandomProgram {
  static constexpr int kCell = 8;
  static constexpr int kPlainCells = 12;  // behind them are those of loops
  RandomList operations;
  int cells = kPlainCells;
  int nodes = 0;
};

// The same for the same seed, everywhere. Operations of the kind `handover` are for those who can have semaphores.
enum class Semaphores { none, some };
RandomProgram random_program(std::uint32_t seed, int max_nodes, Semaphores semaphores = Semaphores::none);

// Which earlier operations of the list each one has to come after.
std::vector<std::vector<std::size_t>> order_of(const RandomList& list);

}  // namespace random_graph
