#include "proxy/base/byte_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "test/support/seeds.h"

namespace sluice::base {
namespace {

constexpr std::size_t kChunk = Chunk::kCapacity;

std::string bytes(std::size_t count) {
  std::string text(count, '\0');
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>('a' + i % 23);
  return text;
}

std::string content(const ByteQueue& queue) {
  std::vector<std::string_view> views(queue.pool().inUse() + 1);
  const std::size_t count = queue.gather(views);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.append(views[i]);
  return text;
}

TEST(ByteQueue, HoldsNoMemoryWhileItIsEmpty) {
  ChunkPool pool;
  ByteQueue queue(pool);
  EXPECT_TRUE(queue.empty());
  EXPECT_TRUE(queue.front().empty());
  queue.append({});
  EXPECT_EQ(pool.inUse(), 0u);
  queue.append("abc");
  EXPECT_EQ(pool.inUse(), 1u);
  queue.consume(3);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ByteQueue, TakesASmallChunkForAFewBytes) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append(bytes(Chunk::kSmallCapacity));
  EXPECT_EQ(queue.front(), bytes(Chunk::kSmallCapacity));
  EXPECT_EQ(queue.prepare().size(), kChunk - Chunk::kSmallCapacity) << "a large one takes over";
  EXPECT_EQ(pool.inUse(), 1u);
  queue.append("x");
  EXPECT_EQ(content(queue), bytes(Chunk::kSmallCapacity) + "x");
  queue.clear();
  queue.append(bytes(100));
  queue.consume(60);
  queue.append(bytes(kChunk));
  EXPECT_EQ(queue.front(), bytes(100).substr(60) + bytes(kChunk).substr(0, kChunk - 40));
  queue.clear();
  queue.append(bytes(Chunk::kSmallCapacity + 1));
  EXPECT_EQ(queue.prepare().size(), kChunk - Chunk::kSmallCapacity - 1);
}

TEST(ByteQueue, GivesBytesInTheOrderTheyCame) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append("ab");
  queue.append("cd");
  EXPECT_EQ(queue.front(), "abcd");
  queue.consume(1);
  EXPECT_EQ(queue.front(), "bcd");
  queue.append("e");
  EXPECT_EQ(content(queue), "bcde");
  EXPECT_EQ(queue.size(), 4u);
}

TEST(ByteQueue, FillsAChunkToTheLastByteBeforeItTakesAnother) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append(bytes(kChunk));
  EXPECT_EQ(pool.inUse(), 1u);
  queue.append("x");
  EXPECT_EQ(pool.inUse(), 2u);
  EXPECT_EQ(content(queue), bytes(kChunk) + "x");
}

TEST(ByteQueue, ShowsBytesWithoutTakingThem) {
  ChunkPool pool;
  ByteQueue queue(pool);
  const std::string text = bytes(3 * kChunk);
  queue.append(text);
  std::string seen(kChunk + 10, '?');
  EXPECT_EQ(queue.peek(kChunk - 5, seen), seen.size());
  EXPECT_EQ(seen, text.substr(kChunk - 5, seen.size()));
  EXPECT_EQ(queue.peek(text.size() - 3, seen), 3U);
  EXPECT_EQ(queue.peek(text.size(), seen), 0U);
  EXPECT_EQ(queue.size(), text.size());
  queue.clear();
}

TEST(ByteQueue, GivesAChunkBackAsSoonAsItIsConsumed) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append(bytes(3 * kChunk));
  queue.consume(kChunk - 1);
  EXPECT_EQ(pool.inUse(), 3u);
  queue.consume(1);
  EXPECT_EQ(pool.inUse(), 2u);
  queue.consume(2 * kChunk);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ByteQueue, PreparesSpaceToWriteInto) {
  ChunkPool pool;
  ByteQueue queue(pool);
  const std::span<char> room = queue.prepare();
  ASSERT_EQ(room.size(), kChunk);
  std::memcpy(room.data(), "hello", 5);
  EXPECT_TRUE(queue.empty());
  queue.commit(5);
  EXPECT_EQ(queue.front(), "hello");
  EXPECT_EQ(queue.prepare().size(), kChunk - 5);
}

TEST(ByteQueue, PreparesAFreshChunkWhenTheLastIsFull) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append(bytes(kChunk));
  EXPECT_EQ(queue.prepare().size(), kChunk);
  queue.commit(0);
  EXPECT_EQ(content(queue), bytes(kChunk)) << "an empty chunk at the end is not seen";
  queue.consume(kChunk);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ByteQueue, GathersNoMoreRunsThanThereIsRoomFor) {
  ChunkPool pool;
  ByteQueue queue(pool);
  queue.append(bytes(4 * kChunk));
  std::array<std::string_view, 3> views;
  EXPECT_EQ(queue.gather(views), 3u);
  EXPECT_EQ(views[0].size(), kChunk);
  std::array<std::string_view, 8> more;
  EXPECT_EQ(queue.gather(more), 4u);
  EXPECT_EQ(queue.gather({}), 0u);
}

TEST(ByteQueueSplice, RelinksWholeChunks) {
  ChunkPool pool;
  ByteQueue from(pool);
  ByteQueue to(pool);
  from.append(bytes(2 * kChunk));
  const char* first = from.front().data();
  to.splice(from, from.size());
  EXPECT_EQ(to.front().data(), first) << "not copied";
  EXPECT_EQ(pool.inUse(), 2u);
  EXPECT_TRUE(from.empty());
  EXPECT_EQ(content(to), bytes(2 * kChunk));
}

TEST(ByteQueueSplice, CopiesLessThanAChunk) {
  ChunkPool pool;
  ByteQueue from(pool);
  ByteQueue to(pool);
  from.append("abcdef");
  to.splice(from, 2);
  EXPECT_EQ(content(to), "ab");
  EXPECT_EQ(content(from), "cdef");
  to.splice(from, 4);
  EXPECT_EQ(content(to), "abcdef");
  EXPECT_EQ(pool.inUse(), 1u);
}

TEST(ByteQueueSplice, PacksManySmallPiecesIntoFewChunks) {
  ChunkPool pool;
  ByteQueue to(pool);
  for (int i = 0; i < 1000; ++i) {
    ByteQueue from(pool);
    from.append("0123456789");
    to.splice(from, 10);
  }
  EXPECT_EQ(to.size(), 10000u);
  EXPECT_EQ(pool.inUse(), 1u);
}

TEST(ByteQueueSplice, PacksPiecesThatFillHalfASmallChunk) {
  ChunkPool pool;
  ByteQueue to(pool);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    ByteQueue from(pool);
    from.append(bytes(Chunk::kSmallCapacity / 2 + 1));
    to.splice(from, from.size());
    all += bytes(Chunk::kSmallCapacity / 2 + 1);
  }
  EXPECT_EQ(content(to), all);
  EXPECT_LE(pool.inUse(), all.size() / kChunk + 1);
}

TEST(ByteQueueSplice, DoesNothingForZeroBytes) {
  ChunkPool pool;
  ByteQueue from(pool);
  ByteQueue to(pool);
  to.splice(from, 0);
  from.append("a");
  to.splice(from, 0);
  EXPECT_TRUE(to.empty());
  EXPECT_EQ(from.size(), 1u);
}

TEST(ByteQueueSplice, LosesNoBytesBehindUnusedSpace) {
  ChunkPool pool;
  ByteQueue from(pool);
  ByteQueue to(pool);
  to.prepare();
  from.append(bytes(kChunk));
  to.splice(from, kChunk);
  EXPECT_FALSE(to.front().empty()) << "front is empty only if the queue is";
  EXPECT_EQ(content(to), bytes(kChunk));

  ByteQueue last(pool);
  last.append("x");
  last.splice(to, kChunk);
  EXPECT_EQ(content(last), "x" + bytes(kChunk));
  EXPECT_TRUE(to.empty());
  last.clear();
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ByteQueueSplice, ConsumesThroughUnusedSpaceInTheMiddle) {
  ChunkPool pool;
  ByteQueue from(pool);
  ByteQueue to(pool);
  to.append(bytes(kChunk));
  to.prepare();
  from.append(bytes(kChunk));
  to.splice(from, kChunk);
  to.consume(kChunk);
  EXPECT_EQ(to.front(), bytes(kChunk));
  to.consume(kChunk);
  EXPECT_EQ(pool.inUse(), 0u);
}

TEST(ByteQueue, MovesWithItsBytes) {
  ChunkPool pool;
  ByteQueue first(pool);
  first.append("abc");
  ByteQueue second(std::move(first));
  EXPECT_EQ(content(second), "abc");
  EXPECT_TRUE(first.empty());
  ByteQueue third(pool);
  third.append("old");
  third = std::move(second);
  EXPECT_EQ(content(third), "abc");
}

/// Two queues and two strings that must have the same contents after every step.
class QueuePair {
 public:
  explicit QueuePair(std::mt19937& random) : random_(random) {}

  void step() {
    const std::size_t which = random_() % 2;
    ByteQueue& queue = queues_[which];
    std::string& model = models_[which];
    switch (random_() % 6) {
      case 0:
      case 1:
        append(queue, model);
        break;
      case 2:
        write(queue, model);
        break;
      case 3:
        consume(queue, model);
        break;
      case 4:
        splice(which);
        break;
      case 5:
        if (random_() % 20 == 0) {
          queue.clear();
          model.clear();
        }
        break;
    }
  }

  void check() {
    for (std::size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(queues_[i].size(), models_[i].size());
      ASSERT_EQ(content(queues_[i]), models_[i]);
      ASSERT_EQ(queues_[i].front().empty(), models_[i].empty());
    }
  }
  void clear() {
    for (ByteQueue& queue : queues_) queue.clear();
  }
  std::size_t chunks() const { return pool_.inUse(); }

 private:
  std::size_t size(std::size_t most) {
    return random_() % 3 == 0 ? random_() % (most + 1) : random_() % (most / 40 + 2);
  }

  void append(ByteQueue& queue, std::string& model) {
    std::string text = bytes(size(3 * kChunk));
    queue.append(text);
    model += text;
  }
  void write(ByteQueue& queue, std::string& model) {
    const std::span<char> room = queue.prepare();
    const std::size_t count = random_() % (room.size() + 1);
    const std::string text = bytes(random_() % 4 == 0 ? 0 : count);
    std::copy(text.begin(), text.end(), room.begin());
    queue.commit(text.size());
    model += text;
  }
  void consume(ByteQueue& queue, std::string& model) {
    const std::size_t count = std::min(size(4 * kChunk), model.size());
    queue.consume(count);
    model.erase(0, count);
  }
  void splice(std::size_t which) {
    const std::size_t count = std::min(size(4 * kChunk), models_[1 - which].size());
    queues_[which].splice(queues_[1 - which], count);
    models_[which] += models_[1 - which].substr(0, count);
    models_[1 - which].erase(0, count);
  }

  std::mt19937& random_;
  ChunkPool pool_;
  std::array<ByteQueue, 2> queues_{ByteQueue(pool_), ByteQueue(pool_)};
  std::array<std::string, 2> models_;
};

TEST(ByteQueue, BehavesLikeAStringUnderRandomUse) {
  for (const std::uint32_t seed : test::seeds(2, 4)) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    QueuePair pair(random);
    for (int i = 0; i < 300; ++i) {
      pair.step();
      ASSERT_NO_FATAL_FAILURE(pair.check()) << "step " << i;
    }
    pair.clear();
    EXPECT_EQ(pair.chunks(), 0u);
  }
}

TEST(ByteQueue, CopiesTheFirstBytesOfAnotherAndLeavesThem) {
  ChunkPool pool;
  ByteQueue from(pool);
  const std::string text = std::string(Chunk::kCapacity, 'a') + std::string(Chunk::kCapacity, 'b') + "c";
  from.append(text);
  from.consume(10);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, Chunk::kCapacity - 10, Chunk::kCapacity, from.size()}) {
    ByteQueue to(pool);
    to.append("x");
    to.appendCopy(from, count);
    std::string got;
    while (!to.empty()) {
      got += to.front();
      to.consume(to.front().size());
    }
    EXPECT_EQ(got, "x" + text.substr(10, count));
  }
  EXPECT_EQ(from.size(), text.size() - 10);
}

}  // namespace
}  // namespace sluice::base
