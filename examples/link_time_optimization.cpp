// Link-time optimisation at run time: a library whose kernel calls a function that its user writes.
//
// The library is compiled long before the user's function is known. Linked as LTO-IR the two become one kernel, as if
// they had been written in one file; linked as PTX the call stays a call. Both draw a fractal here, of the user's
// choice.
#include <cuprum/cuprum.hpp>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

constexpr unsigned width = 64;
constexpr unsigned height = 24;

// The library's part: walks over the picture and asks the user's function for each point.
const char* const library_source = R"(
extern __device__ int steps_at(float x, float y);

extern "C" __global__ void draw(int* picture, unsigned width, unsigned height) {
  unsigned column = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned row = threadIdx.y + blockIdx.y * blockDim.y;
  if (column >= width || row >= height) return;
  float x = -2.2f + 3.2f * column / width;
  float y = -1.2f + 2.4f * row / height;
  picture[row * width + column] = steps_at(x, y);
}
)";

// The user's part, in two versions.
const char* const mandelbrot_source = R"(
__device__ int steps_at(float x, float y) {
  float a = 0, b = 0;
  int n = 0;
  for (; n < 50 && a * a + b * b < 4; ++n) {
    float next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  return n;
}
)";

const char* const circle_source = "__device__ int steps_at(float x, float y) { return x * x + y * y < 1 ? 50 : 0; }";

ObjectCode compile(const char* source, Target target) {
  ProgramOptions options;
  if (target != Target::ltoir) options.relocatable_device_code = true;  // LTO-IR always is
  return Program(source, options).compile(target);
}

/// The library, in a form that can be linked.
class Plotter {
 public:
  explicit Plotter(Target form) : form_(form), library_(compile(library_source, form)) {}

  std::vector<int> draw(const char* user_source) const {
    Linker linker({library_, compile(user_source, form_)}, {.link_time_optimization = form_ == Target::ltoir});
    const Kernel kernel = linker.link(Target::cubin).get_kernel("draw");
    Device device;
    Stream stream = device.create_stream();
    Buffer picture = device.allocate(width * height * sizeof(int), stream);
    launch(stream, {.grid = {ceil_div(width, 16u), ceil_div(height, 8u)}, .block = {16, 8}}, kernel, picture, width,
           height);
    std::vector<int> result(width * height);
    picture.copy_to(std::span(result), stream);
    stream.sync();
    return result;
  }

 private:
  Target form_;
  ObjectCode library_;
};

unsigned differences(const std::vector<int>& a, const std::vector<int>& b) {
  unsigned count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i];
  return count;
}

void print(const std::vector<int>& picture) {
  for (unsigned row = 0; row < height; ++row) {
    for (unsigned column = 0; column < width; ++column) std::cout << " .:-=+*#%@@"[picture[row * width + column] / 5];
    std::cout << '\n';
  }
}

void example() {
  Device().set_current();
  std::cout << "linked by " << Linker::which_backend() << '\n';
  const std::vector<int> linked = Plotter(Target::ptx).draw(mandelbrot_source);
  print(linked);
  check(linked[(height / 2) * width + 40] == 50, "the middle belongs to the Mandelbrot set");
  if (Linker::which_backend() != CompilerBackendType::nvjitlink) return;  // the driver's linker takes no LTO-IR

  const Plotter optimized(Target::ltoir);
  check(differences(optimized.draw(mandelbrot_source), linked) < width * height / 100,
        "link-time optimisation draws the same picture, but for rounding");
  const std::vector<int> circle = optimized.draw(circle_source);
  check(circle[(height / 2) * width + 44] == 50 && circle.front() == 0, "another function draws another picture");

  // What the optimiser made of the two: there is no call left.
  Linker to_ptx({compile(library_source, Target::ltoir), compile(circle_source, Target::ltoir)},
                {.link_time_optimization = true, .ptx = true});
  check(to_ptx.link(Target::ptx).code().find("call") == std::string_view::npos, "the function is part of the kernel");
}

}  // namespace

int main() { return run(example); }
