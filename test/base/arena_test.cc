#include "proxy/base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sluice::base {
namespace {

TEST(Arena, HoldsNoMemoryBeforeTheFirstAllocation) {
  ChunkPool pool;
  const Arena arena(pool);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(Arena, ReportsTheMemoryItHolds) {
  ChunkPool pool;
  Arena arena(pool);
  EXPECT_EQ(arena.held(), 0u);
  arena.bytes(10);
  EXPECT_EQ(arena.held(), Chunk::kSmallCapacity);
  EXPECT_TRUE(arena.isSmall());
  arena.bytes(Chunk::kSmallCapacity + 1);
  EXPECT_EQ(arena.held(), Arena::kFewBytes);
  EXPECT_TRUE(arena.isSmall());
  arena.bytes(Chunk::kCapacity - 5);
  EXPECT_EQ(arena.held(), Arena::kFewBytes + Chunk::kCapacity - 5) << "what is large is its own";
  EXPECT_FALSE(arena.isSmall());
  for (int i = 0; i < 2; ++i) arena.bytes(Chunk::kCapacity / 2);
  EXPECT_EQ(arena.held(), Arena::kFewBytes + 2 * Chunk::kCapacity - 5);
  arena.clear();
  EXPECT_EQ(arena.held(), 0u);
}

TEST(Arena, AlignsAllocationsAsRequested) {
  ChunkPool pool;
  Arena arena(pool);
  for (const std::size_t alignment : {1u, 2u, 4u, 8u, 16u}) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{3}, Chunk::kCapacity}) {
      arena.allocate(1, 1);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.allocate(size, alignment)) % alignment, 0u);
    }
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena.array<std::uint64_t>(3)) % alignof(std::uint64_t), 0u);
}

TEST(Arena, TakesUpToHalfAChunkFromThePoolAndMoreFromTheHeap) {
  ChunkPool pool;
  Arena arena(pool);
  arena.bytes(Chunk::kCapacity / 2 + 1);
  EXPECT_EQ(pool.inUse(), 0u);
  arena.bytes(Chunk::kCapacity / 2);
  EXPECT_EQ(pool.inUse(), 1u);
  arena.bytes(Chunk::kCapacity / 2);
  EXPECT_EQ(pool.inUse(), 1u) << "two halves are one chunk";
  arena.bytes(1);
  EXPECT_EQ(pool.inUse(), 2u);
}

TEST(Arena, TakesSmallChunksForItsFirstEightKilobytes) {
  ChunkPool pool;
  Arena arena(pool);
  arena.bytes(Chunk::kSmallCapacity - 1);
  arena.bytes(1);
  EXPECT_EQ(arena.held(), Chunk::kSmallCapacity);
  for (std::size_t chunks = 2; chunks <= 4; ++chunks) {
    arena.bytes(1);
    EXPECT_EQ(arena.held(), chunks * Chunk::kSmallCapacity);
    arena.bytes(Chunk::kSmallCapacity - 1);
  }
  arena.bytes(1);
  EXPECT_EQ(arena.held(), 4 * Chunk::kSmallCapacity + Chunk::kCapacity);
  EXPECT_EQ(pool.inUse(), 5u);
  Arena other(pool);
  other.bytes(Chunk::kSmallCapacity + 1);
  EXPECT_EQ(other.held(), Chunk::kCapacity);
}

TEST(Arena, CopiesAndConcatenates) {
  ChunkPool pool;
  Arena arena(pool);
  std::string source = "value";
  const std::string_view copy = arena.copy(source);
  source = "other";
  EXPECT_EQ(copy, "value");
  EXPECT_EQ(arena.concat("a", "bc"), "abc");
  EXPECT_EQ(arena.concat("a", "", "bc"), "abc");
  EXPECT_EQ(arena.concat("", "", "x"), "x");
}

TEST(Arena, NeedsNoMemoryForEmptyText) {
  ChunkPool pool;
  Arena arena(pool);
  EXPECT_TRUE(arena.copy({}).empty());
  EXPECT_TRUE(arena.concat({}, {}).empty());
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(Arena, GivesEverythingBack) {
  ChunkPool pool;
  Arena arena(pool);
  for (int i = 0; i < 10; ++i) arena.bytes(Chunk::kCapacity / 2);
  arena.bytes(10 * Chunk::kCapacity);
  EXPECT_EQ(pool.inUse(), 5u);
  arena.clear();
  EXPECT_EQ(pool.inUse(), 0u);
  EXPECT_EQ(arena.copy("again"), "again");
}

TEST(Arena, KeepsViewsValidWhenItMoves) {
  ChunkPool pool;
  Arena first(pool);
  const std::string_view small = first.copy("small");
  const std::string_view large = first.copy(std::string(3 * Chunk::kCapacity, 'x'));
  Arena second(std::move(first));
  EXPECT_EQ(small, "small");
  EXPECT_EQ(large, std::string(3 * Chunk::kCapacity, 'x'));
  Arena third(pool);
  third.copy("to be swapped away");
  third = std::move(second);
  EXPECT_EQ(small, "small");
  third.clear();
  second.clear();
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(Arena, NeverGivesTheSameBytesTwice) {
  std::mt19937 random(11);
  ChunkPool pool;
  Arena arena(pool);
  std::vector<std::pair<std::string_view, std::string>> pieces;
  for (int i = 0; i < 2000; ++i) {
    const std::size_t size = random() % (i % 50 == 0 ? 3 * Chunk::kCapacity : 300);
    std::string text(size, static_cast<char>('a' + i % 26));
    pieces.emplace_back(arena.copy(text), text);
    arena.allocate(random() % 8, std::size_t{1} << random() % 5);
  }
  for (const auto& [view, text] : pieces) ASSERT_EQ(view, text);
}

TEST(Arena, MakesAlignedObjectsFromTheirArguments) {
  struct Pair {
    char name;
    double value;
  };
  ChunkPool pool;
  Arena arena(pool);
  arena.copy("x");
  const Pair* pair = arena.make<Pair>('a', 2.5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pair) % alignof(Pair), 0u);
  EXPECT_EQ(pair->name, 'a');
  EXPECT_EQ(pair->value, 2.5);
}

}  // namespace
}  // namespace sluice::base
