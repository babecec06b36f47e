// Tests attacks by clients that wait for 100 (Continue), on an origin that answers such requests without reading their
// bodies and takes the bytes that follow for another request. No answer to these reaches a client.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/attack/support/attack.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kRefusal = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n";

/// Refuses uploads at once, or below /slow only when bytes have come that it takes for another request.
void serveHastily(BlockingSocket& socket, RawOrigin& self) {
  for (std::string head; !(head = self.readHead(socket)).empty();) {
    if (head.find("expect: 100-continue") == std::string::npos) {
      socket.send(head.find("/smuggled") == std::string::npos ? saying("fine") : saying("EVIL"));
    } else if (head.starts_with("POST /slow ")) {
      self.readHead(socket);
      socket.send(kRefusal + saying("EVIL"));
    } else {
      socket.send(kRefusal);
    }
  }
}

class ExpectationAttacks : public testing::Test {
 protected:
  /// Begins an upload whose body looks like a request.
  BlockingSocket begin(const std::string& path) const {
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: " +
                std::to_string(kSmuggled.size()) + "\r\n\r\n");
    return client;
  }
  /// Asks for something else, which must have its own answer.
  bool isServed() const {
    const ReceivedResponse got = askRaw(gateway_.port());
    EXPECT_THAT(got.body, Not(HasSubstr("EVIL")));
    return got.status == 200 && got.body == "fine";
  }

  static inline const std::string kSmuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";

  RawOrigin origin_{serveHastily};
  GatewayProcess gateway_{towards(origin_, "timeouts: {expectContinue: 20ms}\n")};
};

TEST_F(ExpectationAttacks, ABodyBehindARefusalReachesNoOrigin) {
  Attack attack(gateway_, [this] { return isServed(); });
  for (int i = 0; i < inThisRun(20, 200); ++i) {
    BlockingSocket client = begin("/fast");
    ReceivedResponse got = readResponse(client);
    if (got.status == 100) got = readResponse(client);  // the machine is slow
    EXPECT_EQ(got.status, 403);
    client.send(kSmuggled);
    EXPECT_EQ(client.readAll(), "") << "nothing but the end of the connection";
    EXPECT_TRUE(isServed());
  }
  attack.stands();
  EXPECT_THAT(origin_.heads(), Each(Not(HasSubstr("/smuggled"))));
}

TEST_F(ExpectationAttacks, AnAnswerToABodyReachesNobody) {
  Attack attack(gateway_, [this] { return isServed(); });
  for (int i = 0; i < inThisRun(20, 200); ++i) {
    BlockingSocket client = begin("/slow");
    EXPECT_EQ(readResponse(client).status, 100);
    client.send(kSmuggled);
    EXPECT_EQ(readResponse(client).status, 403);
    EXPECT_TRUE(isServed());
    EXPECT_EQ(askRaw(client).body, "fine");
  }
  attack.stands();
}

}  // namespace
}  // namespace sluice::test
