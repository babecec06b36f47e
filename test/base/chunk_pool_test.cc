#include "proxy/base/chunk_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace sluice::base {
namespace {

TEST(ChunkPool, GivesEmptyAlignedChunks) {
  ChunkPool pool;
  Chunk* chunk = pool.take();
  EXPECT_EQ(chunk->size(), 0u);
  EXPECT_EQ(chunk->room(), Chunk::kCapacity);
  EXPECT_EQ(chunk->next, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk->data()) % 16, 0u);
  pool.give(chunk);
}

TEST(ChunkPool, HasSmallChunksOfTheirOwn) {
  ChunkPool pool(2);
  Chunk* small = pool.takeSmall();
  EXPECT_EQ(small->room(), Chunk::kSmallCapacity);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small->data()) % 16, 0u);
  std::memset(small->data(), 'x', Chunk::kSmallCapacity);
  Chunk* large = pool.take();
  EXPECT_EQ(pool.inUse(), 2u);
  pool.give(small);
  pool.give(large);
  EXPECT_EQ(pool.take(), large);
  EXPECT_EQ(pool.takeSmall(), small);
  EXPECT_EQ(small->room(), Chunk::kSmallCapacity);
  EXPECT_EQ(large->room(), Chunk::kCapacity);
  pool.give(large);
  pool.give(small);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ChunkPool, KeepsHalfAsMuchMemoryInSmallChunks) {
  ChunkPool pool(2);
  std::set<Chunk*> kept;
  std::vector<Chunk*> chunks;
  for (int i = 0; i < 9; ++i) chunks.push_back(pool.takeSmall());
  for (Chunk* chunk : chunks) {
    if (kept.size() < 8) kept.insert(chunk);
    pool.give(chunk);
  }
  for (int i = 0; i < 8; ++i) {
    chunks[static_cast<std::size_t>(i)] = pool.takeSmall();
    EXPECT_EQ(kept.erase(chunks[static_cast<std::size_t>(i)]), 1u);
  }
  chunks.pop_back();
  for (Chunk* chunk : chunks) pool.give(chunk);
}

TEST(ChunkPool, CountsChunksInUse) {
  ChunkPool pool;
  Chunk* first = pool.take();
  Chunk* second = pool.take();
  EXPECT_NE(first, second);
  EXPECT_EQ(pool.inUse(), 2u);
  pool.give(first);
  EXPECT_EQ(pool.inUse(), 1u);
  pool.give(second);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ChunkPool, ReusesAChunkAsIfItWereNew) {
  ChunkPool pool;
  Chunk* chunk = pool.take();
  std::memset(chunk->data(), 'x', Chunk::kCapacity);
  chunk->begin = 7;
  chunk->end = Chunk::kCapacity;
  chunk->next = chunk;
  pool.give(chunk);
  Chunk* again = pool.take();
  EXPECT_EQ(again, chunk);
  EXPECT_EQ(again->size(), 0u);
  EXPECT_EQ(again->room(), Chunk::kCapacity);
  EXPECT_EQ(again->next, nullptr);
  std::memset(again->data(), 'y', Chunk::kCapacity);
  pool.give(again);
}

TEST(ChunkPool, KeepsAsManyFreeChunksAsItMay) {
  ChunkPool pool(2);
  Chunk* chunks[3] = {pool.take(), pool.take(), pool.take()};
  const std::set<Chunk*> kept{chunks[0], chunks[1]};
  for (Chunk* chunk : chunks) pool.give(chunk);
  Chunk* first = pool.take();
  Chunk* second = pool.take();
  EXPECT_EQ((std::set<Chunk*>{first, second}), kept);
  pool.give(first);
  pool.give(second);
}

TEST(ChunkPool, ServesChunksEvenIfItKeepsNone) {
  ChunkPool pool(0);
  for (int i = 0; i < 3; ++i) pool.give(pool.take());
  EXPECT_EQ(pool.inUse(), 0u);
}

}  // namespace
}  // namespace sluice::base
