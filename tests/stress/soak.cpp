// Allocates, launches and records again and again; the process must not grow.
//
//   soak [COUNT]
//
// Does COUNT allocations, COUNT launches and COUNT event records (with as many new events). Memory is looked at after a
// tenth of them, when all caches are filled, and at the end.
#include <cstdio>
#include <cstdlib>
#include <cuprum/cuprum.hpp>
#include <exception>
#include <fstream>
#include <string>

namespace {

using namespace cuprum;

const char* const source = R"(
extern "C" __global__ void count(unsigned* counter, unsigned by) { atomicAdd(counter, by); }
)";

/// Bytes of this process that are in memory.
long resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    long kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  throw std::runtime_error("/proc/self/status has no VmRSS");
}

class Soak {
 public:
  /// `count` of each; waits now and then, so that no queue grows without bound.
  void run(long count) {
    for (long i = 1; i <= count; ++i) {
      Buffer scratch = device_.allocate(static_cast<std::size_t>(64 + i % 5 * 1000), stream_);
      launch(stream_, {.grid = 1, .block = 1}, count_, counter_, 1u);
      Event event = stream_.record({.timing_enabled = i % 2 == 0});
      if (i % 500 == 0) event.sync();
    }
    done_ += count;
    stream_.sync();
  }

  bool counted_right() {
    unsigned counted = 0;
    counter_.copy_to(std::span(&counted, 1), stream_);
    stream_.sync();
    return counted == static_cast<unsigned>(done_);
  }

  Soak() { counter_.fill<unsigned>(0u, stream_); }

 private:
  Device device_{0};
  Stream stream_ = device_.create_stream();
  Kernel count_ = Program(source).compile(Target::cubin).get_kernel("count");
  Buffer counter_ = device_.allocate(sizeof(unsigned), stream_);
  long done_ = 0;
};

int soak(long count) {
  constexpr long allowed_growth = 4 << 20;  // of the C library's own, by the way it splits its memory
  Soak soak;
  soak.run(count / 10);
  const long before = resident_bytes();
  const LiveObjects objects = live_objects();
  soak.run(count - count / 10);
  const long after = resident_bytes();
  const bool right = soak.counted_right();
  const bool flat = after - before < allowed_growth;
  std::printf(
      "%ld allocations, launches and events: resident %.1f MiB after a tenth, %.1f MiB at the end; objects %zu, "
      "%zu%s\n",
      count, static_cast<double>(before) / 1048576, static_cast<double>(after) / 1048576, objects.total(),
      live_objects().total(), right ? "" : "; some launches did not run");
  return right && flat && live_objects() == objects ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const int result = soak(argc > 1 ? std::atol(argv[1]) : 1000000);
  return live_objects() == LiveObjects{} ? result : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
