// Tests SIGTERM: exchanges in flight are finished, idle connections are closed, and a second signal ends the process at
// once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <semaphore>

#include "test/integration/support/gateway.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/socket.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

TEST(Drain, ARequestInFlightFinishesAndItsConnectionIsClosed) {
  std::binary_semaphore arrived{0};
  std::binary_semaphore answer{0};
  RawOrigin origin([&](Socket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    answer.acquire();
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    self.waitUntilItStops();
  });
  Gateway gateway({.backends = {{.port = origin.port()}}});
  Socket busy = Socket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.beginToDrain();
  answer.release();
  const RawResponse got = readResponse(busy);
  EXPECT_EQ(got.body, "ok");
  EXPECT_THAT(got.head, HasSubstr("connection: close"));
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, IdleConnectionsAreLetGo) {
  RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  Gateway gateway({.backends = {{.port = origin.port()}}});
  Socket used = Socket::connect(gateway.port());
  used.send(kGet);
  EXPECT_EQ(readResponse(used).status, 200);
  Socket fresh = Socket::connect(gateway.port());
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(used.readAll(), "");
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, ASecondSignalEndsAtOnce) {
  std::binary_semaphore arrived{0};
  RawOrigin origin([&](Socket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    self.waitUntilItStops();
  });
  Gateway gateway({.backends = {{.port = origin.port()}}});
  Socket busy = Socket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.beginToDrain();
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

TEST(Drain, EndsAtTheTimeoutWhoeverIsStillThere) {
  std::binary_semaphore arrived{0};
  RawOrigin origin([&](Socket& socket, RawOrigin& self) {
    self.readHead(socket);
    arrived.release();
    self.waitUntilItStops();
  });
  Gateway gateway({.backends = {{.port = origin.port()}}, .settings = "drainTimeout: 300ms\n"});
  Socket busy = Socket::connect(gateway.port());
  busy.send(kGet);
  arrived.acquire();
  gateway.process().signal(SIGTERM);
  EXPECT_EQ(gateway.process().wait(), 0);
}

}  // namespace
}  // namespace sluice::test
