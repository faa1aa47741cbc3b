#include "softgpu/exec/block_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace softgpu::exec {
namespace {

TEST(FrameArena, AlignsEachFrameAsItsCodeAssumes) {
  FrameArena arena;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t alignment : {8u, 512u, 16u, 128u, 4096u, 64u, 8u, 1024u, 256u})
      for (const std::size_t bytes : {1u, 24u, 1000u, 70000u}) {
        void* const frame = arena.allocate(bytes, alignment);
        ASSERT_NE(frame, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frame) % alignment, 0u) << bytes << " bytes";
        std::memset(frame, 1, bytes);
      }
    arena.reset();
  }
}

TEST(FrameArena, KeepsFramesApart) {
  FrameArena arena;
  struct Frame {
    unsigned char* memory;
    std::size_t bytes;
  };
  std::vector<Frame> frames;
  for (unsigned char i = 0; i < 200; ++i) {
    const std::size_t bytes = 1 + std::size_t{i} * 37;
    frames.push_back({static_cast<unsigned char*>(arena.allocate(bytes, std::size_t{8} << (i % 7))), bytes});
    std::memset(frames.back().memory, i, bytes);
  }
  for (unsigned char i = 0; i < 200; ++i)
    EXPECT_EQ(std::vector<unsigned char>(frames[i].memory, frames[i].memory + frames[i].bytes),
              std::vector<unsigned char>(frames[i].bytes, i));
}

TEST(LocalMemory, EndsWhereNothingIsAccessible) {
  LocalMemory memory;
  for (int round = 0; round < 2; ++round) {
    auto* const first = static_cast<std::byte*>(memory.allocate(128));
    auto* const second = static_cast<std::byte*>(memory.allocate(100));
    auto* const large = static_cast<std::byte*>(memory.allocate(5 << 20));
    ASSERT_TRUE(first != nullptr && second != nullptr && large != nullptr);
    EXPECT_EQ(second + 128, first);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first + 128) % 4096, 0u);
    std::memset(large, 1, (5 << 20) + 128 + 128);
    memory.release(5 << 20);
    EXPECT_EQ(memory.allocate(64), second - 64);
    memory.reset();
  }
}

TEST(LocalMemory, HasALimit) {
  LocalMemory memory;
  EXPECT_EQ(memory.allocate(LocalMemory::kCapacity + 1), nullptr);
  EXPECT_NE(memory.allocate(LocalMemory::kCapacity - 64), nullptr);
  EXPECT_NE(memory.allocate(64), nullptr);
  EXPECT_EQ(memory.allocate(1), nullptr);
}

}  // namespace
}  // namespace softgpu::exec
