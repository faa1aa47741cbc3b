// The process that the tests of checkpoints lock, checkpoint and restore.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <numeric>

#include "conformance/checkpoint.hpp"
#include "conformance/gate.hpp"
#include "conformance/graph.hpp"
#include "conformance/kernels.hpp"
#include "conformance/virtual_memory.hpp"

namespace conformance {

std::size_t Target::resident() const {
  std::size_t all = 0, resident = 0;
  std::ifstream("/proc/" + std::to_string(pid()) + "/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

namespace {

constexpr int kCount = 1 << 20;  // of numbers in each kind of memory
constexpr std::size_t kBytes = kCount * sizeof(int);

// One kind of memory with 0, 1, 2… in it, to which every check adds 1.
class Numbers {
 public:
  explicit Numbers(CUdeviceptr pointer) : pointer_(pointer), expected_(kCount) {
    std::iota(expected_.begin(), expected_.end(), 0);
    EXPECT_SUCCESS(CU(cuMemcpyHtoD)(pointer_, expected_.data(), kBytes));
  }
  bool add_one(CUfunction increment, CUstream stream) {
    for (int& number : expected_) ++number;
    EXPECT_SUCCESS(launch(increment, kCount / 256, 256, stream, pointer_, kCount));
    std::vector<int> found(kCount);
    EXPECT_SUCCESS(CU(cuMemcpyDtoHAsync)(found.data(), pointer_, kBytes, stream));
    EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream));
    return found == expected_;
  }

 private:
  const CUdeviceptr pointer_;
  std::vector<int> expected_;
};

class CheckpointTarget : public ChildProcess {
 protected:
  // What it has: everything is made before it can be checkpointed.
  struct World {
    World() {
      EXPECT_SUCCESS(CU(cuMemAllocAsync)(&pooled, kBytes, stream.get()));
      EXPECT_SUCCESS(CU(cuMemAddressReserve)(&mapped, created.bytes, 0, 0, 0));
      EXPECT_SUCCESS(CU(cuMemMap)(mapped, created.bytes, 0, created.memory.get(), 0));
      EXPECT_SUCCESS(set_access(mapped, created.bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
      EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
      for (const CUdeviceptr pointer : {plain.get(), pooled, mapped}) numbers.emplace_back(pointer);
      EXPECT_SUCCESS(CU(cuEventRecord)(event.get(), stream.get()));
      EXPECT_SUCCESS(CU(cuModuleGetGlobal)(&counter, nullptr, module.get(), "counter"));
      make_graph();
    }
    ~World() {
      CU(cuMemFreeAsync)(pooled, stream.get());
      CU(cuStreamSynchronize)(stream.get());
      CU(cuMemUnmap)(mapped, created.bytes);
      CU(cuMemAddressFree)(mapped, created.bytes);
      CU(cuGraphExecDestroy)(graph);
    }
    // Adds 1 to the module's variable.
    void make_graph() {
      CUgraph captured = nullptr;
      EXPECT_SUCCESS(CU(cuStreamBeginCapture)(stream.get(), CU_STREAM_CAPTURE_MODE_GLOBAL));
      EXPECT_SUCCESS(launch(module.function("increment"), 1, 1, stream.get(), counter, 1));
      EXPECT_SUCCESS(CU(cuStreamEndCapture)(stream.get(), &captured));
      EXPECT_SUCCESS(CU(cuGraphInstantiate)(&graph, captured, 0));
      EXPECT_SUCCESS(CU(cuGraphDestroy)(captured));
    }
    bool check() {
      bool right = true;
      for (Numbers& kind : numbers) right = kind.add_one(module.function("increment"), stream.get()) && right;
      int value = 0;
      ++expected_counter;
      EXPECT_SUCCESS(CU(cuGraphLaunch)(graph, stream.get()));
      EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
      EXPECT_SUCCESS(CU(cuMemcpyDtoH)(&value, counter, sizeof value));
      return right && value == expected_counter && CU(cuEventQuery)(event.get()) == CUDA_SUCCESS;
    }

    struct Created {
      std::size_t bytes = std::max(granularity(), kBytes);
      CreatedMemory memory{bytes};
    };
    const TestModule module{kKernels};
    const TestStream stream{CU_STREAM_NON_BLOCKING};
    const TestEvent event;
    const DeviceMemory plain{kBytes};
    const Created created;
    CUdeviceptr pooled = 0, mapped = 0, counter = 0;
    CUgraphExec graph = nullptr;
    int expected_counter = 41;
    std::vector<Numbers> numbers;
    std::unique_ptr<Latch> latch;
  };

  static void answer(World& world, Ask what) {
    Channel& channel = parent();
    switch (what) {
      case Ask::free_memory: {
        std::size_t free = 0, total = 0;
        CU(cuMemGetInfo)(&free, &total);
        return channel.send(free);
      }
      case Ask::allocate: {
        CUdeviceptr memory = 0;
        return channel.send(CU(cuMemAlloc)(&memory, 1 << 20) == CUDA_SUCCESS && CU(cuMemFree)(memory) == CUDA_SUCCESS);
      }
      case Ask::check: return channel.send(world.check());
      case Ask::hold: world.latch = std::make_unique<Latch>(world.stream.get()); return channel.send(true);
      case Ask::let_go: world.latch->open(); return channel.send(true);
      case Ask::wait: return channel.send(CU(cuStreamSynchronize)(world.stream.get()) == CUDA_SUCCESS);
      case Ask::share: {
        CUipcMemHandle handle;
        return channel.send(CU(cuIpcGetMemHandle)(&handle, world.plain.get()) == CUDA_SUCCESS);
      }
      case Ask::uuid: {
        CUdevice device = 0;
        CUuuid uuid{};
        EXPECT_SUCCESS(CU(cuCtxGetDevice)(&device));
        EXPECT_SUCCESS(CU(cuDeviceGetUuid)(&uuid, device));
        return channel.send(uuid);
      }
      case Ask::leave: return;
    }
  }
};

TEST_F(CheckpointTarget, DISABLED_Serves) {
  World world;
  parent().signal();
  for (Ask what = parent().receive<Ask>(); what != Ask::leave; what = parent().receive<Ask>()) answer(world, what);
}

}  // namespace
}  // namespace conformance
