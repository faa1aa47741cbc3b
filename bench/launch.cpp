// What a launch costs: cuprum::launch against the bare cuLaunchKernelEx, with no and with five arguments; and the time
// from a launch until sync returns.
//
//   build/release/bin/bench_launch
//
// The kernels do nothing, on one block. CUPRUM_DRIVER chooses the driver.
#include <cstdio>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <exception>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;

const char* const source = R"(
extern "C" __global__ void no_arguments() {}
extern "C" __global__ void five_arguments(float* data, float factor, int count, double offset, size_t n) {
  if (n == 0) data[count] = factor + offset;  // never: keeps the parameters in use
}
)";

constexpr int launches = 200;  // in a row; few enough that no driver's queue is full
constexpr int rounds = 301;

class LaunchBench {
 public:
  void run() {
    std::printf("%s, median of %d rounds\n", device_.name().c_str(), rounds);
    std::printf("%-26s %16s %16s %9s\n", "per launch", "cuLaunchKernelEx", "cuprum::launch", "ratio");
    compare("no arguments", [&] { bare_empty(); }, [&] { launch(stream_, one_thread, empty_); });
    compare(
        "5 arguments", [&] { bare_five(); },
        [&] { launch(stream_, one_thread, five_, data_, factor_, count_, offset_, n_); });
    std::printf("%-26s %16s %16s %9s\n", "launch until sync returns", "cuLaunchKernelEx", "cuprum::launch", "ratio");
    compare_round_trip();
  }

 private:
  static constexpr LaunchConfig one_thread{.grid = 1, .block = 1};

  // As a program would write it by hand: the configuration and the list of arguments are made for each launch.
  void bare(const Kernel& kernel, void** arguments) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream_.handle();
    if (driver::api().cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel.handle()), arguments, nullptr) !=
        CUDA_SUCCESS)
      throw std::runtime_error("cuLaunchKernelEx failed");
  }
  void bare_empty() { bare(empty_, nullptr); }
  void bare_five() {
    CUdeviceptr pointer = data_.handle();
    void* arguments[] = {&pointer, &factor_, &count_, &offset_, &n_};
    bare(five_, arguments);
  }

  /// Times batches of launches of either kind, in turn; waiting for them to finish is not counted.
  template <typename Bare, typename Ours>
  void compare(const char* title, Bare bare_launch, Ours our_launch) {
    std::vector<double> bare_times, our_times;
    for (int round = 0; round < rounds; ++round) {
      bare_times.push_back(batch(bare_launch));
      our_times.push_back(batch(our_launch));
    }
    print(title, bench::median(bare_times), bench::median(our_times));
  }

  template <typename Launch>
  double batch(Launch&& do_launch) {
    double time = bench::seconds([&] {
      for (int i = 0; i < launches; ++i) do_launch();
    });
    stream_.sync();
    return time / launches;
  }

  void compare_round_trip() {
    std::vector<double> bare_times, our_times;
    for (int round = 0; round < rounds * 10; ++round) {
      bare_times.push_back(bench::seconds([&] {
        bare_empty();
        driver::api().cuStreamSynchronize(stream_.handle());
      }));
      our_times.push_back(bench::seconds([&] {
        launch(stream_, one_thread, empty_);
        stream_.sync();
      }));
    }
    print("empty kernel, one block", bench::median(bare_times), bench::median(our_times));
  }

  static void print(const char* title, double bare_time, double our_time) {
    std::printf("%-26s %13.3f us %13.3f us %7.3f x\n", title, bare_time * 1e6, our_time * 1e6, our_time / bare_time);
  }

  Device device_;
  Stream stream_ = device_.create_stream();
  ObjectCode code_ = Program(source).compile(Target::cubin);
  Kernel empty_ = code_.get_kernel("no_arguments");
  Kernel five_ = code_.get_kernel("five_arguments");
  Buffer data_ = device_.allocate(256, stream_);
  float factor_ = 1;
  int count_ = 2;
  double offset_ = 3;
  std::size_t n_ = 4;
};

}  // namespace

int main() try { LaunchBench().run(); } catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
