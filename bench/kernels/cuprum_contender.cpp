// The CUDA kernels, compiled at run time and launched on the driver that libcuprum chose.
#include <cuprum/cuprum.hpp>

#include "bench/kernels/contender.hpp"

namespace bench {
namespace {

using namespace cuprum;

const char* const source = R"(
#include <cooperative_groups.h>

extern "C" __global__ void saxpy(float factor, const float* x, float* y, size_t n) {
  size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = factor * x[i] + y[i];
}

extern "C" __global__ void reduce(const float* in, float* out, size_t n) {
  __shared__ float partial[BLOCK];
  unsigned t = threadIdx.x;
  size_t i = size_t(blockIdx.x) * BLOCK * 2 + t;
  partial[t] = (i < n ? in[i] : 0.0f) + (i + BLOCK < n ? in[i + BLOCK] : 0.0f);
  for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) out[blockIdx.x] = partial[0];
}

extern "C" __global__ void multiply(const float* a, const float* b, float* c, unsigned n) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  unsigned row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; k += TILE) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (unsigned j = 0; j < TILE; ++j) sum += tile_a[threadIdx.y][j] * tile_b[j][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

extern "C" __global__ void stencil(const float* in, float* out, unsigned n, float centre, float side) {
  unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  size_t i = size_t(y) * n + x;
  out[i] = centre * in[i] + side * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

extern "C" __global__ void smooth(const float* x, float* a, float* b, unsigned n, unsigned passes) {
  const float* from = x;
  for (unsigned pass = 0; pass < passes; ++pass) {
    float* to = pass % 2 == 0 ? b : a;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
      to[i] = i == 0 || i == n - 1 ? from[i] : 0.5f * from[i] + 0.25f * (from[i - 1] + from[i + 1]);
    cooperative_groups::this_grid().sync();
    from = to;
  }
}
)";

class Cuprum : public Contender {
 public:
  std::string name() const override { return device_.name(); }

  void load(const Inputs& inputs) override {
    upload(inputs.x, x_);
    upload(inputs.y, y_);
    upload(inputs.a, a_);
    upload(inputs.b, b_);
    upload(inputs.grid, grid_);
    upload(inputs.grid, next_grid_);
    stream_.sync();
  }

  void run(Computation computation) override {
    constexpr unsigned n = matrix_side, m = grid_side;
    switch (computation) {
      case Computation::saxpy:
        launch(stream_, {.grid = ceil_div(vector_size, 256), .block = 256}, saxpy_, saxpy_factor, x_, y_, vector_size);
        break;
      case Computation::reduction: reduce(); break;
      case Computation::matrix_product:
        launch(stream_, {.grid = {n / tile, n / tile}, .block = {tile, tile}}, multiply_, a_, b_, c_, n);
        break;
      case Computation::stencil:
        launch(stream_, {.grid = {m / 64, m / 4}, .block = {64, 4}}, stencil_, grid_, next_grid_, m, stencil_centre,
               stencil_side);
        break;
      case Computation::smoothing:
        launch(stream_, {.grid = smooth_blocks, .block = 256, .is_cooperative = true}, smooth_, x_, smooth_a_,
               smooth_b_, static_cast<unsigned>(smooth_size), smooth_passes);
        break;
    }
    stream_.sync();
  }

  std::vector<float> result(Computation computation) override {
    switch (computation) {
      case Computation::saxpy: return download(y_, vector_size);
      case Computation::reduction: return download(*sum_, 1);
      case Computation::matrix_product: return download(c_, matrix_side * matrix_side);
      case Computation::stencil: return download(next_grid_, grid_side * grid_side);
      case Computation::smoothing: return download(smooth_a_, smooth_size);
    }
    return {};
  }

 private:
  // Each launch leaves a 512th as many sums, until there is one.
  void reduce() {
    Buffer* from = &x_;
    Buffer* to = &partial_;
    for (std::size_t n = vector_size; n > 1;) {
      const std::size_t blocks = ceil_div(n, 2 * reduction_block);
      launch(stream_, {.grid = blocks, .block = reduction_block}, reduce_, *from, *to, n);
      sum_ = to;
      from = to;
      to = to == &partial_ ? &partial2_ : &partial_;
      n = blocks;
    }
  }

  Buffer allocate(std::size_t floats) { return device_.allocate(floats * sizeof(float), stream_); }

  void upload(const std::vector<float>& values, Buffer& buffer) { buffer.copy_from(std::span(values), stream_); }

  std::vector<float> download(Buffer& buffer, std::size_t count) {
    std::vector<float> values(buffer.size() / sizeof(float));
    buffer.copy_to(std::span(values), stream_);
    stream_.sync();
    values.resize(count);
    return values;
  }

  static Program program() {
    return Program(
        source,
        {.std = "c++17", .define_macro = {{"BLOCK", std::to_string(reduction_block)}, {"TILE", std::to_string(tile)}}});
  }

  Device device_;
  Stream stream_ = device_.create_stream();
  ObjectCode code_ = program().compile(Target::cubin);
  Kernel saxpy_ = code_.get_kernel("saxpy");
  Kernel reduce_ = code_.get_kernel("reduce");
  Kernel multiply_ = code_.get_kernel("multiply");
  Kernel stencil_ = code_.get_kernel("stencil");
  Kernel smooth_ = code_.get_kernel("smooth");
  Buffer x_ = allocate(vector_size), y_ = allocate(vector_size);
  Buffer partial_ = allocate(vector_size / (2 * reduction_block)),
         partial2_ = allocate(vector_size / (2 * reduction_block));
  Buffer a_ = allocate(matrix_side * matrix_side), b_ = allocate(matrix_side * matrix_side);
  Buffer c_ = allocate(matrix_side * matrix_side);
  Buffer grid_ = allocate(grid_side * grid_side), next_grid_ = allocate(grid_side * grid_side);
  Buffer smooth_a_ = allocate(smooth_size), smooth_b_ = allocate(smooth_size);
  Buffer* sum_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> make_cuprum_contender() { return std::make_unique<Cuprum>(); }

}  // namespace bench
