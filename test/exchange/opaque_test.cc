// Exchanges over opaque codecs on both sides: bytes of any protocol, by the same credit, deadlines, pools and log.
#include <gtest/gtest.h>

#include <string>

#include "test/support/exchange_rig.h"
#include "test/support/table_entry.h"

namespace sluice::exchange {
namespace {

using http::Version;
using std::chrono::seconds;
using test::BackendPeer;
using test::ClientPeer;
using test::Rig;
using test::RigOptions;

RigOptions opaqueOptions() {
  RigOptions made;
  made.protocol = routing::UpstreamProtocol::kOpaque;
  made.timeouts.tunnelIdle = seconds(60);
  made.routes = [](const std::shared_ptr<routing::BackendPlan>& plan) {
    routing::test::TableEntry all;
    auto rule = std::make_shared<routing::Rule>();
    rule->route = "demo/stream";
    rule->backends.emplace_back().backend = plan;
    rule->totalWeight = 1;
    all.path = "/";
    all.method = "CONNECT";
    all.rule = std::move(rule);
    std::vector<routing::test::TableEntry> entries;
    entries.push_back(std::move(all));
    return entries;
  };
  return made;
}

class OpaqueExchange : public ::testing::Test {
 protected:
  OpaqueExchange() : rig_(opaqueOptions()), client_(rig_.connect(Version::kOpaque)) {}

  void open() {
    index_ = client_.ask({.body = http::Body::kTunnel, .tunnel = http::Tunnel::kStream});
    EXPECT_TRUE(rig_.settle());
    ASSERT_EQ(rig_.dialled(), 1U);
    rig_.accept(0, Version::kOpaque);
    ASSERT_TRUE(rig_.settle());
    ASSERT_EQ(backend().requests(), 1U);
    backend().head(0, {.body = http::Body::kTunnel, .tunnel = http::Tunnel::kStream, .status = 200});
    EXPECT_TRUE(rig_.settle());
  }
  void say(std::string_view bytes) {
    client_.body(index_, bytes);
    EXPECT_TRUE(rig_.settle());
  }
  void reply(std::string_view bytes) {
    backend().body(0, bytes);
    EXPECT_TRUE(rig_.settle());
  }
  BackendPeer& backend() { return *rig_.backends.at(0); }
  test::RecordingServerSink::RecordedRequest& heard() { return backend().request(0); }
  test::RecordingClientSink::RecordedResponse& answer() { return client_.answer(index_); }
  void expectClean() {
    EXPECT_TRUE(rig_.quiet());
    EXPECT_EQ(rig_.exchanges.size(), 0U);
    ASSERT_EQ(rig_.told.size(), 1U);
    EXPECT_EQ(rig_.budget().requests.count(), 0U);
    rig_.close();
    EXPECT_EQ(rig_.budget().connections.count(), 0U);
    EXPECT_EQ(rig_.worker.chunks().inUse(), 0U);
  }

  Rig rig_;
  ClientPeer& client_;
  std::size_t index_ = 0;
};

TEST_F(OpaqueExchange, MovesBytesBothWaysUntilBothHaveEnded) {
  open();
  std::string up;
  std::string down;
  for (int i = 0; i < 50; ++i) {
    up += std::to_string(i) + ";";
    down += std::to_string(i) + ",";
    say(std::to_string(i) + ";");
    reply(std::to_string(i) + ",");
    EXPECT_EQ(heard().body, up) << "nothing is held back";
    EXPECT_EQ(answer().body, down);
  }
  client_.wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(backend().wire().finished);
  reply("last words");
  EXPECT_EQ(answer().body, down + "last words");
  backend().wire().end();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.wire().finished);
  expectClean();
  EXPECT_EQ(rig_.told.at(0).status, 200);
  EXPECT_EQ(rig_.told.at(0).requestBytes, up.size());
  EXPECT_EQ(rig_.told.at(0).responseBytes, down.size() + 10);
}

TEST_F(OpaqueExchange, StopsReadingAPeerWhoseBytesAreNotTaken) {
  open();
  backend().wire().allow(0);
  for (int i = 0; i < 100; ++i) client_.body(index_, std::string(64 * 1024, 'x'));
  EXPECT_TRUE(rig_.settle());
  const std::size_t held = heard().body.size();
  EXPECT_EQ(held, 0U);
  EXPECT_GT(client_.wire().waiting(), std::size_t{90} * 64 * 1024) << "the gateway reads no more than it may hold";
  backend().wire().allowAll();
  EXPECT_TRUE(rig_.settle());
  EXPECT_EQ(heard().body.size(), std::size_t{100} * 64 * 1024);
}

TEST_F(OpaqueExchange, IsCutShortTowardsTheClientIfTheBackendIsLost) {
  open();
  say("hello");
  backend().wire().reset();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.wire().aborted);
  expectClean();
  EXPECT_TRUE(rig_.told.at(0).error.has_value());
}

TEST_F(OpaqueExchange, IsCutShortTowardsTheBackendIfTheClientIsLost) {
  open();
  say("hello");
  client_.wire().reset();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(backend().wire().aborted);
  expectClean();
}

TEST_F(OpaqueExchange, EndsWhenNoBytesMoveForTooLong) {
  open();
  rig_.advance(seconds(61));
  EXPECT_TRUE(client_.wire().over() || client_.wire().finished);
  expectClean();
}

TEST_F(OpaqueExchange, IsRefusedIfTheBackendCannotBeReached) {
  index_ = client_.ask({.body = http::Body::kTunnel, .tunnel = http::Tunnel::kStream});
  EXPECT_TRUE(rig_.settle());
  rig_.wire(0).reset();
  EXPECT_TRUE(rig_.settle());
  EXPECT_TRUE(client_.wire().aborted);
  expectClean();
  EXPECT_EQ(rig_.told.at(0).status, 502);
}

}  // namespace
}  // namespace sluice::exchange
