// Tests SIGTERM: exchanges in flight are finished, idle connections are closed, and a second signal ends the process at
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <semaphore>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/child_process.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Drain, ARequestInFlightFinishesAndItsConnectionIsClosed) {
  std::binary_semaphore arrived{0};
  std::binary_semaphore answer{0};
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    answer.acquire();
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    self.waitUntilItStops();
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket busy = BlockingSocket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.beginToDrain();
  answer.release();
  const ReceivedResponse got = readResponse(busy);
  EXPECT_EQ(got.body, "ok");
  EXPECT_THAT(got.head, HasSubstr("connection: close"));
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, IdleConnectionsAreClosed) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket used = BlockingSocket::connect(gateway.port());
  used.send(kGet);
  EXPECT_EQ(readResponse(used).status, 200);
  BlockingSocket fresh = BlockingSocket::connect(gateway.port());
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(used.readAll(), "");
  EXPECT_EQ(gateway.process().wait(), 0);
}

// The client cannot know that the connection ends while its request is on the way.
TEST(Drain, ARequestThatHasReachedTheSocketIsAnswered) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket kept = BlockingSocket::connect(gateway.port());
  kept.send(kGet);
  EXPECT_EQ(readResponse(kept).status, 200);
  gateway.process().signal(SIGSTOP);
  kept.send(kGet);
  gateway.process().signal(SIGTERM);
  gateway.process().signal(SIGCONT);
  EXPECT_EQ(readResponse(kept).body, "ok");
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, RequestsAreAcceptedForTheDelay) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "drainDelay: 1h\ndrainTimeout: 1h\n"});
  BlockingSocket kept = BlockingSocket::connect(gateway.port());
  kept.send(kGet);
  EXPECT_THAT(readResponse(kept).head, Not(HasSubstr("connection: close")));
  gateway.beginToDrain();
  BlockingSocket probe = BlockingSocket::connect(gateway.healthPort());
  EXPECT_EQ(askRaw(probe, "GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n").status, 503);
  BlockingSocket fresh = BlockingSocket::connect(gateway.port());
  for (BlockingSocket* client : {&kept, &fresh}) {
    client->send(kGet);
    const ReceivedResponse got = readResponse(*client);
    EXPECT_EQ(got.body, "ok");
    EXPECT_THAT(got.head, HasSubstr("connection: close"));
  }
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

// curl keeps the connection for its second request, and gets GOAWAY with the first response.
TEST(Drain, ClientsOfHttp2AreServedForTheDelay) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "drainDelay: 1h\ndrainTimeout: 1h\n"});
  gateway.beginToDrain();
  const ProgramOutcome got = run({"curl", "-sS", "--http2-prior-knowledge", "-w", "%{http_code} %{num_connects} ",
                                  gateway.url("/one"), gateway.url("/two")});
  EXPECT_EQ(got.output, "ok200 1 ok200 1 ") << got.errors;
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, ASecondSignalEndsTheProcessAtOnce) {
  std::binary_semaphore arrived{0};
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    self.waitUntilItStops();
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  BlockingSocket busy = BlockingSocket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.beginToDrain();
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, EndsAtTheTimeoutDespiteOpenExchanges) {
  std::binary_semaphore arrived{0};
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    self.waitUntilItStops();
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}}, .settings = "drainTimeout: 300ms\n"});
  BlockingSocket busy = BlockingSocket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

}  // namespace
}  // namespace sluice::test
