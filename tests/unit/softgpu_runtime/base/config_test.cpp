#include "softgpu/runtime/base/config.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

namespace softgpu::runtime {
namespace {

Config read(const std::map<std::string, std::string>& values) {
  return read_config([&](const char* name) {
    const auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  });
}

std::string refusal_of(const char* name, const char* value) {
  try {
    read({{name, value}});
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Config, DefaultsToOneDeviceOfCapability90) {
  const Config config = read({});
  EXPECT_EQ(config.devices, 1u);
  EXPECT_EQ(config.compute_capability, 90u);
  EXPECT_FALSE(config.trace.calls);
}

TEST(Config, ReadsAllSettings) {
  const Config config = read({{"SOFTGPU_DEVICES", "3"},
                              {"SOFTGPU_COMPUTE_CAPABILITY", "8.6"},
                              {"SOFTGPU_MEMORY", "512M"},
                              {"SOFTGPU_MULTIPROCESSORS", "132"},
                              {"SOFTGPU_WORKERS", "2"},
                              {"SOFTGPU_CACHE_DIR", "/cache"},
                              {"SOFTGPU_CACHE_SIZE", "0"},
                              {"SOFTGPU_CUDA_VERSION", "12.4"},
                              {"SOFTGPU_MEMORY_POOLS", "0"},
                              {"SOFTGPU_STRICT", "1"},
                              {"SOFTGPU_TRACE", "calls,errors"}});
  EXPECT_EQ(config.devices, 3u);
  EXPECT_EQ(config.compute_capability, 86u);
  EXPECT_EQ(config.memory_of(0), std::size_t{512} << 20);
  EXPECT_EQ(config.multiprocessors, 132u);
  EXPECT_EQ(config.workers, 2u);
  EXPECT_EQ(config.cache_dir, "/cache");
  EXPECT_EQ(config.cache_size, 0u);
  EXPECT_EQ(config.cuda_version, 12040);
  EXPECT_FALSE(config.memory_pools);
  EXPECT_TRUE(config.strict);
  EXPECT_TRUE(config.trace.calls);
  EXPECT_TRUE(config.trace.errors);
  EXPECT_FALSE(config.trace.unsupported);
}

TEST(Config, SizesTakeSuffixes) {
  EXPECT_EQ(read({{"SOFTGPU_MEMORY", "4096"}}).memory_of(0), 4096u);
  EXPECT_EQ(read({{"SOFTGPU_MEMORY", "64k"}}).memory_of(0), 65536u);
  EXPECT_EQ(read({{"SOFTGPU_MEMORY", "2G"}}).memory_of(0), std::size_t{2} << 30);
  const Config config = read({{"SOFTGPU_MEMORY", "8G,512M"}});
  EXPECT_EQ(config.memory_of(0), std::size_t{8} << 30);
  EXPECT_EQ(config.memory_of(1), std::size_t{512} << 20);
  EXPECT_EQ(config.memory_of(2), std::size_t{512} << 20);
}

TEST(Config, RefusalsNameTheSettingItsValueAndWhatItCanBe) {
  EXPECT_EQ(refusal_of("SOFTGPU_DEVICES", "0"), "SOFTGPU_DEVICES is '0'; it can be a number from 1 to 64");
  EXPECT_EQ(refusal_of("SOFTGPU_DEVICES", "two"), "SOFTGPU_DEVICES is 'two'; it can be a number from 1 to 64");
  EXPECT_EQ(refusal_of("SOFTGPU_MEMORY", "8 apples"),
            "SOFTGPU_MEMORY is '8 apples'; it can be a number of bytes such as 512M or 8G");
  EXPECT_EQ(refusal_of("SOFTGPU_COMPUTE_CAPABILITY", "90"),
            "SOFTGPU_COMPUTE_CAPABILITY is '90'; it can be a version such as 9.0, from 5.0 to 12.9");
  EXPECT_EQ(refusal_of("SOFTGPU_TRACE", "everything"),
            "SOFTGPU_TRACE is 'everything'; it can be a list of unsupported, calls and errors");
  EXPECT_NE(refusal_of("SOFTGPU_MEMORY", "99999999999T"), "accepted");
  for (const char* version : {"11.8", "99.0", "12", "12.", ".4", "12.4.1", "twelve", "18446744073709551615.0"})
    EXPECT_EQ(refusal_of("SOFTGPU_CUDA_VERSION", version),
              "SOFTGPU_CUDA_VERSION is '" + std::string(version) + "'; it can be a release of CUDA from 12.0 to 13.0");
  EXPECT_EQ(refusal_of("SOFTGPU_MEMORY_POOLS", "yes"), "SOFTGPU_MEMORY_POOLS is 'yes'; it can be 0 or 1");
}

}  // namespace
}  // namespace softgpu::runtime
