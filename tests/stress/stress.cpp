// Threads that allocate, copy, launch, record and close, all at once, and check what they get.
//
//   stress [--threads N] [--seconds S] [--seed K]
//
// Exits with 0 when every result was right and nothing is left alive. Meant for ThreadSanitizer, and for machines with
// a GPU: CUPRUM_DRIVER chooses the driver.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuprum/cuprum.hpp>
#include <exception>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

namespace {

using namespace cuprum;
using Clock = std::chrono::steady_clock;

const char* const source = R"(
extern "C" __global__ void add(int* data, int value, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) data[i] += value;
}
)";

struct Options {
  int threads = 8;
  int seconds = 5;
  unsigned seed = 1;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const int value = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--threads") == 0) options.threads = value;
    if (std::strcmp(argv[i], "--seconds") == 0) options.seconds = value;
    if (std::strcmp(argv[i], "--seed") == 0) options.seed = static_cast<unsigned>(value);
  }
  return options;
}

/// What all threads use at the same time.
struct Common {
  Device device{0};
  ObjectCode code = Program(source).compile(Target::cubin);
  Kernel add = code.get_kernel("add");
  Stream stream = device.create_stream();  ///< that everybody also queues work on
  DeviceMemoryResource pool{device};
  PinnedMemoryResource pinned;
};

void require(bool condition, const char* what) {
  if (!condition) throw std::runtime_error(what);
}

/// One thread's work: small rounds, each of a random kind.
class Worker {
 public:
  Worker(const Common& common, unsigned seed) : common_(common), random_(seed) {}

  void round() {
    switch (random_() % 6) {
      case 0: return compute();
      case 1: return hand_over();
      case 2: return prepared();
      case 3: return crowd();
      case 4: return open_and_close();
      default: return new_kernel();
    }
  }

 private:
  int some(int most) { return 1 + static_cast<int>(random_() % static_cast<unsigned>(most)); }

  static LaunchConfig covering(int n) { return {.grid = ceil_div(n, 128), .block = 128}; }

  std::vector<int> numbers(int n) {
    std::vector<int> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), some(1000));
    return values;
  }

  static void require_sum(const std::vector<int>& result, const std::vector<int>& start, int added, const char* what) {
    for (std::size_t i = 0; i < start.size(); ++i) require(result[i] == start[i] + added, what);
  }

  /// Up, a kernel, down.
  void compute() {
    const int n = some(5000);
    const std::vector<int> start = numbers(n);
    Stream stream = common_.device.create_stream();
    Buffer data = common_.device.allocate(start.size() * sizeof(int), stream);
    data.copy_from(std::span(start), stream);
    launch(stream, covering(n), common_.add, data, 7, n);
    std::vector<int> result(start.size());
    data.copy_to(std::span(result), stream);
    stream.sync();
    require_sum(result, start, 7, "a kernel's result is wrong");
  }

  /// From one stream to another and back through pinned memory, ordered by events.
  void hand_over() {
    const int n = some(2000);
    const std::vector<int> start = numbers(n);
    const std::size_t bytes = start.size() * sizeof(int);
    Stream first = common_.device.create_stream();
    Stream second = common_.device.create_stream();
    Buffer data = common_.pool.allocate(bytes, first);
    Buffer host = common_.pinned.allocate(bytes, second);
    data.copy_from(std::span(start), first);
    launch(first, covering(n), common_.add, data, 1, n);
    second.wait(first.record());
    launch(second, covering(n), common_.add, data, 2, n);
    host.copy_from(data, second);
    Event done = second.record();
    first.wait(done);  // the buffer is freed on `first`
    done.sync();
    const std::span<int> values = host.as_span<int>();
    require_sum({values.begin(), values.end()}, start, 3, "work on two streams was out of order");
  }

  void prepared() {
    const int n = some(500);
    const std::vector<int> start = numbers(n);
    Stream stream = common_.device.create_stream();
    Buffer data = common_.device.allocate(start.size() * sizeof(int), stream);
    data.copy_from(std::span(start), stream);
    PreparedLaunch step = prepare(stream, covering(n), common_.add, data, 0, n);
    int added = 0;
    for (int i = 0; i < 10; ++i) {
      step.set<1>(i);
      step();
      added += i;
    }
    std::vector<int> result(start.size());
    data.copy_to(std::span(result), stream);
    stream.sync();
    require_sum(result, start, added, "a prepared launch had other arguments");
  }

  /// On the stream that all threads share.
  void crowd() {
    const int n = some(300);
    Buffer data = common_.device.allocate(static_cast<std::size_t>(n) * sizeof(int), common_.stream);
    data.fill<int>(5, common_.stream);
    launch(common_.stream, covering(n), common_.add, data, 6, n);
    std::vector<int> result(static_cast<std::size_t>(n));
    data.copy_to(std::span(result), common_.stream);
    common_.stream.record().sync();
    require_sum(result, std::vector<int>(result.size(), 5), 6, "a crowded stream lost work");
  }

  /// Handles that are closed while others are still in use.
  void open_and_close() {
    Stream stream = common_.device.create_stream({.nonblocking = some(2) == 1});
    Stream copy = stream;
    Event event = stream.record({.timing_enabled = true});
    Buffer buffer = common_.device.allocate(static_cast<std::size_t>(some(1 << 16)), stream);
    buffer.fill<std::uint8_t>(1, stream);
    if (some(2) == 1) buffer.close();
    if (some(2) == 1) event.close();
    stream.close();
    bool refused = false;
    try {
      copy.sync();
    } catch (const InvalidArgument&) {
      refused = true;
    }
    require(refused, "a closed stream was used");
  }

  void new_kernel() {
    Kernel add = common_.code.get_kernel("add");
    TypedKernel<void(int*, int, int)> typed(add);
    const Buffer data = common_.device.allocate(4, common_.stream);
    launch(common_.stream, {.grid = 1, .block = 1}, typed, data, 1, 1);
  }

  const Common& common_;
  std::minstd_rand random_;
};

int run(const Options& options) {
  std::atomic<long> rounds{0};
  std::atomic<bool> failed{false};
  {
    const Common common;
    const Clock::time_point end = Clock::now() + std::chrono::seconds(options.seconds);
    std::vector<std::thread> threads;
    for (int i = 0; i < options.threads; ++i) {
      threads.emplace_back([&, i] {
        try {
          Worker worker(common, options.seed * 1000 + static_cast<unsigned>(i));
          for (; Clock::now() < end && !failed; ++rounds) worker.round();
        } catch (const std::exception& error) {
          if (!failed.exchange(true)) std::fprintf(stderr, "thread %d: %s\n", i, error.what());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    common.device.sync();
  }
  const std::size_t left = live_objects().total();
  std::printf("%d threads, %d s: %ld rounds, %zu objects left\n", options.threads, options.seconds, rounds.load(),
              left);
  return failed || left != 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) try { return run(parse(argc, argv)); } catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
