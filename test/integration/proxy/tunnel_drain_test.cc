// Tests SIGTERM while tunnels are open: clients without one are told and leave, and tunnels go on until drainTimeout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class DrainedTunnels : public testing::Test {
 protected:
  void start(const std::string& timeout) {
    proxy_.spec.settings = "drainTimeout: " + timeout + "\n";
    proxy_.spec.startedBy = time_.startedBy();
    proxy_.allow(allowingHost("a", "a.test", origin_.port()));
    proxy_.start();
  }
  std::string authority() const { return "a.test:" + std::to_string(origin_.port()); }
  void openOverHttp2(H2Client& client) const {
    client.send(h2::headers(1, {{":method", "CONNECT"}, {":authority", authority()}}, false));
    ASSERT_TRUE(client.readFrame(H2Type::kHeaders, 1));
    ASSERT_EQ(client.status(1), "200");
  }

  /// Returns each byte.
  const RawOrigin origin_{[](BlockingSocket& socket, RawOrigin&) {
    while (!socket.closed()) socket.send(socket.readExactly(1));
  }};
  PassedTime time_;
  ForwardProxy proxy_;
};

TEST_F(DrainedTunnels, GoOnUntilTheTimeoutAndEndThen) {
  start("100s");
  BlockingSocket first = proxy_.client();
  ASSERT_EQ(ForwardProxy::connect(first, authority()).status, 200);
  H2Client second(proxy_.port);
  openOverHttp2(second);
  H2Client idle(proxy_.port);
  ASSERT_TRUE(idle.isServed());
  BlockingSocket kept = proxy_.client();
  ASSERT_EQ(askRaw(kept, "GET http://routed.test/ HTTP/1.1\r\nHost: a\r\n\r\n").status, 302);

  proxy_.gateway->beginToDrain();
  EXPECT_TRUE(idle.readFrame(H2Type::kGoaway, 0));
  idle.send(h2::ping(true));  // it has seen it
  EXPECT_TRUE(idle.readToEnd()) << "nobody waits for it";
  EXPECT_EQ(idle.goawayCode(), h2error::kNoError);
  EXPECT_EQ(kept.readAll(), "");
  EXPECT_TRUE(kept.closed());
  EXPECT_TRUE(second.readFrame(H2Type::kGoaway, 0)) << "it is told, too";
  EXPECT_EQ(second.goawayCode(), h2error::kNoError);
  first.send("x");
  EXPECT_EQ(first.readExactly(1), "x");
  second.send(h2::data(1, "y", false));
  EXPECT_TRUE(second.readUntil([&] { return second.seen().body(1) == "y"; }));

  time_.moveOn(std::chrono::seconds(100));
  proxy_.gateway->adminGet("/");  // makes the gateway read its clock
  EXPECT_EQ(proxy_.gateway->process().wait(), 0);
  first.readAll();
  EXPECT_TRUE(first.closed());
  EXPECT_TRUE(second.readToEnd());
  int ended = 0;
  for (const std::string& line : proxy_.gateway->accessLog(3)) {
    if (line.find("\"way\":\"connect\"") == std::string::npos) continue;
    EXPECT_THAT(line, HasSubstr("\"tunnel.end\":\"drain\""));
    EXPECT_THAT(line, HasSubstr("\"request_bytes\":1,\"response_bytes\":1"));
    ++ended;
  }
  EXPECT_EQ(ended, 2);
}

TEST_F(DrainedTunnels, KeepTheProcessNoLongerThanTheyLast) {
  start("24h");
  BlockingSocket client = proxy_.client();
  ASSERT_EQ(ForwardProxy::connect(client, authority()).status, 200);
  proxy_.gateway->beginToDrain();
  client.close();
  EXPECT_EQ(proxy_.gateway->process().wait(), 0);
  EXPECT_THAT(proxy_.gateway->accessLog(1).front(), HasSubstr("\"tunnel.end\":\"client\""));
}

// A client that has kept its connection has no way to know before its request has left.
TEST_F(DrainedTunnels, AreOpenedDuringTheDelay) {
  start("2h\ndrainDelay: 1h");
  proxy_.gateway->beginToDrain();
  BlockingSocket client = proxy_.client();
  ASSERT_EQ(ForwardProxy::connect(client, authority()).status, 200);
  client.send("x");
  EXPECT_EQ(client.readExactly(1), "x");
  proxy_.gateway->process().signal(SIGTERM);
  EXPECT_EQ(proxy_.gateway->process().wait(), 0);
}

}  // namespace
}  // namespace sluice::test
