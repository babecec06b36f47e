#include "proxy/exchange/attempt/replay.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/manual_clock.h"

namespace sluice::exchange {
namespace {

std::string text(const base::ByteQueue& queue) {
  base::ByteQueue copy(queue.pool());
  copy.appendCopy(queue, queue.size());
  std::string result;
  while (!copy.empty()) {
    result += copy.front();
    copy.consume(copy.front().size());
  }
  return result;
}

class Replays : public ::testing::Test {
 protected:
  Replay make(std::size_t bound) { return {pipe_, bound, room_, {}}; }
  void come(Replay& replay, std::string_view bytes) {
    pipe_.append(bytes);
    replay.keep(bytes);
  }
  /// Has a codec take that many bytes. Returns how many of them are to be granted.
  std::size_t take(Replay& replay, std::size_t count) {
    pipe_.consume(count);
    return replay.take(taken_ += count, count);
  }
  void rewind(Replay& replay) {
    replay.rewind(pipe_, taken_);
    taken_ = 0;
  }

  base::ChunkPool pool_;
  base::ByteQueue pipe_{pool_};
  test::ManualClock clock_;
  processing::BufferBudget budget_{1 << 20};
  processing::BufferRoom room_{budget_, clock_};
  std::uint64_t taken_ = 0;
};

TEST_F(Replays, PutTakenBytesBackInFrontOfTheOthers) {
  pipe_.append("be");
  Replay replay = make(100);
  come(replay, "fore");
  come(replay, "after");
  take(replay, 6);
  ASSERT_TRUE(replay.holds(taken_));
  rewind(replay);
  EXPECT_EQ(text(pipe_), "beforeafter");
  come(replay, "more");
  take(replay, 15);
  rewind(replay);
  EXPECT_EQ(text(pipe_), "beforeaftermore");
}

TEST_F(Replays, HoldAsMuchAsTheBoundAndNoByteMore) {
  Replay replay = make(4);
  come(replay, "abcdef");
  take(replay, 4);
  EXPECT_TRUE(replay.holds(taken_));
  rewind(replay);
  EXPECT_EQ(text(pipe_), "abcdef");
  take(replay, 5);
  EXPECT_FALSE(replay.holds(taken_));
  come(replay, "g");
  EXPECT_FALSE(replay.holds(taken_));
}

TEST_F(Replays, AreBoundedForABodyThatCameBeforeThemToo) {
  pipe_.append("abcdef");
  Replay replay = make(3);
  take(replay, 3);
  EXPECT_TRUE(replay.holds(taken_));
  take(replay, 1);
  EXPECT_FALSE(replay.holds(taken_));
}

TEST_F(Replays, NeedNothingForBytesThatWereNotTaken) {
  Replay replay = make(0);
  come(replay, "abc");
  EXPECT_TRUE(replay.holds(0));
  rewind(replay);
  EXPECT_EQ(text(pipe_), "abc");
}

TEST_F(Replays, GrantEachByteToTheClientOnce) {
  Replay replay = make(100);
  come(replay, "0123456789");
  EXPECT_EQ(take(replay, 6), 6U);
  rewind(replay);
  EXPECT_EQ(take(replay, 4), 0U);
  EXPECT_EQ(take(replay, 4), 2U) << "the two beyond the first six";
  rewind(replay);
  EXPECT_EQ(take(replay, 2), 0U);
  rewind(replay);
  EXPECT_EQ(take(replay, 10), 2U) << "a shorter attempt takes nothing back";
}

TEST_F(Replays, HoldNothingOnceTheyAreOfNoUse) {
  const std::string large(base::Chunk::kCapacity, 'x');
  Replay replay = make(large.size());
  come(replay, large);
  take(replay, large.size());
  EXPECT_EQ(pool_.inUse(), 1U);
  come(replay, "x");
  take(replay, 1);
  EXPECT_EQ(pool_.inUse(), 0U) << "more is gone than was kept";

  pipe_.clear();
  taken_ = 0;
  Replay other = make(100);
  come(other, "abc");
  other.release();
  come(other, "def");
  pipe_.clear();
  EXPECT_EQ(pool_.inUse(), 0U);
}

constexpr std::size_t kUnit = processing::BufferShare::kUnit;

TEST_F(Replays, AreChargedAsBytesComeAndEndWhereThereIsNoRoom) {
  budget_.setMost(4 * kUnit);
  Replay replay = make(100 * kUnit);
  EXPECT_EQ(room_.used(), 0U) << "nothing is reserved";
  come(replay, "a");
  EXPECT_EQ(room_.used(), kUnit);
  come(replay, std::string(2 * kUnit, 'x'));
  EXPECT_EQ(room_.used(), 3 * kUnit) << "all of its own half, and half of the common one";
  come(replay, std::string(kUnit, 'y'));
  EXPECT_EQ(replay.limit(), "processorBufferTotal");
  take(replay, 2 * kUnit);
  EXPECT_TRUE(replay.holds(taken_)) << "what is kept can be replayed";
  take(replay, kUnit);
  EXPECT_FALSE(replay.holds(taken_));
  EXPECT_EQ(room_.used(), 0U);
}

class CopyOwner final : public processing::ResumeSink {
 public:
  void onResumed(std::uint64_t, processing::Ticket, bool) override { copy->release(); }

  Replay* copy = nullptr;
};

TEST_F(Replays, GiveWayToBodiesAtOnce) {
  budget_.setMost(2 * kUnit);
  CopyOwner owner;
  Replay replay(pipe_, 2 * kUnit, room_, {owner, 1, 0});
  owner.copy = &replay;
  come(replay, "abc");
  take(replay, 2);
  processing::BufferShare body(room_);
  EXPECT_TRUE(body.reach(2 * kUnit));
  EXPECT_FALSE(replay.holds(taken_));
  EXPECT_EQ(replay.limit(), "processorBufferTotal");
  come(replay, "def");
  EXPECT_EQ(room_.used(), 2 * kUnit) << "it does not come back";
  EXPECT_TRUE(replay.holds(0)) << "nothing was sent that would have to be kept";
}

TEST_F(Replays, GiveABodyBackToAnAttemptThatWasPlannedBeforeTheyGaveWay) {
  budget_.setMost(2 * kUnit);
  Replay replay = make(kUnit);
  come(replay, "abc");
  take(replay, 2);
  processing::BufferShare body(room_);
  ASSERT_TRUE(body.reach(2 * kUnit));
  rewind(replay);
  EXPECT_EQ(text(pipe_), "abc");
  take(replay, 1);
  EXPECT_FALSE(replay.holds(taken_));
}

}  // namespace
}  // namespace sluice::exchange
