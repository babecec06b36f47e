#include "proxy/base/chunk_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace sluice::base {
namespace {

TEST(ChunkPool, GivesEmptyAlignedChunks) {
  ChunkPool pool;
  Chunk* chunk = pool.take();
  EXPECT_EQ(chunk->size(), 0u);
  EXPECT_EQ(chunk->room(), Chunk::kCapacity);
  EXPECT_EQ(chunk->next, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(chunk->data) % 16, 0u);
  pool.give(chunk);
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
  std::memset(chunk->data, 'x', Chunk::kCapacity);
  chunk->begin = 7;
  chunk->end = Chunk::kCapacity;
  chunk->next = chunk;
  pool.give(chunk);
  Chunk* again = pool.take();
  EXPECT_EQ(again, chunk);
  EXPECT_EQ(again->size(), 0u);
  EXPECT_EQ(again->room(), Chunk::kCapacity);
  EXPECT_EQ(again->next, nullptr);
  std::memset(again->data, 'y', Chunk::kCapacity);
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
