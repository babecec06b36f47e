#include "proxy/http/h2/h2_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace sluice::http {
namespace {

TEST(H2Memory, GivesBlocksOfEverySize) {
  H2Memory memory;
  std::vector<std::pair<char*, std::size_t>> blocks;
  for (std::size_t size = 0; size < 20'000; size += 37) {
    auto* block = static_cast<char*>(memory.allocate(size));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
    std::memset(block, static_cast<int>(size % 251), size);
    blocks.emplace_back(block, size);
  }
  for (auto [block, size] : blocks) {
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(static_cast<unsigned char>(block[i]), size % 251);
    memory.release(block);
  }
}

TEST(H2Memory, AsksTheHeapOnlyOnceForABlockThatComesBack) {
  H2Memory memory;
  memory.release(memory.allocate(100));
  const std::uint64_t before = memory.heapCalls();
  for (int i = 0; i < 100; ++i) memory.release(memory.allocate(97 + static_cast<std::size_t>(i % 31)));
  EXPECT_EQ(memory.heapCalls(), before);
}

TEST(H2Memory, KeepsNoMoreThanItsBound) {
  H2Memory memory(4096);
  std::vector<void*> blocks;
  for (int i = 0; i < 100; ++i) blocks.push_back(memory.allocate(512));
  for (void* block : blocks) memory.release(block);
  EXPECT_EQ(memory.keptBytes(), 4096u);
}

TEST(H2Memory, KeepsTheContentWhenABlockGrows) {
  H2Memory memory;
  auto* block = static_cast<char*>(memory.reallocate(nullptr, 10));
  std::memcpy(block, "123456789", 10);
  for (std::size_t size = 20; size < 50'000; size *= 2) {
    block = static_cast<char*>(memory.reallocate(block, size));
    ASSERT_STREQ(block, "123456789");
  }
  memory.release(block);
  memory.release(nullptr);
}

TEST(H2Memory, SharesOneFrameBufferAndNoOther) {
  constexpr std::size_t kFrameBuffer = 16394;
  H2Memory memory;
  std::vector<void*> blocks;
  for (int i = 0; i < 2; ++i) {
    const H2Memory::FrameBufferSharing sharing(memory);
    blocks.push_back(memory.reallocate(nullptr, kFrameBuffer));
    blocks.push_back(memory.reallocate(nullptr, kFrameBuffer));
  }
  blocks.push_back(memory.reallocate(nullptr, kFrameBuffer));
  EXPECT_EQ(blocks[0], blocks[2]);
  EXPECT_NE(blocks[0], blocks[1]);
  EXPECT_NE(blocks[1], blocks[3]);
  EXPECT_NE(blocks[0], blocks[4]);
  for (void* block : blocks) memory.release(block);
}

}  // namespace
}  // namespace sluice::http
