// Memory of every kind: constants, variables, the heap, local arrays, shared memory cut into pieces, and addresses that
// are wrong in some threads.
#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <ostream>
#include <utility>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
#include <cuda/std/cassert>

__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ int calls = 5;
__device__ const char* const names[3] = {"copper", "tin", "zinc"};
KERNEL(constants_and_variables)(int* out) {
  int t = threadIdx.x, v = primes[t % 8] * 100;
  for (const char* p = names[t % 3]; *p; ++p) v += *p;
  out[t] = v;
  __syncthreads();
  if (t == 0) out[0] += calls++;
}

struct Item { int value; Item* next; };
KERNEL(lists_on_the_heap)(int* out) {
  int t = threadIdx.x + blockIdx.x * blockDim.x;
  Item* head = nullptr;
  for (int i = 0; i < t % 7; ++i) head = new Item{i * t, head};
  int sum = 0;
  while (head) { Item* item = head; sum = sum * 3 + item->value; head = item->next; delete item; }
  char* text = (char*)malloc(t % 5 + 1);
  for (int i = 0; i <= t % 5; ++i) text[i] = i + t;
  for (int i = 0; i <= t % 5; ++i) sum += text[i];
  free(text);
  out[t] = sum;
}

struct Packed { unsigned a : 5; int b : 7; unsigned c : 20; uint16_t d; uint8_t e[3]; };
union Word { float f; uint32_t u; uint8_t bytes[4]; };
KERNEL(bit_fields_and_unions)(uint32_t* out, const uint32_t* in) {
  int t = threadIdx.x;
  Packed p = {};
  p.a = in[t]; p.b = in[t] >> 3; p.c = in[t] * 3; p.d = in[t] >> 8;
  for (int i = 0; i < 3; ++i) p.e[(i + t) % 3] = in[t] >> (8 * i);
  Word w;
  w.f = (float)(in[t] & 0xffff);
  w.bytes[t % 2] ^= 0x5a;
  Packed copy;
  memcpy(&copy, &p, sizeof p);
  out[t] = copy.a + copy.b * 32 + copy.c * 3 + copy.d + copy.e[0] * 5 + copy.e[1] * 7 + copy.e[2] * 11 + w.u;
}

KERNEL(large_local_arrays)(int* out, int n) {
  int counts[128];
  int t = threadIdx.x;
  for (int i = 0; i < 128; ++i) counts[i] = i == t;
  unsigned x = t + 1;
  for (int i = 0; i < n; ++i) { x = x * 1664525u + 1013904223u; ++counts[x >> 25]; }
  int best = 0;
  for (int i = 1; i < 128; ++i) if (counts[i] > counts[best]) best = i;
  out[t] = best * 1000 + counts[best];
}

KERNEL(shared_memory_in_pieces)(double* out, int n) {
  extern __shared__ double pool[];
  double* wide = pool;
  int* middle = (int*)(wide + n);
  char* narrow = (char*)(middle + n);
  int t = threadIdx.x;
  wide[t] = t * 0.5; middle[n - 1 - t] = t; narrow[(t * 7) % n] = (char)(t * 3);
  __syncthreads();
  out[t] = wide[(t + 1) % n] + middle[t] * 100 + narrow[t] * 10000;
}

struct alignas(16) Quad { float x, y, z, w; };
KERNEL(vectors_and_structs)(Quad* out, const Quad* in, const float4* more) {
  int t = threadIdx.x;
  Quad q = in[t ^ 1];
  float4 v = more[t];
  if (t % 3 == 0) { float swap = q.x; q.x = q.w; q.w = swap; }
  if (t % 4 == 1) q = in[t / 2];
  out[t] = Quad{q.x + v.w, q.y - v.z, q.z * 2, q.w + t};
}

KERNEL(strides_of_every_kind)(int* out, const int* in, int64_t n, int step) {
  int t = threadIdx.x + blockIdx.x * blockDim.x, total = gridDim.x * blockDim.x;
  int sum = 0;
  for (int64_t i = n - 1 - t; i >= 0; i -= total) sum += in[i];
  for (int i = t; i < n; i += step) sum += in[i] * 3;
  const int* p = in + n;
  while (p - in > t) { p -= 5; if (p < in) break; sum ^= *p; }
  out[t] = sum;
}

// Relative pointers: an address is a number, and may be reached from any other.
__device__ int first_variable[64], second_variable[64];
KERNEL(distance_of_variables)(int64_t* out) { *out = (uint64_t)second_variable - (uint64_t)first_variable; }
KERNEL(by_relative_pointers)(int* out, int64_t distance) {
  int t = threadIdx.x;
  second_variable[t] = t;
  *(int*)((uint64_t)&first_variable[t] + distance) = 5 * t;
  out[t] = second_variable[t];
}
KERNEL(by_short_relative_pointers)(int* out, int distance) {
  int t = threadIdx.x;
  second_variable[t] = t;
  *(int*)((uint64_t)&first_variable[t] + distance) = 5 * t;
  out[t] = second_variable[t];
}
KERNEL(by_relative_elements)(int* out, int64_t elements) {
  int t = threadIdx.x;
  second_variable[t] = t;
  *(int*)((uint64_t)&first_variable[t] + elements * 4) = 5 * t;
  out[t] = second_variable[t];
}
KERNEL(between_local_arrays)(int* out) {
  volatile int keep[2] = {0, 1};
  int near[16], far[16];
  int t = threadIdx.x, i = t % 16;
  for (int k = 0; k < 16; ++k) near[k] = far[k] = k + keep[0];
  uint64_t distance = (uint64_t)far - (uint64_t)near;
  far[i] = keep[1];
  *(int*)((uint64_t)(near + i) + distance) = 100 + t;
  out[t] = far[i] + near[i];
}

KERNEL(between_local_elements)(int* out) {
  volatile int keep[2] = {0, 1};
  int near[16], far[16];
  int t = threadIdx.x, i = t % 16;
  for (int k = 0; k < 16; ++k) near[k] = far[k] = k + keep[0];
  keep[0] = ((int64_t)far - (int64_t)near) / 4;
  far[i] = keep[1];
  *(int*)((uint64_t)(near + i) + (int64_t)keep[0] * 4) = 100 + t;
  out[t] = far[i] + near[i];
}

KERNEL(store_by_pointers_of_a_table)(int** pointers) { *pointers[threadIdx.x] = threadIdx.x; }
KERNEL(load_by_pointers_of_a_table)(int** pointers) {
  int t = threadIdx.x;
  *pointers[0] = pointers[t] == nullptr && t < 50 ? 1 : *pointers[t];
}
KERNEL(store_to_null_in_some_threads)(int* out, int which) {
  int* p = out + threadIdx.x;
  if (threadIdx.x == which) p = nullptr;
  *(volatile int*)p = 1;
}
KERNEL(atomic_on_null)(int** pointers) { atomicAdd(pointers[threadIdx.x], 1); }
KERNEL(assert_in_some_threads)(const int* in) { assert(in[threadIdx.x] != 13); }
)";

class Memory : public KernelsTest {
 protected:
  Memory() : KernelsTest(source) {}
};

TEST_F(Memory, RelativePointers) {
  const std::vector<std::int64_t> distance = run("distance_of_variables", {.block = 1}, zeros<std::int64_t>(1));
  EXPECT_SAME(run("by_relative_pointers", {.block = 64}, zeros<int>(64), distance[0]),
              each<int>(64, [](int t) { return 5 * t; }));
  EXPECT_SAME(run("by_short_relative_pointers", {.block = 64}, zeros<int>(64), static_cast<int>(distance[0])),
              each<int>(64, [](int t) { return 5 * t; }));
  EXPECT_SAME(run("by_relative_elements", {.block = 64}, zeros<int>(64), distance[0] / 4),
              each<int>(64, [](int t) { return 5 * t; }));
  for (const char* kernel : {"between_local_arrays", "between_local_elements"})
    EXPECT_SAME(run(kernel, {.block = 64}, zeros<int>(64)), each<int>(64, [](int t) { return 100 + t + t % 16; }));
}

TEST_F(Memory, ConstantsAndVariables) {
  const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
  const std::string names[] = {"copper", "tin", "zinc"};
  auto expected = each<int>(
      64, [&](int t) { return primes[t % 8] * 100 + std::accumulate(names[t % 3].begin(), names[t % 3].end(), 0); });
  expected[0] += 5;
  EXPECT_SAME(run("constants_and_variables", {.block = 64}, zeros<int>(64)), expected);
  ++expected[0];
  EXPECT_SAME(run("constants_and_variables", {.block = 64}, zeros<int>(64)), expected) << "the second time";
}

TEST_F(Memory, ListsOnTheHeap) {
  EXPECT_SAME(run("lists_on_the_heap", {.grid = 2, .block = 48}, zeros<int>(96)), each<int>(96, [](int t) {
                int sum = 0;
                for (int i = t % 7 - 1; i >= 0; --i) sum = sum * 3 + i * t;
                for (int i = 0; i <= t % 5; ++i) sum += i + t;
                return sum;
              }));
}

std::uint32_t bit_fields_and_unions(std::uint32_t in, int t) {
  const auto b = static_cast<std::int32_t>((in >> 3 & 127) << 25) >> 25;
  std::uint32_t bytes[3];
  for (int i = 0; i < 3; ++i) bytes[(i + t) % 3] = in >> (8 * i) & 255;
  const std::uint32_t word = std::bit_cast<std::uint32_t>(static_cast<float>(in & 0xffff)) ^ 0x5au << (t % 2 * 8);
  return (in & 31) + static_cast<std::uint32_t>(b * 32) + (in * 3 & 0xfffff) * 3 + (in >> 8 & 0xffff) + bytes[0] * 5 +
         bytes[1] * 7 + bytes[2] * 11 + word;
}

TEST_F(Memory, BitFieldsAndUnions) {
  const auto in = each<std::uint32_t>(64, [](int i) { return scrambled(static_cast<std::uint32_t>(i)); });
  EXPECT_SAME(run("bit_fields_and_unions", {.block = 64}, zeros<std::uint32_t>(64), in),
              each<std::uint32_t>(64, [&](int t) { return bit_fields_and_unions(at(in, t), t); }));
}

TEST_F(Memory, LargeLocalArrays) {
  EXPECT_SAME(run("large_local_arrays", {.block = 64}, zeros<int>(64), 300), each<int>(64, [](int t) {
                int counts[128] = {};
                counts[t] = 1;
                std::uint32_t x = static_cast<std::uint32_t>(t) + 1;
                for (int i = 0; i < 300; ++i) ++counts[(x = x * 1664525u + 1013904223u) >> 25];
                const auto best = std::max_element(counts, counts + 128);
                return static_cast<int>(best - counts) * 1000 + *best;
              }));
}

TEST_F(Memory, SharedMemoryInPieces) {
  constexpr int n = 60;
  EXPECT_SAME(run("shared_memory_in_pieces", {.block = n, .shmem_size = n * 13}, zeros<double>(n), n),
              each<double>(n, [](int t) {
                int writer = 0;
                while (writer * 7 % n != t) ++writer;
                return (t + 1) % n * 0.5 + (n - 1 - t) * 100 + static_cast<signed char>(writer * 3) * 10000;
              }));
}

struct Quad {
  float x, y, z, w;
  bool operator==(const Quad&) const = default;
};
void PrintTo(const Quad& q, std::ostream* out) {
  *out << '(' << q.x << ", " << q.y << ", " << q.z << ", " << q.w << ')';
}

TEST_F(Memory, VectorsAndStructs) {
  const auto quads = [](int from) {
    return each<Quad>(64, [from](int i) {
      const auto value = [&](int k) {
        return static_cast<float>(scrambled(static_cast<std::uint32_t>(from + i * 4 + k)) % 100);
      };
      return Quad{value(0), value(1), value(2), value(3)};
    });
  };
  const auto in = quads(0), more = quads(1000);
  EXPECT_SAME(run("vectors_and_structs", {.block = 64}, zeros<Quad>(64), in, more), each<Quad>(64, [&](int t) {
                Quad q = at(in, t ^ 1);
                const Quad& v = at(more, t);
                if (t % 3 == 0) std::swap(q.x, q.w);
                if (t % 4 == 1) q = at(in, t / 2);
                return Quad{q.x + v.w, q.y - v.z, q.z * 2, q.w + static_cast<float>(t)};
              }));
}

TEST_F(Memory, StridesOfEveryKind) {
  constexpr int n = 500, threads = 96;
  const std::vector<int> in = scrambled_numbers(n, 1000);
  EXPECT_SAME(run("strides_of_every_kind", {.grid = 2, .block = 48}, zeros<int>(threads), in, std::int64_t{n}, 7),
              each<int>(threads, [&](int t) {
                int sum = 0;
                for (int i = n - 1 - t; i >= 0; i -= threads) sum += at(in, i);
                for (int i = t; i < n; i += 7) sum += at(in, i) * 3;
                for (int i = n; i > t && i - 5 >= 0; sum ^= at(in, i)) i -= 5;
                return sum;
              }));
}

/// A kernel that must stop with an error; the context is lost then, so each has a process of its own.
class Faults : public Memory {
 protected:
  Faults() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  /// Ends the process with the error's code, or 0.
  template <typename... Arguments>
  [[noreturn]] void end_with_error_of(const char* kernel, const Arguments&... arguments) {
    int error_code = 0;
    try {
      launch(stream, {.grid = 1, .block = 64}, code.get_kernel(kernel), arguments...);
      stream.sync();
    } catch (const DriverError& error) {
      std::fputs(error.what(), stderr);
      error_code = error.code();
    }
    std::_Exit(error_code == expected_code ? 0 : 1);
  }

  /// 64 addresses of integers, of which some are null.
  std::vector<int*> addresses(const Buffer& memory) const {
    return each<int*>(64, [&](int i) { return i % 20 == 13 ? nullptr : reinterpret_cast<int*>(memory.handle()) + i; });
  }

  int expected_code = CUDA_ERROR_ILLEGAL_ADDRESS;
};

TEST_F(Faults, AStoreThroughPointersThatAreNullInSomeThreads) {
  for (const char* kernel : {"store_by_pointers_of_a_table", "load_by_pointers_of_a_table", "atomic_on_null"}) {
    EXPECT_EXIT(
        {
          const Buffer memory = upload(zeros<int>(64), stream);
          const Buffer table = upload(addresses(memory), stream);
          end_with_error_of(kernel, table);
        },
        ::testing::ExitedWithCode(0), "CUDA_ERROR_ILLEGAL_ADDRESS")
        << kernel;
  }
}

TEST_F(Faults, AStoreToNullInOneThread) {
  EXPECT_EXIT(
      {
        const Buffer memory = upload(zeros<int>(64), stream);
        end_with_error_of("store_to_null_in_some_threads", memory, 41);
      },
      ::testing::ExitedWithCode(0), "CUDA_ERROR_ILLEGAL_ADDRESS");
}

TEST_F(Faults, AnAssertionThatFailsInOneThread) {
  expected_code = CUDA_ERROR_ASSERT;
  EXPECT_EXIT(
      {
        const Buffer values = upload(each<int>(64, [](int i) { return i; }), stream);
        end_with_error_of("assert_in_some_threads", values);
      },
      ::testing::ExitedWithCode(0), "CUDA_ERROR_ASSERT");
}

}  // namespace
}  // namespace cuprum::tests
