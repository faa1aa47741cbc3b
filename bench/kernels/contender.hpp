// Five computations and whoever can do them. main.cpp gives all contenders the same inputs, compares their results and
// times them in turn.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t vector_size = std::size_t{1} << 24;  // saxpy and reduction
inline constexpr std::size_t matrix_side = 1024;                  // matrix product
inline constexpr std::size_t grid_side = 4096;                    // stencil

inline constexpr std::size_t reduction_block = 256;  // threads; each block adds up twice as many elements
inline constexpr std::size_t tile = 16;              // threads per side of a block in the matrix product

// Smoothing: each pass halves an element and adds a quarter of its neighbours; the ends stay as they are. On CUDA all
// passes are one cooperative launch, with a barrier of the grid between them.
inline constexpr std::size_t smooth_size = std::size_t{1} << 20;
inline constexpr unsigned smooth_passes = 8, smooth_blocks = 16;

inline constexpr float saxpy_factor = 2.5f;
inline constexpr float stencil_centre = 0.5f, stencil_side = 0.125f;

enum class Computation { saxpy, reduction, matrix_product, stencil, smoothing };
inline constexpr std::array all_computations = {Computation::saxpy, Computation::reduction, Computation::matrix_product,
                                                Computation::stencil, Computation::smoothing};

/// Values are small whole numbers, so that sums are exact in any order and results can be compared for equality.
struct Inputs {
  std::vector<float> x, y;  ///< vector_size: y becomes factor * x + y; x is added up, its start is smoothed
  std::vector<float> a, b;  ///< matrix_side squared: a * b
  std::vector<float> grid;  ///< grid_side squared; its border stays as it is
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  /// Puts the inputs where the computations find them, and forgets earlier results.
  virtual void load(const Inputs& inputs) = 0;
  /// Does one computation and returns when it is done.
  virtual void run(Computation computation) = 0;
  /// What the last run of this computation gave.
  virtual std::vector<float> result(Computation computation) = 0;
};

std::unique_ptr<Contender> make_openmp_contender();
std::unique_ptr<Contender> make_cuprum_contender();
std::unique_ptr<Contender> make_opencl_contender();

}  // namespace bench
