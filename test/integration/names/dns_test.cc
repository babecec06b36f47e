// Tests the gateway with a real name server: its cache, the times of its queries, and its behaviour when names change,
// fail or resolve to addresses that do not answer.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

constexpr const char* kName = "origin.test";

/// Every request of these tests opens a connection, and so resolves the name.
class Dns : public testing::Test {
 protected:
  Dns() : origin_(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")) {}

  static NameServer::Records pointing(const std::vector<std::string>& addresses) { return {{kName, addresses}}; }
  /// A query may take 20 s unless `dns` sets a timeout, so that a slow name server is not queried twice.
  GatewaySpec spec(const NameServer& server, const std::string& dns = {}) const {
    const std::string patience = dns.find("timeout:") == std::string::npos ? ", timeout: 20s" : "";
    return {.backends = {{.hostname = kName, .port = origin_.port(), .addresses = ""}},
            .dns = "servers: [\"" + server.address() + "\"]" + (dns.empty() ? "" : ", " + dns) + patience};
  }
  GatewayProcess gateway(const NameServer& server, const std::string& dns = {}) const {
    return GatewayProcess(spec(server, dns));
  }
  static ReceivedResponse ask(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET / HTTP/1.1\r\nHost: any.test\r\nConnection: close\r\n\r\n");
    return readResponse(client);
  }
  /// Sends requests until the answer has `status`; returns false if it never does. All other answers must be
  /// `meanwhile`.
  static bool askUntil(const GatewayProcess& gateway, int status, int meanwhile) {
    const auto until = Clock::now() + kPatience;
    for (ReceivedResponse answer = ask(gateway); answer.status != status; answer = ask(gateway)) {
      EXPECT_EQ(answer.status, meanwhile) << answer.body;
      if (Clock::now() > until || answer.status != meanwhile) return false;
    }
    return true;
  }

  RawOrigin origin_;
};

TEST_F(Dns, ANameIsQueriedOnceWithinItsTtl) {
  const NameServer server(pointing({"127.0.0.1"}));
  const GatewayProcess one = gateway(server);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(one).status, 200);
  EXPECT_EQ(origin_.connections(), 5);
  EXPECT_EQ(server.asked(kName), 1);
  EXPECT_EQ(one.metric("dns_lookup_duration_seconds_count{dns_question_name=\"origin.test\",error_type=\"\"}"), 1);
}

TEST_F(Dns, ANameInUseIsRefreshedBeforeItsTtlEndsWithoutDelay) {
  const NameServer server(pointing({"127.0.0.1"}), 2);
  const GatewayProcess one = gateway(server);
  const auto start = Clock::now();
  int asked = 0;
  while ((asked = server.asked(kName)) < 3 && Clock::now() - start < kPatience) {
    ASSERT_EQ(ask(one).status, 200);
    letTimePass(20ms);
  }
  EXPECT_GE(asked, 3);
  EXPECT_GE(Clock::now() - start, (asked - 1) * 1600ms) << "four fifths of the TTL lie between two questions";
}

TEST_F(Dns, ATtlBelowTheMinimumIsRaisedToIt) {
  const NameServer server(pointing({"127.0.0.1"}), 0);
  const GatewayProcess one = gateway(server, "minTtl: 60s");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(one).status, 200);
  EXPECT_EQ(server.asked(kName), 1);
}

TEST_F(Dns, AChangedAnswerIsFollowed) {
  NameServer server(pointing({"127.0.0.2"}), 1);
  const GatewayProcess one = gateway(server);
  EXPECT_EQ(ask(one).status, 503) << "nobody listens there";
  server.change(pointing({"127.0.0.1"}));
  EXPECT_TRUE(askUntil(one, 200, 503));
}

TEST_F(Dns, ANameThatDoesNotExistIsReportedAndCached) {
  const NameServer server({});
  const GatewayProcess one = gateway(server, "negativeTtl: 60s");
  for (int i = 0; i < 3; ++i) {
    const ReceivedResponse answer = ask(one);
    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.body, HasSubstr("\"dns_error\""));
    EXPECT_THAT(answer.body, HasSubstr("Domain name not found"));
  }
  EXPECT_EQ(server.asked(kName), 1);
}

TEST_F(Dns, ARemovedNameStopsResolving) {
  NameServer server(pointing({"127.0.0.1"}), 1);
  const GatewayProcess one = gateway(server, "staleTtl: 1h");
  EXPECT_EQ(ask(one).status, 200);
  server.change({});
  EXPECT_TRUE(askUntil(one, 503, 200));
}

TEST_F(Dns, ASilentServerIsATimeout) {
  NameServer server(pointing({"127.0.0.1"}));
  server.fallSilent();
  const GatewayProcess one = gateway(server, "timeout: 100ms, attempts: 2");
  const auto start = Clock::now();
  const ReceivedResponse answer = ask(one);
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, HasSubstr("\"dns_timeout\""));
  EXPECT_GE(Clock::now() - start, 200ms);
}

TEST_F(Dns, AServerThatRefusesIsAnError) {
  const NameServer server({});
  const GatewayProcess one({.backends = {{.hostname = "origin.example", .port = origin_.port(), .addresses = ""}},
                            .dns = "servers: [\"" + server.address() + "\"]"});
  const ReceivedResponse answer = ask(one);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("\"dns_error\""));
  EXPECT_THAT(answer.body, HasSubstr("no name server has an answer"));
}

TEST_F(Dns, TheLastGoodAnswerOutlivesADeadServerUpToItsLimit) {
  NameServer server(pointing({"127.0.0.1"}), 1);
  const GatewayProcess one = gateway(server, "staleTtl: 2s, negativeTtl: 1s");
  const auto start = Clock::now();
  EXPECT_EQ(ask(one).status, 200);
  server.die();
  EXPECT_TRUE(askUntil(one, 503, 200));
  EXPECT_GE(Clock::now() - start, 3s);
}

// One client of each worker: connections spread evenly, and each request of these tests resolves the name.
TEST_F(Dns, TheLastGoodAnswerOfOneWorkerServesTheOthersToo) {
  NameServer server(pointing({"127.0.0.1"}), 0);
  GatewaySpec two = spec(server, "minTtl: 0s, negativeTtl: 1s");
  two.workers = 2;
  const GatewayProcess gateway(two);
  BlockingSocket first = BlockingSocket::connect(gateway.port());
  const auto askBy = [](BlockingSocket& client) {
    client.send("GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
    return readResponse(client).status;
  };
  EXPECT_EQ(askBy(first), 200);
  server.die();
  BlockingSocket second = BlockingSocket::connect(gateway.port());
  EXPECT_EQ(askBy(second), 200) << "its worker has never had an answer of its own";
  EXPECT_EQ(askBy(first), 200);
}

TEST_F(Dns, AServerThatFallsSilentAfterAGoodAnswerFailsNobody) {
  NameServer server(pointing({"127.0.0.1"}), 200);
  PassedTime time;
  GatewaySpec timed = spec(server, "timeout: 20s, attempts: 1, negativeTtl: 1s");
  timed.startedBy = time.startedBy();
  const GatewayProcess one(timed);
  EXPECT_EQ(ask(one).status, 200);
  server.fallSilent();
  time.pass(one, 161s);  // four fifths of the TTL: the name is queried again
  ASSERT_EQ(ask(one).status, 200);
  for (int i = 0; i < 10; ++i) {
    time.pass(one, 21s);
    ASSERT_EQ(ask(one).status, 200);
  }
  EXPECT_TRUE(one.reaches(
      "dns_lookup_duration_seconds_count{dns_question_name=\"origin.test\",error_type=\"dns_timeout\"}", 3));
}

TEST_F(Dns, AnAnswerTooLongForADatagramIsFetchedByTcp) {
  std::vector<std::string> addresses;
  for (int i = 2; i <= 100; ++i) addresses.push_back("127.0.1." + std::to_string(i));
  addresses.emplace_back("127.0.0.1");
  const NameServer server(pointing(addresses));
  // Only one of a hundred addresses answers, and it is reached.
  const GatewayProcess one = gateway(server, "maxAddresses: 1000");
  EXPECT_EQ(ask(one).status, 200);
  EXPECT_EQ(server.asked(kName), 2) << "by datagram, and again by TCP";
}

TEST_F(Dns, OnlySomeOfThousandsOfAddressesAreTried) {
  std::vector<std::string> addresses;
  for (int i = 0; i < 3000; ++i) {
    addresses.push_back("127.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1));
  }
  const NameServer server(pointing(addresses));
  const GatewayProcess one = gateway(server);
  const ReceivedResponse answer = ask(one);
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.body, HasSubstr("\"connection_refused\""));
}

/// A port of 127.0.0.2 that neither accepts nor refuses connections, because its queue is full.
class BlackHole {
 public:
  explicit BlackHole(std::uint16_t port) {
    at_.sin_family = AF_INET;
    at_.sin_port = htons(port);
    at_.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
    const int listener = add(0);
    EXPECT_EQ(bind(listener, reinterpret_cast<const sockaddr*>(&at_), sizeof at_), 0);
    EXPECT_EQ(listen(listener, 0), 0);
    while (fill()) continue;
  }
  ~BlackHole() {
    for (const int fd : fds_) close(fd);
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;

 private:
  int add(int flags) { return fds_.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0)); }
  // Returns false as soon as a connection is not accepted at once.
  bool fill() {
    pollfd waiting{.fd = add(SOCK_NONBLOCK), .events = POLLOUT, .revents = 0};
    if (connect(waiting.fd, reinterpret_cast<const sockaddr*>(&at_), sizeof at_) == 0) return true;
    return poll(&waiting, 1, 100) == 1;
  }

  sockaddr_in at_{};
  std::vector<int> fds_;
};

class SeveralAddresses : public Dns {
 protected:
  GatewaySpec specTo(const std::string& addresses, const std::string& connect) const {
    return {.backends = {{.hostname = kName, .port = origin_.port(), .addresses = addresses}},
            .settings = "timeouts: {connect: " + connect + "}"};
  }
};

TEST_F(SeveralAddresses, AreTriedInTurnIfOneRefuses) {
  const GatewayProcess one(specTo("127.0.0.2, 127.0.0.1", "20s"));
  EXPECT_EQ(ask(one).status, 200);
}

TEST_F(SeveralAddresses, AreTriedInTimeIfOneIsSilentAndThenThatOneLast) {
  const BlackHole hole(origin_.port());
  GatewaySpec spec = specTo("127.0.0.2, 127.0.0.1", "60s");
  spec.workers = 2;
  const GatewayProcess one(spec);
  const auto start = Clock::now();
  EXPECT_EQ(ask(one).status, 200);
  EXPECT_GE(Clock::now() - start, 250ms) << "the silent one is the first";
  EXPECT_LT(Clock::now() - start, 20s);
  const auto known = Clock::now();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ask(one).status, 200);
  EXPECT_LT(Clock::now() - known, 20 * 250ms) << "no worker waits for it again";
  EXPECT_EQ(origin_.connections(), 21);
  EXPECT_EQ(one.limitHits("connect"), 0);
}

TEST_F(SeveralAddresses, ThatHaveFailedAreCountedInTheLog) {
  GatewayProcess one(specTo("127.0.0.3, 127.0.0.2", "20s"));
  EXPECT_EQ(ask(one).status, 503);
  EXPECT_THAT(one.accessLog(1).front(), HasSubstr("2 addresses have failed, this one last"));
}

TEST_F(SeveralAddresses, EndByTheConnectTimeoutIfNoneAnswers) {
  const BlackHole hole(origin_.port());
  const GatewayProcess one(specTo("127.0.0.2, 127.0.0.2", "1s"));
  const auto start = Clock::now();
  const ReceivedResponse answer = ask(one);
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(answer.body, HasSubstr("\"connection_timeout\""));
  EXPECT_GE(Clock::now() - start, 1s);
  EXPECT_TRUE(one.limitWasHit("connect"));
}

}  // namespace
}  // namespace sluice::test
