// What the library adds to the driver's calls: each operation against the bare calls that it is made of.
//
//   build/release/bin/bench_api [--null] [ROUNDS]
//
// With --null the driver's calls that are measured return at once: what is left is the library's own time, to the
// nanosecond.
//
// A round does a batch of bare calls and a batch of ours, in turn; waiting for the device is not counted. Printed are
// the medians of all rounds, and the median of the differences within a round, which other load on the machine hardly
// moves. CUPRUM_DRIVER chooses the driver.
#include <cstdio>
#include <cstdlib>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bench/support/timing.hpp"

namespace {

using namespace cuprum;
using driver::Api;

const char* const source = R"(
extern "C" __global__ void no_arguments() {}
extern "C" __global__ void five_arguments(float* data, float factor, int count, double offset, size_t n) {
  if (n == 0) data[count] = factor + offset;  // never: keeps the parameters in use
}
extern "C" __global__ void sixteen_arguments(float* a, float* b, float* c, float* d, int e, int f, int g, int h, float i, float j,
                                             float k, float l, double m, double n, size_t o, size_t p) {
  if (p == 0) a[e] = b[f] + c[g] + d[h] + i + j + k + l + m + n + o;
}
)";

constexpr int batch = 100;  // few enough that no driver's queue is full

void check(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("a bare call failed with " + std::to_string(result));
}

/// As a program would resolve it by hand.
CUfunction function_of(const Kernel& kernel) {
  CUfunction function = nullptr;
  driver::call<&Api::cuKernelGetFunction>(&function, kernel.handle());
  return function;
}

/// A table whose frequent calls do nothing.
template <auto Entry, typename Function>
struct Nothing;
template <auto Entry, typename... Arguments>
struct Nothing<Entry, CUresult (*)(Arguments...)> {
  static CUresult call(Arguments...) { return CUDA_SUCCESS; }
};
template <auto Entry>
void do_nothing(Api& table) {
  auto& function = (table.*Entry).function;
  function = Nothing<Entry, std::remove_reference_t<decltype(function)>>::call;
}

const Api& null_driver() {
  static Api table = driver::api();
  do_nothing<&Api::cuLaunchKernelEx>(table);
  do_nothing<&Api::cuMemcpyAsync>(table);
  do_nothing<&Api::cuMemFreeAsync>(table);
  do_nothing<&Api::cuEventRecord>(table);
  do_nothing<&Api::cuStreamSynchronize>(table);
  static CUdeviceptr some_address = 4096;
  (table.cuMemAllocFromPoolAsync).function = [](CUdeviceptr* pointer, std::size_t, CUmemoryPool, CUstream) {
    *pointer = some_address;
    return CUDA_SUCCESS;
  };
  return table;
}

class ApiBench {
 public:
  explicit ApiBench(int rounds) : rounds_(rounds) {}

  void run() {
    std::printf("%s, median of %d rounds of %d calls\n", device_.name().c_str(), rounds_, batch);
    std::printf("%-32s %10s %10s %10s %8s\n", "", "bare", "cuprum", "above", "ratio");
    launches();
    prepared_launches();
    memory();
    events_and_streams();
    round_trip();
  }

 private:
  // As a program would write it by hand: the configuration and the list of arguments are made for each launch.
  void bare_launch(CUfunction function, void** arguments) {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = queue_;
    check(driver::api().cuLaunchKernelEx(&config, function, arguments, nullptr));
  }
  void bare_five() {
    void* arguments[] = {&address_, &factor_, &count_, &offset_, &n_};
    bare_launch(five_function_, arguments);
  }

  void launches() {
    const CUfunction empty_function = function_of(empty_);
    const CUfunction sixteen_function = function_of(sixteen_);
    compare(
        "launch, no arguments", [&] { bare_launch(empty_function, nullptr); },
        [&] { launch(stream_, one_thread, empty_); });
    compare(
        "launch, 5 arguments", [&] { bare_five(); },
        [&] { launch(stream_, one_thread, five_, data_, factor_, count_, offset_, n_); });
    compare(
        "launch, 5 typed arguments", [&] { bare_five(); },
        [&] { launch(stream_, one_thread, typed_, data_, factor_, count_, offset_, n_); });
    compare(
        "launch, 5 arguments at run time", [&] { bare_five(); },
        [&] {
          const void* addresses[] = {&address_, &factor_, &count_, &offset_, &n_};
          const std::size_t sizes[] = {sizeof address_, sizeof factor_, sizeof count_, sizeof offset_, sizeof n_};
          launch(stream_, one_thread, five_, KernelArguments{addresses, sizes});
        });
    compare(
        "launch, 5 arguments, foreign stream", [&] { bare_five(); },
        [&] { launch(queue_, one_thread, five_, data_, factor_, count_, offset_, n_); });
    compare(
        "launch, 16 arguments",
        [&] {
          void* arguments[] = {&address_, &address_, &address_, &address_, &count_,  &count_,  &count_, &count_,
                               &factor_,  &factor_,  &factor_,  &factor_,  &offset_, &offset_, &n_,     &n_};
          bare_launch(sixteen_function, arguments);
        },
        [&] {
          launch(stream_, one_thread, sixteen_, data_, data_, data_, data_, count_, count_, count_, count_, factor_,
                 factor_, factor_, factor_, offset_, offset_, n_, n_);
        });
  }

  // By hand, too, everything is made once, and one argument is written for each launch.
  void prepared_launches() {
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = queue_;
    void* arguments[] = {&address_, &factor_, &count_, &offset_, &n_};
    PreparedLaunch prepared = prepare(stream_, one_thread, five_, data_, factor_, count_, offset_, n_);
    compare(
        "prepared launch, 5 arguments",
        [&] {
          factor_ += 1;
          check(driver::api().cuLaunchKernelEx(&config, five_function_, arguments, nullptr));
        },
        [&] {
          factor_ += 1;
          prepared.set<1>(factor_);
          prepared();
        });
  }

  void memory() {
    CUmemoryPool pool = nullptr;
    check(driver::api().cuDeviceGetDefaultMemPool(&pool, device_.device_id()));
    compare(
        "allocate and free 1 KiB",
        [&] {
          CUdeviceptr pointer = 0;
          check(driver::api().cuMemAllocFromPoolAsync(&pointer, 1024, pool, queue_));
          check(driver::api().cuMemFreeAsync(pointer, queue_));
        },
        [&] { device_.allocate(1024, stream_); });
    Buffer copy = device_.allocate(1024, stream_);
    const CUdeviceptr to = copy.handle();
    compare(
        "copy 1 KiB on the device", [&] { check(driver::api().cuMemcpyAsync(to, address_, 1024, queue_)); },
        [&] { copy.copy_from(data_, stream_); });
  }

  void events_and_streams() {
    Event event = device_.create_event();
    const CUevent bare_event = event.handle();
    compare(
        "record an event", [&] { check(driver::api().cuEventRecord(bare_event, queue_)); },
        [&] { stream_.record(event); });
    compare(
        "create and destroy a stream",
        [&] {
          CUstream stream = nullptr;
          check(driver::api().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
          check(driver::api().cuStreamDestroy(stream));
        },
        [&] { device_.create_stream(); });
    compare(
        "create and destroy an event",
        [&] {
          CUevent made = nullptr;
          check(driver::api().cuEventCreate(&made, CU_EVENT_DISABLE_TIMING));
          check(driver::api().cuEventDestroy(made));
        },
        [&] { device_.create_event(); });
  }

  void round_trip() {
    const CUfunction empty_function = function_of(empty_);
    compare(
        "launch until sync returns",
        [&] {
          bare_launch(empty_function, nullptr);
          check(driver::api().cuStreamSynchronize(queue_));
        },
        [&] {
          launch(stream_, one_thread, empty_);
          stream_.sync();
        });
  }

  template <typename Bare, typename Ours>
  void compare(const char* title, Bare bare, Ours ours) {
    std::vector<double> bare_times, our_times, differences;
    for (int round = 0; round < rounds_; ++round) {
      // Who is first has the colder caches, so that changes.
      double bare_time = 0, our_time = 0;
      if (round % 2 == 0) bare_time = time_of(bare);
      our_time = time_of(ours);
      if (round % 2 != 0) bare_time = time_of(bare);
      bare_times.push_back(bare_time);
      our_times.push_back(our_time);
      differences.push_back(our_time - bare_time);
    }
    const double bare_median = bench::median(std::move(bare_times));
    const double our_median = bench::median(std::move(our_times));
    std::printf("%-32s %7.0f ns %7.0f ns %+7.0f ns %6.3f x\n", title, bare_median, our_median,
                bench::median(std::move(differences)), our_median / bare_median);
  }

  /// Nanoseconds of one call.
  template <typename Call>
  double time_of(Call& call) {
    const double time = bench::seconds([&] {
      for (int i = 0; i < batch; ++i) call();
    });
    stream_.sync();
    return time / batch * 1e9;
  }

  /// The bare calls need a current context.
  static Device current_device() {
    Device device;
    device.set_current();
    return device;
  }

  static constexpr LaunchConfig one_thread{.grid = 1, .block = 1};

  const int rounds_;
  const Device device_ = current_device();
  Stream stream_ = device_.create_stream();
  const CUstream queue_ = stream_.handle();
  ObjectCode code_ = Program(source).compile(Target::cubin);
  Kernel empty_ = code_.get_kernel("no_arguments");
  Kernel five_ = code_.get_kernel("five_arguments");
  Kernel sixteen_ = code_.get_kernel("sixteen_arguments");
  TypedKernel<void(float*, float, int, double, std::size_t)> typed_{five_};
  const CUfunction five_function_ = function_of(five_);
  Buffer data_ = device_.allocate(1024, stream_);
  CUdeviceptr address_ = data_.handle();
  float factor_ = 1;
  int count_ = 2;
  double offset_ = 3;
  std::size_t n_ = 4;
};

}  // namespace

int main(int argc, char** argv) try {
  const bool is_null = argc > 1 && std::string_view(argv[1]) == "--null";
  const char* const rounds = argv[is_null ? 2 : 1];
  const Api& before = driver::api();
  {
    ApiBench bench(rounds ? std::atoi(rounds) : 1001);
    if (is_null) driver::replace_api(null_driver());
    bench.run();
    driver::replace_api(before);  // whatever is left is given back to the driver that it came from
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
