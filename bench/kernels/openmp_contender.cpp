// The baseline: loops as a C++ programmer would write them, parallel and vectorised by the compiler.
#include <algorithm>

#include "bench/kernels/contender.hpp"

namespace bench {
namespace {

void saxpy(float factor, const float* x, float* y, std::size_t n) {
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 0; i < n; ++i) y[i] = factor * x[i] + y[i];
}

float sum(const float* x, std::size_t n) {
  float total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
  for (std::size_t i = 0; i < n; ++i) total += x[i];
  return total;
}

void matrix_product(const float* a, const float* b, float* c, std::size_t n) {
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < n; ++row) {
    std::fill_n(c + row * n, n, 0.0f);
    for (std::size_t k = 0; k < n; ++k) {
      const float factor = a[row * n + k];
#pragma omp simd
      for (std::size_t column = 0; column < n; ++column) c[row * n + column] += factor * b[k * n + column];
    }
  }
}

void stencil(const float* in, float* out, std::size_t n) {
#pragma omp parallel for schedule(static)
  for (std::size_t y = 1; y < n - 1; ++y)
#pragma omp simd
    for (std::size_t x = 1; x < n - 1; ++x) {
      const std::size_t i = y * n + x;
      out[i] = stencil_centre * in[i] + stencil_side * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    }
}

void smooth(const float* in, float* out, std::size_t n) {
  out[0] = in[0];
  out[n - 1] = in[n - 1];
#pragma omp parallel for simd schedule(static)
  for (std::size_t i = 1; i < n - 1; ++i) out[i] = 0.5f * in[i] + 0.25f * (in[i - 1] + in[i + 1]);
}

class OpenMp : public Contender {
 public:
  std::string name() const override { return "OpenMP"; }

  void load(const Inputs& inputs) override {
    inputs_ = inputs;
    product_.assign(matrix_side * matrix_side, 0.0f);
    next_grid_ = inputs.grid;
    smooth_.assign(smooth_size, 0.0f);
    smooth2_.assign(smooth_size, 0.0f);
  }

  void run(Computation computation) override {
    switch (computation) {
      case Computation::saxpy: saxpy(saxpy_factor, inputs_.x.data(), inputs_.y.data(), vector_size); break;
      case Computation::reduction: sum_ = sum(inputs_.x.data(), vector_size); break;
      case Computation::matrix_product:
        matrix_product(inputs_.a.data(), inputs_.b.data(), product_.data(), matrix_side);
        break;
      case Computation::stencil: stencil(inputs_.grid.data(), next_grid_.data(), grid_side); break;
      case Computation::smoothing: {
        const float* from = inputs_.x.data();
        for (unsigned pass = 0; pass < smooth_passes; ++pass) {
          float* to = pass % 2 == 0 ? smooth2_.data() : smooth_.data();
          smooth(from, to, smooth_size);
          from = to;
        }
        break;
      }
    }
  }

  std::vector<float> result(Computation computation) override {
    switch (computation) {
      case Computation::saxpy: return inputs_.y;
      case Computation::reduction: return {sum_};
      case Computation::matrix_product: return product_;
      case Computation::stencil: return next_grid_;
      case Computation::smoothing: return smooth_;
    }
    return {};
  }

 private:
  Inputs inputs_;
  float sum_ = 0;
  std::vector<float> product_, next_grid_, smooth_, smooth2_;
};

}  // namespace

std::unique_ptr<Contender> make_openmp_contender() { return std::make_unique<OpenMp>(); }

}  // namespace bench
