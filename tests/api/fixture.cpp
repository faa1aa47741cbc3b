#include "api/fixture.hpp"

#include <stdlib.h>

#include <chrono>
#include <cuprum/driver.hpp>
#include <thread>

namespace cuprum::tests {
namespace {

/// Bytes of the default pools that are still handed out, when everything queued is done. Devices without pools have
/// none.
cuuint64_t pool_bytes_in_use() {
  cuuint64_t total = 0;
  for (const Device& device : Device::all()) {
    device.sync();
    if (!device.properties().memory_pools_supported()) continue;
    CUmemoryPool pool = nullptr;
    driver::call<&driver::Api::cuDeviceGetDefaultMemPool>(&pool, device.device_id());
    cuuint64_t used = 0;
    driver::call<&driver::Api::cuMemPoolGetAttribute>(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
    total += used;
  }
  return total;
}

/// A driver lets go of what graphs kept some time after their last launch, on a thread of its own.
void wait_for_releases() {
  for (int i = 0; i < 2000 && live_objects() != LiveObjects{}; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

class LeakCheck : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    complaints_.clear();
    bytes_before_ = pool_bytes_in_use();  // so that a leak is the fault of one test only
    set_log_hook([this](std::string_view line) { complaints_.append(line).append("\n"); });
  }

  // The test object, with everything in it, is gone by now.
  void OnTestEnd(const ::testing::TestInfo&) override {
    wait_for_releases();
    EXPECT_EQ(live_objects(), LiveObjects{})
        << "contexts " << live_objects().contexts << ", streams " << live_objects().streams << ", events "
        << live_objects().events << ", buffers " << live_objects().buffers << ", pools " << live_objects().memory_pools
        << ", programs " << live_objects().programs << ", linkers " << live_objects().linkers << ", object codes "
        << live_objects().object_codes << ", kernels " << live_objects().kernels << ", graphs " << live_objects().graphs
        << ", executable graphs " << live_objects().executable_graphs << ", graph builders "
        << live_objects().graph_builders << ", arrays " << live_objects().opaque_arrays << ", mipmapped arrays "
        << live_objects().mipmapped_arrays << ", textures " << live_objects().texture_objects << ", surfaces "
        << live_objects().surface_objects;
    EXPECT_EQ(pool_bytes_in_use(), bytes_before_);
    EXPECT_EQ(complaints_, "") << "destructors complained";
    set_log_hook(nullptr);
  }

  std::string complaints_;
  cuuint64_t bytes_before_ = 0;
};

const bool registered = [] {
  setenv("CUPRUM_CACHE_DIR", "off", false);  // run by hand, tests leave nothing in the user's cache, and find nothing
  ::testing::UnitTest::GetInstance()->listeners().Append(new LeakCheck);
  return true;
}();

}  // namespace
}  // namespace cuprum::tests
