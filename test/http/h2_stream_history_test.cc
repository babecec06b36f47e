#include "proxy/http/h2/h2_stream_history.h"

#include <gtest/gtest.h>

namespace sluice::http {
namespace {

using PeerEnd = H2StreamHistory::PeerEnd;

TEST(H2StreamHistory, RemembersHowThePeersPartEnded) {
  H2StreamHistory history;
  for (const StreamId id : {1u, 3u, 5u}) {
    EXPECT_TRUE(history.isNew(id));
    history.open(id);
    EXPECT_FALSE(history.isNew(id));
  }
  history.close(1, PeerEnd::kEnded);
  history.close(5, PeerEnd::kReset);
  EXPECT_EQ(history.endOf(1), PeerEnd::kEnded);
  EXPECT_EQ(history.endOf(3), PeerEnd::kUnknown);
  EXPECT_EQ(history.endOf(5), PeerEnd::kReset);
}

TEST(H2StreamHistory, KnowsWhichStreamsWereSkipped) {
  H2StreamHistory history;
  history.open(5);
  history.open(11);
  for (const StreamId id : {1u, 3u, 7u, 9u}) {
    EXPECT_EQ(history.endOf(id), PeerEnd::kSkipped) << id;
    EXPECT_FALSE(history.isNew(id));
  }
  EXPECT_EQ(history.endOf(13), PeerEnd::kUnknown);
  EXPECT_TRUE(history.isNew(13));
}

TEST(H2StreamHistory, KnowsNothingOfStreamsThatAreNotTheClients) {
  H2StreamHistory history;
  history.open(5);
  for (const StreamId id : {0u, 2u, 4u, 6u}) {
    EXPECT_FALSE(history.isNew(id));
    EXPECT_EQ(history.endOf(id), PeerEnd::kUnknown);
  }
}

TEST(H2StreamHistory, ForgetsStreamsThatAreTooOld) {
  H2StreamHistory history;
  history.open(1);
  history.close(1, PeerEnd::kEnded);
  StreamId id = 3;
  for (; id < 2 * H2StreamHistory::kStreams; id += 2) history.open(id);
  EXPECT_EQ(history.endOf(1), PeerEnd::kEnded);
  history.open(id);
  EXPECT_EQ(history.endOf(1), PeerEnd::kUnknown);
  EXPECT_EQ(history.endOf(3), PeerEnd::kUnknown);
  history.close(1, PeerEnd::kReset);
  EXPECT_EQ(history.endOf(id), PeerEnd::kUnknown) << "a stream that is forgotten takes nobody's place";
}

TEST(H2StreamHistory, TakesAJumpToTheLastStreamThereIs) {
  H2StreamHistory history;
  history.open(1);
  history.close(1, PeerEnd::kEnded);
  constexpr StreamId kLast = 0x7fffffff;
  history.open(kLast);
  EXPECT_EQ(history.endOf(1), PeerEnd::kUnknown);
  EXPECT_EQ(history.endOf(kLast - 2), PeerEnd::kSkipped);
  history.close(kLast, PeerEnd::kReset);
  EXPECT_EQ(history.endOf(kLast), PeerEnd::kReset);
}

}  // namespace
}  // namespace sluice::http
