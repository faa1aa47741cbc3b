// The same kernels in OpenCL C, on the first OpenCL platform: on a machine without a GPU, PoCL.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdexcept>

#include "bench/kernels/contender.hpp"

namespace bench {
namespace {

const char* const source = R"(
kernel void saxpy(float factor, global const float* x, global float* y, ulong n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = factor * x[i] + y[i];
}

kernel void reduce(global const float* in, global float* out, ulong n) {
  local float partial[BLOCK];
  uint t = get_local_id(0);
  size_t i = get_group_id(0) * BLOCK * 2 + t;
  partial[t] = (i < n ? in[i] : 0.0f) + (i + BLOCK < n ? in[i + BLOCK] : 0.0f);
  for (uint half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < half_size) partial[t] += partial[t + half_size];
  }
  if (t == 0) out[get_group_id(0)] = partial[0];
}

kernel void multiply(global const float* a, global const float* b, global float* c, uint n) {
  local float tile_a[TILE][TILE], tile_b[TILE][TILE];
  uint tx = get_local_id(0), ty = get_local_id(1);
  uint row = get_group_id(1) * TILE + ty, column = get_group_id(0) * TILE + tx;
  float sum = 0;
  for (uint k = 0; k < n; k += TILE) {
    tile_a[ty][tx] = a[row * n + k + tx];
    tile_b[ty][tx] = b[(k + ty) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = 0; j < TILE; ++j) sum += tile_a[ty][j] * tile_b[j][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}

kernel void stencil(global const float* in, global float* out, uint n, float centre, float side) {
  uint x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  size_t i = (size_t)y * n + x;
  out[i] = centre * in[i] + side * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

kernel void smooth(global const float* from, global float* to, uint n) {
  uint i = get_global_id(0);
  to[i] = i == 0 || i == n - 1 ? from[i] : 0.5f * from[i] + 0.25f * (from[i - 1] + from[i + 1]);
}
)";

void check(cl_int code, const char* call) {
  if (code != CL_SUCCESS)
    throw std::runtime_error(std::string(call) + " failed with OpenCL error " + std::to_string(code));
}

template <typename... Arguments>
void set_arguments(cl_kernel kernel, const Arguments&... arguments) {
  cl_uint index = 0;
  (check(clSetKernelArg(kernel, index++, sizeof arguments, &arguments), "clSetKernelArg"), ...);
}

// Objects live as long as the process, which ends right after the measurements.
class OpenCl : public Contender {
 public:
  OpenCl() {
    cl_platform_id platform;
    check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "clGetDeviceIDs");
    cl_int code;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "clCreateContext");
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    check(code, "clCreateCommandQueue");
    const char* text = source;
    program_ = clCreateProgramWithSource(context_, 1, &text, nullptr, &code);
    check(code, "clCreateProgramWithSource");
    const std::string options = "-DBLOCK=" + std::to_string(reduction_block) + " -DTILE=" + std::to_string(tile);
    check(clBuildProgram(program_, 1, &device_, options.c_str(), nullptr, nullptr), "clBuildProgram");
    char name[256] = {};
    check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr), "clGetPlatformInfo");
    name_ = name == std::string("Portable Computing Language") ? "PoCL" : name;
    saxpy_ = kernel("saxpy");
    reduce_ = kernel("reduce");
    multiply_ = kernel("multiply");
    stencil_ = kernel("stencil");
    smooth_ = kernel("smooth");
  }

  std::string name() const override { return name_; }

  void load(const Inputs& inputs) override {
    x_ = upload(inputs.x);
    y_ = upload(inputs.y);
    partial_ = upload(std::vector<float>(vector_size / (2 * reduction_block)));
    partial2_ = upload(std::vector<float>(vector_size / (2 * reduction_block)));
    a_ = upload(inputs.a);
    b_ = upload(inputs.b);
    c_ = upload(std::vector<float>(matrix_side * matrix_side));
    grid_ = upload(inputs.grid);
    next_grid_ = upload(inputs.grid);
    smooth_a_ = upload(std::vector<float>(smooth_size));
    smooth_b_ = upload(std::vector<float>(smooth_size));
  }

  void run(Computation computation) override {
    const cl_uint n = matrix_side, m = grid_side;
    switch (computation) {
      case Computation::saxpy:
        set_arguments(saxpy_, saxpy_factor, x_, y_, cl_ulong{vector_size});
        enqueue(saxpy_, vector_size, 1, 256, 1);
        break;
      case Computation::reduction: reduce(); break;
      case Computation::matrix_product:
        set_arguments(multiply_, a_, b_, c_, n);
        enqueue(multiply_, matrix_side, matrix_side, tile, tile);
        break;
      case Computation::stencil:
        set_arguments(stencil_, grid_, next_grid_, m, stencil_centre, stencil_side);
        enqueue(stencil_, grid_side, grid_side, 64, 4);
        break;
      case Computation::smoothing: smooth(); break;
    }
    check(clFinish(queue_), "clFinish");
  }

  std::vector<float> result(Computation computation) override {
    switch (computation) {
      case Computation::saxpy: return download(y_, vector_size);
      case Computation::reduction: return download(sum_, 1);
      case Computation::matrix_product: return download(c_, matrix_side * matrix_side);
      case Computation::stencil: return download(next_grid_, grid_side * grid_side);
      case Computation::smoothing: return download(smooth_a_, smooth_size);
    }
    return {};
  }

 private:
  void reduce() {
    cl_mem from = x_, to = partial_;
    for (std::size_t n = vector_size; n > 1;) {
      const std::size_t blocks = (n + 2 * reduction_block - 1) / (2 * reduction_block);
      set_arguments(reduce_, from, to, cl_ulong{n});
      enqueue(reduce_, blocks * reduction_block, 1, reduction_block, 1);
      sum_ = from = to;
      to = to == partial_ ? partial2_ : partial_;
      n = blocks;
    }
  }

  // OpenCL has no barrier of the grid: a launch for each pass.
  void smooth() {
    cl_mem from = x_;
    for (unsigned pass = 0; pass < smooth_passes; ++pass) {
      cl_mem to = pass % 2 == 0 ? smooth_b_ : smooth_a_;
      set_arguments(smooth_, from, to, static_cast<cl_uint>(smooth_size));
      enqueue(smooth_, smooth_size, 1, 256, 1);
      from = to;
    }
  }

  cl_kernel kernel(const char* name) {
    cl_int code;
    cl_kernel made = clCreateKernel(program_, name, &code);
    check(code, name);
    return made;
  }

  void enqueue(cl_kernel kernel, std::size_t x, std::size_t y, std::size_t block_x, std::size_t block_y) {
    const std::size_t global[] = {x, y}, local[] = {block_x, block_y};
    check(clEnqueueNDRangeKernel(queue_, kernel, y > 1 ? 2 : 1, nullptr, global, local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
  }

  cl_mem upload(std::vector<float> values) {
    cl_int code;
    cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(float),
                                   values.data(), &code);
    check(code, "clCreateBuffer");
    return buffer;
  }

  std::vector<float> download(cl_mem buffer, std::size_t count) {
    std::vector<float> values(count);
    check(clEnqueueReadBuffer(queue_, buffer, CL_TRUE, 0, count * sizeof(float), values.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return values;
  }

  std::string name_;
  cl_device_id device_;
  cl_context context_;
  cl_command_queue queue_;
  cl_program program_;
  cl_kernel saxpy_, reduce_, multiply_, stencil_, smooth_;
  cl_mem x_, y_, partial_, partial2_, a_, b_, c_, grid_, next_grid_, smooth_a_, smooth_b_, sum_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> make_opencl_contender() { return std::make_unique<OpenCl>(); }

}  // namespace bench
