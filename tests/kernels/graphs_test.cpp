// Graphs, texts and tables: work that depends on data, and differs from thread to thread.
#include <algorithm>
#include <queue>
#include <set>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
// One level of a breadth-first search: the frontier's neighbours that nobody has claimed become the next frontier.
KERNEL(expand_frontier)(int* levels, const int* starts, const int* edges, const int* frontier, int count, int* next, int* next_count, int level) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= count) return;
  int node = frontier[i];
  for (int e = starts[node]; e < starts[node + 1]; ++e)
    if (atomicCAS(levels + edges[e], -1, level) == -1) next[atomicAdd(next_count, 1)] = edges[e];
}
// The whole search by one block.
KERNEL(search_in_a_block)(int* levels, const int* starts, const int* edges, int first) {
  __shared__ int queues[2][256], counts[2];
  int t = threadIdx.x, side = 0;
  if (t == 0) { queues[0][0] = first; counts[0] = 1; counts[1] = 0; levels[first] = 0; }
  __syncthreads();
  for (int level = 1; counts[side] > 0; ++level) {
    for (int i = t; i < counts[side]; i += blockDim.x) {
      int node = queues[side][i];
      for (int e = starts[node]; e < starts[node + 1]; ++e)
        if (atomicCAS(levels + edges[e], -1, level) == -1) queues[side ^ 1][atomicAdd(&counts[side ^ 1], 1)] = edges[e];
    }
    __syncthreads();
    if (t == 0) counts[side] = 0;
    side ^= 1;
    __syncthreads();
  }
}
// Bellman and Ford's shortest paths, until a round changes nothing.
KERNEL(relax)(int* distance, const int* starts, const int* edges, const int* weights, int n) {
  __shared__ int changed;
  do {
    __syncthreads();
    if (threadIdx.x == 0) changed = 0;
    __syncthreads();
    for (int node = threadIdx.x; node < n; node += blockDim.x) {
      int so_far = *(volatile int*)(distance + node);
      if (so_far == 0x3fffffff) continue;
      for (int e = starts[node]; e < starts[node + 1]; ++e)
        if (atomicMin(distance + edges[e], so_far + weights[e]) > so_far + weights[e]) changed = 1;
    }
    __syncthreads();
  } while (changed);
}
KERNEL(count_triangles)(int* out, const int* starts, const int* edges, int n) {
  int node = threadIdx.x + blockIdx.x * blockDim.x, count = 0;
  if (node < n)
    for (int e = starts[node]; e < starts[node + 1]; ++e) {
      int other = edges[e];
      if (other <= node) continue;
      // Both lists are sorted: walk them together.
      int i = e + 1, j = starts[other];
      while (i < starts[node + 1] && j < starts[other + 1]) {
        if (edges[i] == edges[j]) { count += edges[j] > other; ++i; ++j; }
        else if (edges[i] < edges[j]) ++i;
        else ++j;
      }
    }
  atomicAdd(out, count);
}
// Colours no neighbour has, nodes with the larger number first: each waits for those.
KERNEL(greedy_colours)(volatile int* colours, const int* starts, const int* edges) {
  int node = threadIdx.x;
  uint64_t taken = 0;
  for (int e = starts[node]; e < starts[node + 1]; ++e) {
    if (edges[e] <= node) continue;
    int colour;
    while ((colour = colours[edges[e]]) < 0) {}
    taken |= 1ull << colour;
  }
  colours[node] = __ffsll(~taken) - 1;
}

KERNEL(find_text)(int* out, const char* text, int length, const char* word, int word_length) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i + word_length <= length; i += gridDim.x * blockDim.x) {
    int k = 0;
    while (k < word_length && (text[i + k] == word[k] || word[k] == '?')) ++k;
    out[i] = k == word_length ? 1 : -k;
  }
}
KERNEL(numbers_in_text)(int* out, const char* text, int width) {
  // Decimal, hexadecimal with 0x, or -1: a small automaton for each thread.
  const char* p = text + threadIdx.x * width;
  const char* end = p + width;
  while (p != end && *p == ' ') ++p;
  bool negative = false;
  int v = 0, digits = 0;
  if (p != end && *p == '-') { negative = true; ++p; }
  if (p + 1 < end && p[0] == '0' && p[1] == 'x') {
    for (p += 2; p != end; ++p, ++digits) {
      char c = *p;
      if (c >= '0' && c <= '9') v = v * 16 + c - '0';
      else if (c >= 'a' && c <= 'f') v = v * 16 + c - 'a' + 10;
      else break;
    }
  } else {
    for (; p != end && *p >= '0' && *p <= '9'; ++p, ++digits) v = v * 10 + *p - '0';
  }
  while (p != end && *p == ' ') ++p;
  out[threadIdx.x] = p == end && digits > 0 ? (negative ? -v : v) : -1000000;
}
KERNEL(word_lengths)(int* counts, const char* text, int length) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    if (text[i] == ' ' || (i > 0 && text[i - 1] != ' ')) continue;
    int n = 0;
    while (i + n < length && text[i + n] != ' ' && ++n < 15) {}
    atomicAdd(bins + n, 1);
  }
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x] = bins[threadIdx.x];
}

struct Node { int key, left, right; };
// A binary search tree that all threads insert into at once: children are claimed by a compare-and-swap.
KERNEL(insert_into_a_tree)(Node* nodes, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x + 1;
  if (i >= n) return;
  int at = 0;
  while (true) {
    int* child = nodes[i].key < nodes[at].key ? &nodes[at].left : &nodes[at].right;
    int found = atomicCAS(child, -1, i);
    if (found == -1) break;
    at = found;
  }
}
KERNEL(walk_a_tree)(int* out, const Node* nodes) {
  // The k-th smallest, by a walk with a stack.
  int stack[64], depth = 0, node = 0, left = threadIdx.x;
  while (true) {
    while (node >= 0) { stack[depth++] = node; node = nodes[node].left; }
    node = stack[--depth];
    if (left-- == 0) break;
    node = nodes[node].right;
  }
  out[threadIdx.x] = nodes[node].key;
}

KERNEL(sparse_matrix_times_vector)(float* out, const int* starts, const int* columns, const float* values, const float* x, int rows) {
  int row = threadIdx.x + blockIdx.x * blockDim.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) sum += values[i] * x[columns[i]];
  out[row] = sum;
}

KERNEL(sieve)(int* out, int n) {
  __shared__ unsigned marks[16];
  int t = threadIdx.x;
  if (t < 16) marks[t] = 0;
  __syncthreads();
  for (int p = 2 + t; p * p < n; p += blockDim.x)
    for (int m = p * p; m < n; m += p) atomicOr(marks + m / 32, 1u << m % 32);
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) out[i] = i > 1 && !(marks[i / 32] >> i % 32 & 1);
}
)";

struct Graph {
  std::vector<int> starts{0}, edges;
  int size() const { return static_cast<int>(starts.size()) - 1; }
};

/// Edges both ways between scattered nodes, and two long chains.
Graph scattered_graph(int n) {
  std::vector<std::set<int>> neighbours(static_cast<std::size_t>(n));
  const auto connect = [&](int a, int b) {
    if (a != b) at(neighbours, a).insert(b), at(neighbours, b).insert(a);
  };
  for (int i = 0; i + 1 < n / 3; ++i) connect(i, i + 1);
  for (int i = 0; i < n; ++i)
    connect(i, static_cast<int>(scrambled(static_cast<std::uint32_t>(i)) % static_cast<unsigned>(n)));
  Graph graph;
  for (const std::set<int>& of_node : neighbours) {
    graph.edges.insert(graph.edges.end(), of_node.begin(), of_node.end());
    graph.starts.push_back(static_cast<int>(graph.edges.size()));
  }
  return graph;
}

std::vector<int> levels_from(const Graph& graph, int first) {
  std::vector<int> levels(static_cast<std::size_t>(graph.size()), -1);
  std::queue<int> open({first});
  at(levels, first) = 0;
  for (; !open.empty(); open.pop()) {
    const int node = open.front();
    for (int e = at(graph.starts, node); e < at(graph.starts, node + 1); ++e) {
      int& level = at(levels, at(graph.edges, e));
      if (level >= 0) continue;
      level = at(levels, node) + 1;
      open.push(at(graph.edges, e));
    }
  }
  return levels;
}

class Graphs : public KernelsTest {
 protected:
  Graphs() : KernelsTest(source) {}
  const Graph graph = scattered_graph(200);
};

TEST_F(Graphs, ABreadthFirstSearchByFrontiers) {
  std::vector<int> start(200, -1);
  start[7] = 0;
  const Buffer levels = upload(start, stream);
  const Buffer starts = upload(graph.starts, stream), edges = upload(graph.edges, stream);
  Buffer frontier = upload(std::vector<int>(200, 7), stream), next = upload(zeros<int>(200), stream);
  int count = 1;
  for (int level = 1; count > 0; ++level) {
    const Buffer next_count = upload(zeros<int>(1), stream);
    launch(stream, {.grid = ceil_div(count, 64), .block = 64}, code.get_kernel("expand_frontier"), levels, starts,
           edges, frontier, count, next, next_count, level);
    count = download<int>(next_count, stream)[0];
    std::swap(frontier, next);
  }
  EXPECT_SAME(download<int>(levels, stream), levels_from(graph, 7));
}

TEST_F(Graphs, ABreadthFirstSearchInABlock) {
  EXPECT_SAME(run("search_in_a_block", {.block = 64}, std::vector<int>(200, -1), graph.starts, graph.edges, 50),
              levels_from(graph, 50));
}

TEST_F(Graphs, ShortestPaths) {
  const std::vector<int> weights = each<int>(static_cast<int>(graph.edges.size()),
                                             [](int e) { return 1 + scrambled(static_cast<std::uint32_t>(e)) % 20; });
  std::vector<int> expected(200, 0x3fffffff);
  expected[3] = 0;
  const std::vector<int> found = run("relax", {.block = 96}, expected, graph.starts, graph.edges, weights, 200);
  for (bool changed = true; changed;) {
    changed = false;
    for (int node = 0; node < 200; ++node)
      for (int e = at(graph.starts, node); e < at(graph.starts, node + 1); ++e) {
        int& distance = at(expected, at(graph.edges, e));
        if (distance <= at(expected, node) + at(weights, e)) continue;
        distance = at(expected, node) + at(weights, e);
        changed = true;
      }
  }
  EXPECT_SAME(found, expected);
}

TEST_F(Graphs, Triangles) {
  const Graph dense = scattered_graph(30);
  const auto connected = [&](int a, int b) {
    return std::find(dense.edges.begin() + at(dense.starts, a), dense.edges.begin() + at(dense.starts, a + 1), b) !=
           dense.edges.begin() + at(dense.starts, a + 1);
  };
  int count = 0;
  for (int a = 0; a < 30; ++a)
    for (int b = a + 1; b < 30; ++b)
      for (int c = b + 1; c < 30; ++c) count += connected(a, b) && connected(b, c) && connected(a, c) ? 1 : 0;
  EXPECT_SAME(run("count_triangles", {.block = 64}, zeros<int>(1), dense.starts, dense.edges, 30), std::vector{count});
}

TEST_F(Graphs, ColoursThatWaitForNeighbours) {
  std::vector<int> expected(200, -1);
  for (int node = 199; node >= 0; --node) {
    std::set<int> taken;
    for (int e = at(graph.starts, node); e < at(graph.starts, node + 1); ++e)
      if (at(graph.edges, e) > node) taken.insert(at(expected, at(graph.edges, e)));
    int& colour = at(expected, node);
    for (colour = 0; taken.contains(colour);) ++colour;
  }
  EXPECT_SAME(run("greedy_colours", {.block = 200}, std::vector<int>(200, -1), graph.starts, graph.edges), expected);
}

std::vector<char> characters(const std::string& text) { return {text.begin(), text.end()}; }

TEST_F(Graphs, WordsInText) {
  const std::string text = "abracadabra, abrakadabra and bracadabra make abracadabracadabra", word = "abra?ada";
  const auto length = static_cast<int>(text.size()), word_length = static_cast<int>(word.size());
  EXPECT_SAME(run("find_text", {.grid = 2, .block = 20}, zeros<int>(text.size()), characters(text), length,
                  characters(word), word_length),
              each<int>(length, [&](int i) {
                if (i + word_length > length) return 0;
                int k = 0;
                while (k < word_length && (text[i + k] == word[k] || word[k] == '?')) ++k;
                return k == word_length ? 1 : -k;
              }));
}

TEST_F(Graphs, NumbersInText) {
  const std::vector<std::pair<std::string, int>> cases = {
      {"   12", 12},       {"-7   ", -7},       {"0x1f ", 31},    {"  0xg", -1000000},
      {"     ", -1000000}, {" -0xa", -10},      {"99999", 99999}, {"1 2  ", -1000000},
      {"0    ", 0},        {"-    ", -1000000}, {"0xfff", 4095},  {"x1   ", -1000000}};
  std::string text;
  for (int i = 0; i < 48; ++i) text += at(cases, i % static_cast<int>(cases.size())).first;
  EXPECT_SAME(run("numbers_in_text", {.block = 48}, zeros<int>(48), characters(text), 5),
              each<int>(48, [&](int i) { return at(cases, i % static_cast<int>(cases.size())).second; }));
}

TEST_F(Graphs, LengthsOfWords) {
  const std::string text =
      "it is a truth universally acknowledged that kernels in possession of good threads want barriers";
  std::vector<int> expected(16);
  for (std::size_t i = 0, end; i < text.size(); i = end + 1) {
    end = std::min(text.find(' ', i), text.size());
    ++expected[std::min<std::size_t>(end - i, 15)];
  }
  EXPECT_SAME(run("word_lengths", {.block = 40}, zeros<int>(16), characters(text), static_cast<int>(text.size())),
              expected);
}

struct Node {
  int key, left = -1, right = -1;
  bool operator==(const Node&) const = default;
};

TEST_F(Graphs, ATreeThatAllThreadsInsertInto) {
  constexpr int n = 60;
  auto nodes = each<Node>(n, [](int i) { return Node{static_cast<int>(i * 37 % 61)}; });
  const auto tree = run("insert_into_a_tree", {.grid = 2, .block = 32}, nodes, n);
  EXPECT_SAME(run("walk_a_tree", {.block = n}, zeros<int>(n), tree), [&] {
    auto keys = each<int>(n, [&](int i) { return at(nodes, i).key; });
    std::ranges::sort(keys);
    return keys;
  }());
}

TEST_F(Graphs, ASparseMatrixTimesAVector) {
  const auto values =
      each<float>(static_cast<int>(graph.edges.size()), [](int e) { return static_cast<float>(e % 7 - 3); });
  const auto x = each<float>(200, [](int i) { return static_cast<float>(i % 11); });
  EXPECT_SAME(run("sparse_matrix_times_vector", {.grid = 4, .block = 64}, zeros<float>(200), graph.starts, graph.edges,
                  values, x, 200),
              each<float>(200, [&](int row) {
                float sum = 0;
                for (int e = at(graph.starts, row); e < at(graph.starts, row + 1); ++e)
                  sum += at(values, e) * at(x, at(graph.edges, e));
                return sum;
              }));
}

TEST_F(Graphs, PrimeNumbers) {
  EXPECT_SAME(run("sieve", {.block = 24}, zeros<int>(500), 500), each<int>(500, [](int n) {
                for (int d = 2; d * d <= n; ++d)
                  if (n % d == 0) return 0;
                return n > 1 ? 1 : 0;
              }));
}

}  // namespace
}  // namespace cuprum::tests
