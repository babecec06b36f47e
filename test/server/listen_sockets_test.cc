// Sockets from one generation to the next, on real ports of loopback.
#include "proxy/server/serving/listen_sockets.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "test/net/socket_pair.h"
#include "test/support/held_port.h"

namespace sluice::server {
namespace {

struct BindPlace {
  std::string address;  // "" for all addresses
  std::uint16_t port;
};

class ListenSocketsTest : public ::testing::Test {
 protected:
  std::shared_ptr<const control::Generation> generation(const std::vector<BindPlace>& binds) {
    auto snapshot = std::make_shared<routing::Snapshot>();
    for (const BindPlace& at : binds) {
      routing::Bind& bind = snapshot->binds.emplace_back();
      bind.address = at.address;
      bind.port = at.port;
    }
    return maker_.make(std::move(snapshot), "1", nullptr).value();
  }
  /// Changes to another generation, as a reload does. Returns true if all of its sockets could be opened.
  bool change(const control::Generation& to) {
    const bool opened = sockets_.open(to).empty();
    if (opened) sockets_.closeOthers(to);
    return opened;
  }
  std::vector<std::string> addresses(const control::Generation& generation) const {
    std::vector<std::string> found;
    for (const BoundSocket& bound : sockets_.of(generation)) found.push_back(bound.socket->address().toString());
    std::sort(found.begin(), found.end());
    return found;
  }
  static bool canListen(const BindPlace& at) {
    return net::ListenSocket::open(*net::Address::parse(at.address, at.port)).ok();
  }

  const test::HeldPort held_;
  control::GenerationMaker maker_;
  ListenSockets sockets_;
};

TEST_F(ListenSocketsTest, AreTriedWithoutBeingKept) {
  const test::HeldPort other;
  const auto served = generation({{"127.0.0.1", held_.port()}});
  ASSERT_TRUE(change(*served));
  const auto free = generation({{"127.0.0.1", held_.port()}, {"127.0.0.2", held_.port()}});
  EXPECT_TRUE(sockets_.unusable(*free->snapshot).empty()) << "the first one is open already";
  EXPECT_TRUE(canListen({"127.0.0.2", held_.port()})) << "the trial has ended";
  const auto taken = net::ListenSocket::open(*net::Address::parse("127.0.0.1", other.port()));
  ASSERT_TRUE(taken.ok());
  const auto unusable = sockets_.unusable(*generation({{"127.0.0.1", other.port()}})->snapshot);
  ASSERT_EQ(unusable.size(), 1U);
  EXPECT_EQ(unusable[0].port, other.port());
  EXPECT_FALSE(unusable[0].why.empty());
}

TEST_F(ListenSocketsTest, AreKeptIfBothGenerationsListenOnThem) {
  const BindPlace one{"127.0.0.1", held_.port()};
  const BindPlace two{"127.0.0.2", one.port};
  const auto before = generation({one});
  ASSERT_TRUE(change(*before));
  const BoundSocket kept = sockets_.of(*before).at(0);
  const auto after = generation({two, one});
  ASSERT_TRUE(change(*after));
  const std::vector<BoundSocket> bound = sockets_.of(*after);
  ASSERT_EQ(bound.size(), 2U);
  EXPECT_EQ(bound[1].socket, kept.socket);
  EXPECT_EQ(bound[1].bind, kept.bind);
  EXPECT_NE(bound[0].bind, kept.bind);
}

TEST_F(ListenSocketsTest, AreClosedWhenNoListenerUsesThem) {
  const BindPlace one{"127.0.0.1", held_.port()};
  const BindPlace two{"127.0.0.2", one.port};
  ASSERT_TRUE(change(*generation({one, two})));
  const auto after = generation({two});
  ASSERT_TRUE(sockets_.open(*after).empty());
  EXPECT_FALSE(canListen(one)) << "not before it is said";
  sockets_.closeOthers(*after);
  EXPECT_TRUE(canListen(one));
  EXPECT_FALSE(canListen(two));
}

TEST_F(ListenSocketsTest, AreOpenedBesideThoseThatCannotBeOpened) {
  const BindPlace taken{"127.0.0.1", held_.port()};
  auto occupant = net::ListenSocket::open(*net::Address::parse(taken.address, taken.port));
  ASSERT_TRUE(occupant.ok());
  const BindPlace old{"127.0.0.2", taken.port};
  const BindPlace fresh{"127.0.0.3", taken.port};
  const auto before = generation({old});
  ASSERT_TRUE(change(*before));
  for (const auto& wanted : {generation({fresh, taken}), generation({taken, fresh})}) {
    const compile::UnusablePlaces unusable = sockets_.open(*wanted);
    ASSERT_EQ(unusable.size(), 1U);
    EXPECT_EQ(unusable[0].address, taken.address);
    EXPECT_EQ(unusable[0].port, taken.port);
    EXPECT_NE(unusable[0].why.find("Address already in use"), std::string::npos);
    EXPECT_EQ(addresses(*wanted), std::vector<std::string>{"127.0.0.3:" + std::to_string(fresh.port)});
    EXPECT_FALSE(sockets_.openAny(unusable));
    sockets_.closeOthers(*before);
    EXPECT_TRUE(canListen(fresh));
  }
  { const net::ListenSocket gone = std::move(*occupant); }
  EXPECT_TRUE(sockets_.openAny({{taken.address, taken.port, ""}}));
  EXPECT_EQ(addresses(*generation({taken})), std::vector<std::string>{"127.0.0.1:" + std::to_string(taken.port)});
}

TEST_F(ListenSocketsTest, AreOpenedForEachVersionOfIpIfNoAddressIsGiven) {
  const auto all = generation({{"", held_.port()}});
  ASSERT_TRUE(change(*all));
  const std::vector<BoundSocket> bound = sockets_.of(*all);
  for (const BoundSocket& each : bound) EXPECT_EQ(each.bind, all->binds[0].id);
  EXPECT_EQ(addresses(*all).front(), "0.0.0.0:" + std::to_string(held_.port()));
  EXPECT_LE(bound.size(), 2U);
}

TEST_F(ListenSocketsTest, MayChangeFromOneAddressToAllAndBack) {
  const BindPlace one{"127.0.0.1", held_.port()};
  const BindPlace all{"0.0.0.0", one.port};
  const BindPlace every{"", one.port};
  ASSERT_TRUE(change(*generation({one})));
  for (const BindPlace& next : {all, one, every, one}) {
    const auto wanted = generation({next});
    ASSERT_TRUE(change(*wanted));
    const std::string place = (next.address.empty() ? "0.0.0.0" : next.address) + ":" + std::to_string(next.port);
    EXPECT_EQ(addresses(*wanted).front(), place);
    EXPECT_FALSE(canListen(next.address.empty() ? all : next)) << "nobody else does";
  }
  EXPECT_TRUE(canListen({"127.0.0.2", one.port})) << "all were given back";
}

}  // namespace
}  // namespace sluice::server
