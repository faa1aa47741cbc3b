// Matrices, stencils and fields: tiles in shared memory, blocks of two and three dimensions.
#include <algorithm>
#include <utility>

#include "kernels/fixture.hpp"

namespace cuprum::tests {
namespace {

constexpr const char* source = R"(
KERNEL(transpose)(int* out, const int* in, int width, int height) {
  __shared__ int tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = 0; k < 16; k += blockDim.y)
    if (x < width && y + k < height) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  for (int k = 0; k < 16; k += blockDim.y)
    if (x < height && y + k < width) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

KERNEL(matrix_product)(float* out, const float* a, const float* b, int n) {
  __shared__ float left[8][8], right[8][8];
  int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * 8 + x, row = blockIdx.y * 8 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 8) {
    left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0;
    right[y][x] = column < n && k + y < n ? b[(k + y) * n + column] : 0;
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += left[y][i] * right[i][x];
    __syncthreads();
  }
  if (row < n && column < n) out[row * n + column] = sum;
}

KERNEL(stencil)(int* out, const int* in, int nx, int ny, int nz) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y, z = threadIdx.z + blockIdx.z * blockDim.z;
  if (x >= nx || y >= ny || z >= nz) return;
  auto at = [&](int i, int j, int k) {
    return i < 0 || i >= nx || j < 0 || j >= ny || k < 0 || k >= nz ? 0 : in[(k * ny + j) * nx + i];
  };
  out[(z * ny + y) * nx + x] = 6 * at(x, y, z) - at(x - 1, y, z) - at(x + 1, y, z) - at(x, y - 1, z) - at(x, y + 1, z) -
                               at(x, y, z - 1) - at(x, y, z + 1);
}

// A row with a halo in shared memory, which the first threads load.
KERNEL(blur)(int* out, const int* in, int n) {
  __shared__ int cells[64 + 6];
  int t = threadIdx.x, i = t + blockIdx.x * 64;
  auto load = [&](int k) { return in[k < 0 ? 0 : k >= n ? n - 1 : k]; };
  cells[t + 3] = load(i);
  if (t < 3) { cells[t] = load(i - 3); cells[64 + 3 + t] = load(i + 64); }
  __syncthreads();
  int sum = 0;
  for (int k = -3; k <= 3; ++k) sum += cells[t + 3 + k] * (4 - abs(k));
  if (i < n) out[i] = sum;
}

KERNEL(game_of_life)(uint8_t* cells, int width, int height, int rounds) {
  __shared__ uint8_t now[2][24 * 24];
  int x = threadIdx.x, y = threadIdx.y, side = 0;
  now[0][y * width + x] = cells[y * width + x];
  __syncthreads();
  for (int r = 0; r < rounds; ++r, side ^= 1) {
    int count = 0;
    for (int dy = -1; dy <= 1; ++dy)
      for (int dx = -1; dx <= 1; ++dx)
        if (dx || dy) count += now[side][(y + dy + height) % height * width + (x + dx + width) % width];
    now[side ^ 1][y * width + x] = count == 3 || (count == 2 && now[side][y * width + x]);
    __syncthreads();
  }
  cells[y * width + x] = now[side][y * width + x];
}

KERNEL(floyd_warshall)(int* distance, int n) {
  for (int k = 0; k < n; ++k) {
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
      int through = distance[i / n * n + k] + distance[k * n + i % n];
      if (through < distance[i]) distance[i] = through;
    }
    __syncthreads();
  }
}

KERNEL(edit_distance)(int* out, const char* a, int na, const char* b, int nb) {
  // Along the diagonals, of which three are kept.
  __shared__ int diagonals[3][65];
  int i = threadIdx.x;
  for (int d = 0; d <= na + nb; ++d) {
    int* now = diagonals[d % 3];
    const int *last = diagonals[(d + 2) % 3], *before = diagonals[(d + 1) % 3];
    int j = d - i;
    if (i <= na && j >= 0 && j <= nb) {
      int v;
      if (i == 0) v = j;
      else if (j == 0) v = i;
      else v = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
      now[i] = v;
    }
    __syncthreads();
  }
  if (i == na) *out = diagonals[(na + nb) % 3][na];
}

KERNEL(max_pool)(int* out, const int* in, int width, int height) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (2 * x >= width || 2 * y >= height) return;
  int best = in[2 * y * width + 2 * x];
  if (2 * x + 1 < width) best = max(best, in[2 * y * width + 2 * x + 1]);
  if (2 * y + 1 < height) {
    best = max(best, in[(2 * y + 1) * width + 2 * x]);
    if (2 * x + 1 < width) best = max(best, in[(2 * y + 1) * width + 2 * x + 1]);
  }
  out[y * ((width + 1) / 2) + x] = best;
}

// The number theoretic Fourier transform: exact, modulo 257.
KERNEL(fourier_transform)(int* data, int n, int root) {
  extern __shared__ int cells[];
  int t = threadIdx.x, bits = 31 - __clz(n);
  for (int i = t; i < n; i += blockDim.x) cells[__brev(i) >> (32 - bits)] = data[i];
  __syncthreads();
  for (int half = 1; half < n; half *= 2) {
    int w = root;
    for (int k = n / 2; k > half; k /= 2) w = w * w % 257;
    int k = t % half, a = t / half * 2 * half + k, factor = 1;
    for (int e = k; e > 0; --e) factor = factor * w % 257;
    int x = cells[a], y = cells[a + half] * factor % 257;
    cells[a] = (x + y) % 257;
    cells[a + half] = (x + 257 - y) % 257;
    __syncthreads();
  }
  for (int i = t; i < n; i += blockDim.x) data[i] = cells[i];
}
)";

class Grids : public KernelsTest {
 protected:
  Grids() : KernelsTest(source) {}
};

TEST_F(Grids, Transposition) {
  constexpr int width = 50, height = 37;
  const std::vector<int> in = scrambled_numbers(width * height, 10000);
  EXPECT_SAME(run("transpose", {.grid = {4, 3}, .block = {16, 4}}, zeros<int>(width * height), in, width, height),
              each<int>(width * height, [&](int i) { return at(in, i % height * width + i / height); }));
}

TEST_F(Grids, MatrixProducts) {
  constexpr int n = 21;
  const auto small = [](int i) { return static_cast<float>(scrambled(static_cast<std::uint32_t>(i)) % 16); };
  const auto a = each<float>(n * n, small), b = each<float>(n * n, [&](int i) { return small(i + 999); });
  EXPECT_SAME(run("matrix_product", {.grid = {3, 3}, .block = {8, 8}}, zeros<float>(n * n), a, b, n),
              each<float>(n * n, [&](int i) {
                float sum = 0;
                for (int k = 0; k < n; ++k) sum += at(a, i / n * n + k) * at(b, k * n + i % n);
                return sum;
              }));
}

TEST_F(Grids, AStencilInThreeDimensions) {
  constexpr int nx = 13, ny = 9, nz = 7;
  const std::vector<int> in = scrambled_numbers(nx * ny * nz, 1000);
  const auto value = [&](int x, int y, int z) {
    return x < 0 || x >= nx || y < 0 || y >= ny || z < 0 || z >= nz ? 0 : at(in, (z * ny + y) * nx + x);
  };
  EXPECT_SAME(run("stencil", {.grid = {2, 3, 2}, .block = {8, 4, 4}}, zeros<int>(nx * ny * nz), in, nx, ny, nz),
              each<int>(nx * ny * nz, [&](int i) {
                const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
                return 6 * value(x, y, z) - value(x - 1, y, z) - value(x + 1, y, z) - value(x, y - 1, z) -
                       value(x, y + 1, z) - value(x, y, z - 1) - value(x, y, z + 1);
              }));
}

TEST_F(Grids, AHaloInSharedMemory) {
  constexpr int n = 150;
  const std::vector<int> in = scrambled_numbers(n, 100);
  EXPECT_SAME(run("blur", {.grid = 3, .block = 64}, zeros<int>(n), in, n), each<int>(n, [&](int i) {
                int sum = 0;
                for (int k = -3; k <= 3; ++k) sum += at(in, std::clamp(i + k, 0, n - 1)) * (4 - std::abs(k));
                return sum;
              }));
}

TEST_F(Grids, TheGameOfLife) {
  constexpr int width = 20, height = 15;
  auto cells =
      each<std::uint8_t>(width * height, [](int i) { return scrambled(static_cast<std::uint32_t>(i)) % 3 == 0; });
  const auto found = run("game_of_life", {.block = {width, height}}, cells, width, height, 6);
  for (int round = 0; round < 6; ++round) {
    cells = each<std::uint8_t>(width * height, [&](int i) {
      int count = 0;
      for (int d = 0; d < 9; ++d) {
        const int x = (i % width + d % 3 - 1 + width) % width, y = (i / width + d / 3 - 1 + height) % height;
        count += d == 4 ? 0 : at(cells, y * width + x);
      }
      return count == 3 || (count == 2 && at(cells, i) == 1);
    });
  }
  EXPECT_SAME(found, cells);
}

TEST_F(Grids, ShortestPathsOfAllPairs) {
  constexpr int n = 20;
  auto distance = each<int>(n * n, [](int i) {
    return i / n == i % n ? 0
           : scrambled(static_cast<std::uint32_t>(i)) % 5 == 0
               ? static_cast<int>(scrambled(static_cast<std::uint32_t>(i) + 9) % 50 + 1)
               : 100000;
  });
  const std::vector<int> found = run("floyd_warshall", {.block = 128}, distance, n);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n * n; ++i)
      at(distance, i) = std::min(at(distance, i), at(distance, i / n * n + k) + at(distance, k * n + i % n));
  EXPECT_SAME(found, distance);
}

TEST_F(Grids, EditDistances) {
  const std::string a = "intention and execution of kernels", b = "execution without any intention";
  const auto na = static_cast<int>(a.size()), nb = static_cast<int>(b.size());
  std::vector<int> row(b.size() + 1);
  for (int j = 0; j <= nb; ++j) at(row, j) = j;
  for (int i = 1; i <= na; ++i) {
    int diagonal = std::exchange(row[0], i);
    for (int j = 1; j <= nb; ++j) {
      const int both = diagonal + (a[i - 1] != b[j - 1] ? 1 : 0);
      diagonal = at(row, j);
      at(row, j) = std::min({at(row, j - 1) + 1, diagonal + 1, both});
    }
  }
  EXPECT_SAME(run("edit_distance", {.block = 64}, zeros<int>(1), std::vector<char>(a.begin(), a.end()), na,
                  std::vector<char>(b.begin(), b.end()), nb),
              std::vector{row.back()});
}

TEST_F(Grids, PoolsOfFour) {
  constexpr int width = 31, height = 17, out_width = 16, out_height = 9;
  const std::vector<int> in = scrambled_numbers(width * height, 10000);
  EXPECT_SAME(run("max_pool", {.grid = {2, 3}, .block = {8, 4}}, zeros<int>(out_width * out_height), in, width, height),
              each<int>(out_width * out_height, [&](int i) {
                int best = 0;
                for (int y = i / out_width * 2; y < std::min(i / out_width * 2 + 2, height); ++y)
                  for (int x = i % out_width * 2; x < std::min(i % out_width * 2 + 2, width); ++x)
                    best = std::max(best, at(in, y * width + x));
                return best;
              }));
}

TEST_F(Grids, AFourierTransform) {
  constexpr int n = 64, root = 81;  // 3 generates all of 1…256, and 81 = 3^4 has the order 64
  const std::vector<int> in = scrambled_numbers(n, 257);
  EXPECT_SAME(run("fourier_transform", {.block = n / 2, .shmem_size = n * sizeof(int)}, in, n, root),
              each<int>(n, [&](int i) {
                int sum = 0, factor = 1, step = 1;
                for (int k = 0; k < i; ++k) step = step * root % 257;
                for (int k = 0; k < n; ++k, factor = factor * step % 257) sum = (sum + at(in, k) * factor) % 257;
                return sum;
              }));
}

}  // namespace
}  // namespace cuprum::tests
