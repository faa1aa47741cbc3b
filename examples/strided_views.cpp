// Strided views: parts of an array without copying it, copies between layouts, and handing arrays to other libraries.
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>
#include <vector>

using namespace cuprum;

namespace {

int failures = 0;

void check(const char* what, bool holds) {
  std::cout << (holds ? "  ok  " : " FAIL ") << what << '\n';
  failures += !holds;
}

// A kernel that knows nothing of layouts but the two strides it is told.
constexpr const char* source = R"(
extern "C" __global__ void add_one(float* data, long long rows, long long columns, long long row_stride, long long column_stride) {
  long long i = threadIdx.y + (long long)blockIdx.y * blockDim.y;
  long long j = threadIdx.x + (long long)blockIdx.x * blockDim.x;
  if (i < rows && j < columns) data[i * row_stride + j * column_stride] += 1;
})";

}  // namespace

int main() {
  Device device;
  device.set_current();
  Stream stream = device.create_stream();

  // An image of 6 x 8 pixels on the host, and one on the device.
  std::vector<float> pixels(6 * 8);
  std::iota(pixels.begin(), pixels.end(), 0.0f);
  const auto host = StridedMemoryView::from_span(std::span(pixels), {6, 8});
  const auto image =
      StridedMemoryView::from_buffer<float>(device.allocate(pixels.size() * sizeof(float), stream), {6, 8});
  std::cout << image << '\n';
  image.copy_from(host, stream);

  // Every second column of the rows 1 to 3, upside down: the same memory, seen through another layout.
  const StridedMemoryView part = image.sliced({Slice{.start = 3, .stop = 0, .step = -1}, Slice{.step = 2}});
  std::cout << "a part of it: " << part.layout() << '\n';

  // A kernel works on the part through its pointer and strides.
  Kernel add_one = Program(source).compile(Target::cubin).get_kernel("add_one");
  launch(stream, {.grid = 1, .block = {8, 8}}, add_one, part.ptr(), static_cast<long long>(part.shape()[0]),
         static_cast<long long>(part.shape()[1]), static_cast<long long>(part.strides()[0]),
         static_cast<long long>(part.strides()[1]));

  // Copying packs it: the driver goes along the strides.
  std::vector<float> packed(3 * 4);
  part.copy_to(StridedMemoryView::from_span(std::span(packed), {3, 4}), stream);
  check("the first element of the part is row 3, column 0, plus one", packed[0] == 3 * 8 + 0 + 1);
  check("its last is row 1, column 6, plus one", packed[11] == 1 * 8 + 6 + 1);

  image.copy_to(host, stream);
  check("the pixels in between did not change", pixels[8 + 1] == 9.0f && pixels[0] == 0.0f);

  // Layouts are plain arithmetic.
  const StridedLayout layout = StridedLayout::dense({6, 8}, sizeof(float));
  check("a transposed matrix is contiguous in F order", layout.transposed().is_contiguous_f());
  check("blocks of 2 x 2 are a reshape and a permutation",
        layout.reshaped({3, 2, 4, 2}).permuted({0, 2, 1, 3}).offset_of({1, 1, 0, 0}) == 2 * 8 + 2);
  check("a row for every row takes no memory", layout[0].broadcast_to({1000, 8}).required_size_in_bytes() == 32);
  try {
    static_cast<void>(layout.transposed().reshaped({48}));
  } catch (const InvalidArgument& error) {
    std::cout << "what needs a copy is refused: " << error.what() << '\n';
  }

  // DLPack: what another library gets keeps the memory alive, and its stream waits for ours.
  Stream theirs = device.create_stream();
  DLPackTensorVersioned tensor =
      to_dlpack_versioned(part, {.stream = reinterpret_cast<std::intptr_t>(theirs.handle()), .producer = stream});
  const StridedMemoryView imported = from_dlpack(std::move(tensor));  // here, we are the other library too
  check("the imported view is of the same memory", imported.ptr() == part.ptr());

  return failures == 0 ? 0 : 1;
}
