#include "proxy/base/beat_table.h"

#include <gtest/gtest.h>

#include <functional>

namespace sluice::base {
namespace {

struct BeatingPeer {
  BeatingPeer(Handle<BeatingPeer> self, int itsName) : self_(self), name(itsName) {}
  Handle<BeatingPeer> handle() const { return self_; }
  bool dead() const { return over; }
  void flush() {
    ++flushed;
    if (onFlush) onFlush();
  }

 private:
  Handle<BeatingPeer> self_;

 public:
  const int name;
  bool dirty = false;
  bool over = false;
  int flushed = 0;
  std::function<void()> onFlush;
};

TEST(BeatTable, FlushesAMarkedObjectOnceHoweverOftenItWasMarked) {
  BeatTable<BeatingPeer> table;
  BeatingPeer& peer = table.create(1);
  BeatingPeer& other = table.create(2);
  table.mark(peer);
  table.mark(peer);
  EXPECT_FALSE(table.quiet());
  table.flush();
  EXPECT_EQ(peer.flushed, 1);
  EXPECT_EQ(other.flushed, 0);
  EXPECT_TRUE(table.quiet());
}

TEST(BeatTable, FlushesObjectsMarkedDuringAFlushInTheNextBeat) {
  BeatTable<BeatingPeer> table;
  BeatingPeer& peer = table.create(1);
  peer.onFlush = [&] {
    peer.onFlush = nullptr;
    table.mark(peer);
  };
  table.mark(peer);
  table.flush();
  EXPECT_EQ(peer.flushed, 1);
  EXPECT_FALSE(table.quiet());
  table.flush();
  EXPECT_EQ(peer.flushed, 2);
  EXPECT_TRUE(table.quiet());
}

TEST(BeatTable, VisitsObjectsThatAreMarkedMeanwhile) {
  BeatTable<BeatingPeer> table;
  for (int i = 0; i < 100; ++i) table.create(i);
  std::vector<BeatingPeer*> peers;
  table.forEach([&](BeatingPeer& peer) { peers.push_back(&peer); });
  table.mark(*peers[0]);
  std::vector<int> driven;
  table.drive([&](BeatingPeer& peer) {
    driven.push_back(peer.name);
    if (driven.size() == 1) {
      for (BeatingPeer* each : peers) table.mark(*each);
    }
  });
  EXPECT_EQ(driven.size(), 100u);
  table.flush();
  for (const BeatingPeer* peer : peers) EXPECT_EQ(peer->flushed, 1);
}

TEST(BeatTable, DestroysDeadObjectsAfterTheirFlush) {
  BeatTable<BeatingPeer> table;
  const Handle<BeatingPeer> handle = table.create(1).handle();
  const Handle<BeatingPeer> living = table.create(2).handle();
  table.find(handle)->over = true;
  table.mark(*table.find(handle));
  table.mark(*table.find(living));
  table.flush();
  EXPECT_FALSE(table.quiet());
  EXPECT_EQ(table.size(), 2u) << "not before the reap";
  int gone = 0;
  table.reap([&gone] { ++gone; });
  EXPECT_EQ(gone, 1);
  EXPECT_EQ(table.find(handle), nullptr);
  EXPECT_NE(table.find(living), nullptr);
  EXPECT_TRUE(table.quiet());
}

TEST(BeatTable, HasNoObjectsAndNoWorkAfterClear) {
  BeatTable<BeatingPeer> table;
  for (int i = 0; i < 40; ++i) table.mark(table.create(i));
  table.clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.quiet());
}

}  // namespace
}  // namespace sluice::base
