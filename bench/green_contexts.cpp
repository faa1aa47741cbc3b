// Two green contexts on disjoint halves of a device: what the work of one adds to the time of the other, against each
// half alone; and, to compare, two plain streams that share the whole device.
//
//   build/release/bin/bench_green_contexts
//
// On softgpu with fewer than 16 multiprocessors, SOFTGPU_MULTIPROCESSORS=16 (or more) makes two halves.
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <exception>
#include <vector>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;

const char* const source = R"(extern "C" __global__ void work(unsigned* out, unsigned rounds) {
  unsigned x = blockIdx.x;
  for (unsigned i = 0; i < rounds; ++i) x = (x ^ (x >> 15)) * 2246822519u + i;
  out[blockIdx.x] = x;
})";

struct Work {
  Kernel kernel;
  Buffer out;
  unsigned blocks = 0;

  void queue(const Stream& stream) const { launch(stream, {.grid = blocks, .block = 1}, kernel, out, 3'000u); }
};

struct Ratio {
  double alone = 0, together = 0;  ///< milliseconds
};

/// How long the work of one stream takes, alone and while the other stream has at least as much to do.
Ratio compare(const Stream& watched, const Stream& other, const Work& work, const Work& more) {
  std::vector<double> alone, together;
  for (int round = 0; round < 101; ++round) {
    alone.push_back(1e3 * bench::seconds([&] {
                      work.queue(watched);
                      watched.sync();
                    }));
    for (int i = 0; i < 2; ++i) more.queue(other);
    together.push_back(1e3 * bench::seconds([&] {
                         work.queue(watched);
                         watched.sync();
                       }));
    other.sync();
  }
  return {bench::median(alone), bench::median(together)};
}

void print(const char* what, const Ratio& ratio) {
  std::printf("%-32s %.2f (%.2f ms alone, %.2f ms beside the other)\n", what, ratio.together / ratio.alone, ratio.alone,
              ratio.together);
}

}  // namespace

int main() try {
  Device device;
  device.set_current();
  const SMResource all = device.resources().sm();
  const int half = all.sm_count() / 2 / all.coscheduled_alignment() * all.coscheduled_alignment();
  if (half < all.min_partition_size()) {
    std::printf("%d multiprocessors are too few for two halves; on softgpu, set SOFTGPU_MULTIPROCESSORS=16\n",
                all.sm_count());
    return 0;
  }
  const SMSplit split = all.split({.count = {half, half}});
  const Context left = device.create_context({.resources = {split.groups[0]}});
  const Context right = device.create_context({.resources = {split.groups[1]}});
  const Stream a = left.create_stream(), b = right.create_stream();
  const Stream plain_a = device.create_stream(), plain_b = device.create_stream();
  const Kernel kernel = Program(source).compile(Target::cubin).get_kernel("work");
  const unsigned blocks = 4 * static_cast<unsigned>(all.sm_count());
  const auto make = [&] { return Work{kernel, device.allocate<unsigned>(blocks, plain_a), blocks}; };
  const Work first = make(), second = make();
  for (const Stream& stream : {a, b, plain_a, plain_b}) {
    first.queue(stream);
    stream.sync();
  }
  std::printf("two halves of %d of %d multiprocessors\n", half, all.sm_count());
  print("green contexts, together/alone", compare(a, b, first, second));
  print("plain streams, together/alone", compare(plain_a, plain_b, first, second));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
