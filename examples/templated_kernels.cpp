// Kernels by their C++ names: templates, overloads and namespaces; variables by name; and the compiled code in a file.
#include <cuprum/cuprum.hpp>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
namespace image {
enum class Order { plain, reversed };

// One kernel per element type and order; the order is settled when it is compiled, and costs nothing when it runs.
template <typename T, Order order>
__global__ void copy(const T* from, T* to, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) to[order == Order::plain ? i : n - 1 - i] = from[i];
}

__constant__ int offset = 100;
__global__ void shift(int* data) { data[threadIdx.x] += offset; }
__global__ void shift(float* data) { data[threadIdx.x] += 0.5f; }
}
)";

// What we call the kernels, and what C++ calls them.
const std::unordered_map<std::string, std::string> names = {
    {"copy", "image::copy<int, image::Order::plain>"},
    {"reverse", "image::copy<int, image::Order::reversed>"},
    {"shift", "(void (*)(int*))image::shift"},  // a cast chooses among overloads
};

std::vector<int> contents(const Buffer& buffer, const Stream& stream) {
  std::vector<int> values(buffer.size() / sizeof(int));
  buffer.copy_to(std::span(values), stream);
  stream.sync();
  return values;
}

void example() {
  constexpr int n = 32;
  Device device;
  device.set_current();
  Stream stream = device.create_stream();

  CompileOptions options{.name_expressions = {"&image::offset"}};
  for (const auto& [ours, expression] : names) options.name_expressions.push_back(expression);
  const ObjectCode code = Program(source, {.name = "image.cu"}).compile(Target::cubin, options);
  std::cout << "kernels:\n";
  for (const std::string& name : code.kernel_names()) std::cout << "  " << name << '\n';

  std::vector<int> values(n);
  std::iota(values.begin(), values.end(), 0);
  Buffer from = device.allocate(n * sizeof(int), stream);
  Buffer to = device.allocate(n * sizeof(int), stream);
  from.copy_from(std::span(values), stream);

  launch(stream, {.grid = 1, .block = n}, code.get_kernel(names.at("reverse")), from, to, n);
  check(contents(to, stream).front() == n - 1, "an instance of a template, chosen by type and value");

  // A variable is a buffer. That the size is what we think is checked.
  const std::vector<int> offset = {1000};
  code.get_global("image::offset", sizeof(int)).copy_from(std::span(offset), stream);
  launch(stream, {.grid = 1, .block = n}, code.get_kernel(names.at("shift")), from);
  check(contents(from, stream).back() == 1000 + n - 1, "an overload, which reads a variable that we set");

  try {
    code.get_kernel("image::copy<int, image::Order::revresed>");
    check(false, "a name with a typing error is refused");
  } catch (const InvalidArgument& error) {
    std::cout << error.what() << '\n';
    check(std::string(error.what()).find("did you mean") != std::string::npos, "a name with a typing error is refused");
  }

  // The file has machine code and PTX; the C++ names are kept by whoever loads it.
  const std::string file =
      std::filesystem::temp_directory_path() / ("image-" + std::to_string(std::random_device()()) + ".fatbin");
  code.save(file);
  const ObjectCode loaded = ObjectCode::from_file(file, {.symbol_mapping = code.symbol_mapping()});
  std::filesystem::remove(file);
  launch(stream, {.grid = 1, .block = n}, loaded.get_kernel(names.at("copy")), from, to, n);
  check(contents(to, stream) == contents(from, stream), "the same kernels, loaded from a file");
}

}  // namespace

int main() { return run(example); }
