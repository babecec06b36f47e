// Tests attacks by what a client states about its request. Each has a victim beside it, whose request must end during
// the attack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "test/attack/support/attack.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/held_origin.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/passed_time.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPastBodyIdle(61);

/// Runs a gateway whose Backend takes two requests at once, and whose clients have a minute for a kilobyte of their
/// bodies.
struct NarrowBackend {
  explicit NarrowBackend(std::uint16_t port)
      : gateway({.backends = {{.port = port}},
                 .settings = limits("backendRequests: 2") + onlyTimeouts("bodyIdle: 60s"),
                 .startedBy = time.startedBy()}) {}
  PassedTime time;
  GatewayProcess gateway;
};

// gRPC streams may be quiet for long, so bodyIdle spares them. HTTP/1.1 carries no gRPC, and a Content-Type alone must
// not extend the timeout.
TEST(EdgeAttacks, AGrpcContentTypeOverHttp11DoesNotHoldTheBackend) {
  HeldOrigin origin;
  NarrowBackend narrow(origin.port());
  std::vector<BlockingSocket> attackers;
  for (int i = 0; i < 2; ++i) {
    attackers.push_back(BlockingSocket::connect(narrow.gateway.port()));
    attackers.back().send("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nContent-Length: 9\r\n\r\n");
  }
  ASSERT_TRUE(origin.wasAsked(2));
  EXPECT_EQ(askRaw(narrow.gateway.port()).status, 503) << "the attack stands";
  narrow.time.pass(narrow.gateway, kPastBodyIdle);
  for (BlockingSocket& attacker : attackers) EXPECT_EQ(readResponse(attacker).status, 408);
  EXPECT_TRUE(narrow.gateway.reaches("sluice_limit_hits_total{limit=\"bodyIdle\"}", 2));
  for (int i = 0; i < 3; ++i) origin.answer();
  EXPECT_EQ(askRaw(narrow.gateway.port()).status, 200) << "the victim";
}

// A guard that reads the first Content-Type and a backend that reads the last one do not judge the same body.
TEST(EdgeAttacks, TwoContentTypesDoNotBypassABodyRouterThatFailsClosed) {
  RecordingOrigin origin([](std::size_t) { return kOk; });
  const std::string router = "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, config: {}}";
  const std::string rules =
      "    - matches: [{headers: [{name: x-gateway-model-name, value: large}]}]\n"
      "      filters: [{type: RequestRedirect, requestRedirect: {statusCode: 302}}]\n"
      "    -\n" +
      backendRefs();
  const std::string guard =
      "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: model}\n"
      "spec: {phase: PreRouting, targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}, "
      "processors: [" +
      router + "]}\n";
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}, .routes = routeOfRules(rules) + guard});
  const std::string large = R"({"model": "large"})";
  const auto post = [&](const std::string& lines) {
    return askRaw(gateway.port(), "POST / HTTP/1.1\r\nHost: a\r\n" + lines +
                                      "Content-Length: " + std::to_string(large.size()) + "\r\n\r\n" + large);
  };
  const std::string json = "Content-Type: application/json\r\n";
  ASSERT_EQ(post(json).status, 302) << "the guard sees an honest request";
  for (const std::string& around : {"Content-Type: text/plain\r\n" + json, json + "Content-Type: text/plain\r\n",
                                    json + json, std::string("Content-Type: text/plain, application/json\r\n"),
                                    std::string("Content-Type: json\r\n"), std::string("Content-Type:\r\n") + json}) {
    const ReceivedResponse got = post(around);
    EXPECT_EQ(got.status, 400) << around;
    EXPECT_THAT(got.body, HasSubstr("Content-Type")) << around;
  }
  H2Client client(gateway.port());
  H2Lines lines = h2::post("/");
  for (const char* type : {"text/plain", "application/json"}) lines.emplace_back("content-type", type);
  client.send(h2::headers(1, lines, false) + h2::data(1, large, true));
  ASSERT_TRUE(client.readUntil([&] { return client.isSettled(1); }));
  EXPECT_EQ(client.status(1), "400");
  EXPECT_EQ(askRaw(gateway.port()).status, 200) << "the victim";
  EXPECT_TRUE(origin.bodies().size() == 1 && origin.bodies()[0].empty()) << "the attack came through";
}

/// Returns a script that answers requests for /fine at once, and stops reading after any other head.
RawOrigin::Script stuck(std::atomic<int>& held) {
  return [&held](BlockingSocket& socket, RawOrigin& self) {
    for (std::string head; !(head = self.readHead(socket)).empty();) {
      if (!head.starts_with("GET /fine ")) break;
      socket.send(kOk);
    }
    ++held;
    self.waitUntilItStops();
  };
}

/// Sends a hundred requests of 60 KB each in a few kilobytes, on a connection whose window stays closed. One write
/// brings them all, so that none is answered before the last one is there.
std::unique_ptr<H2Client> bomb(std::uint16_t port, const std::string& target) {
  auto client = std::make_unique<H2Client>(port, std::string(h2::preface()) + h2::settings({{0x4, 0}}));
  std::string requests;
  for (std::uint32_t id = 1; id < 201; id += 2) {
    std::string block = h2::block(h2::get(target));
    if (id == 1) block += h2::indexedLine("x-large", std::string(3900, 'y'));
    for (int i = 0; i < 15; ++i) block += h2::reference(62);
    requests += h2::headers(id, block, true);
  }
  client->send(requests);
  return client;
}

// A head that HPACK expands from few bytes would be held for as long as the client likes if it were not charged, and
// released with the answer.
TEST(EdgeAttacks, CheaplySentHeadsHoldLittleMemory) {
  const bool measured = isMeasured();
  std::atomic<int> held = 0;
  RawOrigin origin(stuck(held));
  PassedTime time;
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .settings = onlyTimeouts("clientIdle: 60s"),
                          .routes = routeOfRules(ruleOfPrefix("/wait", "origin") + ruleOfPrefix("/fine", "origin")),
                          .release = true,
                          .startedBy = time.startedBy()});
  constexpr std::size_t kAttackers = 5;
  const std::string fine = "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
  const auto victim = [&] { return askRaw(gateway.port(), fine).status == 200; };
  for (const char* target : {"/nowhere", "/wait"}) {
    Attack attack(gateway, victim, {.grownKib = (measured ? kAttackers * 5 : 128) * 1024});
    std::vector<std::unique_ptr<H2Client>> attackers;
    for (std::size_t i = 0; i < kAttackers; ++i) {
      attackers.push_back(bomb(gateway.port(), target));
      ASSERT_TRUE(attackers.back()->isServed()) << "all of it has arrived";
    }
    EXPECT_TRUE(attackers[0]->readUntil([&] { return attackers[0]->isSettled(199); }));
    const bool areHeld = target == std::string("/wait");
    EXPECT_EQ(attackers[0]->status(199), areHeld ? "503" : "404") << "earlier heads leave no room, if they are held";
    attack.stands();
    std::string large = "GET /fine HTTP/1.1\r\nHost: a\r\n";
    for (int i = 0; i < 15; ++i) large += "X-Large: " + std::string(3900, 'y') + "\r\n";
    EXPECT_EQ(askRaw(gateway.port(), large + "\r\n").status, 200) << "a victim with a large head of its own";
    if (areHeld) {
      EXPECT_TRUE(gateway.limitWasHit("headerMemory"));
    } else {
      time.pass(gateway, std::chrono::seconds(61));
      EXPECT_TRUE(gateway.limitWasHit("clientIdle")) << "answers that are not read end";
    }
  }
}

// No Backend slows down the answers that the gateway makes by itself.
TEST(EdgeAttacks, PipelinedRequestsForNothingDoNotHoldUpOthers) {
  RawOrigin origin([](BlockingSocket& socket, RawOrigin& self) {
    while (!self.readHead(socket).empty()) socket.send(kOk);
  });
  GatewayProcess gateway({.backends = {{.port = origin.port()}},
                          .routes = routeOfRules(ruleOfPrefix("/fine", "origin")),
                          .release = true});
  const auto victim = [&] { return askRaw(gateway.port(), "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n").status == 200; };
  Attack attack(gateway, victim);
  std::string pipelined;
  while (pipelined.size() < 60'000) pipelined += "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n";
  std::vector<BlockingSocket> attackers;
  for (int i = 0; i < 64; ++i) attackers.push_back(BlockingSocket::connect(gateway.port()));
  gateway.process().signal(SIGSTOP);
  for (BlockingSocket& attacker : attackers) attacker.send(pipelined);
  gateway.process().signal(SIGCONT);
  for (BlockingSocket& attacker : attackers) attacker.sendSome(pipelined, std::chrono::milliseconds(0));
  attack.stands();
  for (BlockingSocket& attacker : attackers) EXPECT_EQ(readResponse(attacker).status, 404);
}

// The gateway does not read this client's socket, so it learns of the client's end only by asking the kernel.
TEST(EdgeAttacks, ClientsThatLeaveUnnoticedReleaseTheBackend) {
  const std::string pipelined = [] {
    std::string text = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";
    while (text.size() < 20'000'000) text += "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
    return text;
  }();
  const std::string upload =
      "POST /wait HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n" + std::string(50'000'000, 'x');
  for (const std::string* bytes : {&pipelined, &upload}) {
    std::atomic<int> held = 0;
    RawOrigin origin(stuck(held));
    NarrowBackend narrow(origin.port());
    std::vector<BlockingSocket> attackers;
    for (int i = 0; i < 2; ++i) {
      attackers.push_back(BlockingSocket::connect(narrow.gateway.port()));
      ASSERT_LT(attackers.back().sendSome(*bytes, std::chrono::milliseconds(300)), bytes->size())
          << "the gateway reads on";
    }
    ASSERT_TRUE(eventually([&] { return held == 2; }));
    const std::string fine = "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
    EXPECT_EQ(askRaw(narrow.gateway.port(), fine).status, 503) << "the attack stands";
    for (BlockingSocket& attacker : attackers) attacker.reset();
    narrow.time.pass(narrow.gateway, std::chrono::seconds(1));
    EXPECT_TRUE(eventually([&] { return askRaw(narrow.gateway.port(), fine).status == 200; })) << "the victim";
  }
}

// A client that leaves while it waits costs the Backend nothing from then on.
TEST(EdgeAttacks, ClientsThatLeaveWhileTheyWaitReleaseTheBackend) {
  std::atomic<int> held = 0;
  RawOrigin origin(stuck(held));
  NarrowBackend narrow(origin.port());
  const std::string fine = "GET /fine HTTP/1.1\r\nHost: a\r\n\r\n";
  for (int round = 1; round <= 3; ++round) {
    std::vector<BlockingSocket> attackers;
    for (int i = 0; i < 2; ++i) {
      attackers.push_back(BlockingSocket::connect(narrow.gateway.port()));
      attackers.back().send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    ASSERT_TRUE(eventually([&] { return held == 2 * round; }));
    EXPECT_EQ(askRaw(narrow.gateway.port(), fine).status, 503) << "the attack stands";
    for (BlockingSocket& attacker : attackers) attacker.shutdownWrite();
    EXPECT_TRUE(eventually([&] { return askRaw(narrow.gateway.port(), fine).status == 200; })) << "the victim";
  }
}

// RFC 9112 section 9.6: a client may end its side and still read, even while the gateway has not taken all of its
// bytes.
TEST(EdgeAttacks, AHalfClosedClientThatStillReadsIsNotTakenForGone) {
  HeldOrigin origin;
  NarrowBackend narrow(origin.port());
  BlockingSocket client = BlockingSocket::connect(narrow.gateway.port());
  std::string asked;
  for (int i = 0; i < 4000; ++i) asked += kGet;
  ASSERT_TRUE(client.send(asked));
  client.shutdownWrite();
  ASSERT_TRUE(origin.wasAsked());
  for (int i = 0; i < 3; ++i) narrow.time.pass(narrow.gateway, std::chrono::seconds(1));
  origin.answer();
  EXPECT_EQ(readResponse(client).status, 200);
  client.reset();
}

// Filters see only heads. A trailer, a 103 or another spelling of a name could tell the other side what they removed.
TEST(EdgeAttacks, TrailersInterimsAndSpellingsDoNotBypassFilters) {
  std::string behind;
  RawOrigin origin([&](BlockingSocket& socket, RawOrigin& self) {
    self.readHead(socket);
    socket.readUntil("\r\n0\r\n");
    for (std::string line; line != "\r\n" && !socket.closed(); behind += line) line = socket.readUntil("\r\n");
    socket.send(
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nX-Inner: secret\r\nx_inner: secret\r\n\r\n"
        "HTTP/1.1 200 OK\r\nX-Inner: secret\r\nTransfer-Encoding: chunked\r\nTrailer: x-inner\r\n\r\n"
        "2\r\nok\r\n0\r\nX-Inner: secret\r\nX-Sum: 1\r\n\r\n");
  });
  const std::string filters =
      "    - filters:\n"
      "      - {type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-tenant, value: ours}]}}\n"
      "      - {type: ResponseHeaderModifier, responseHeaderModifier: {remove: [x-inner]}}\n";
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = routeOfRules(filters + backendRefs())});
  BlockingSocket client = BlockingSocket::connect(gateway.port());
  client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
      "x-tenant: theirs\r\nx_tenant: theirs\r\nX_Forwarded_For: theirs\r\nX-Real_IP: theirs\r\n\r\n"
      "2\r\nhi\r\n0\r\nX-Tenant: theirs\r\nx_tenant: theirs\r\nX-Real-IP: theirs\r\nX-Sum: 1\r\n\r\n");
  const std::string got = client.readAll();
  ASSERT_EQ(origin.heads().size(), 1U);
  EXPECT_EQ(countOf(origin.heads()[0], "x-tenant: ours\r\n"), 1U) << origin.heads()[0];
  EXPECT_EQ(countOf(origin.heads()[0] + behind, "theirs"), 0U) << origin.heads()[0] << behind;
  EXPECT_EQ(countOf(behind, "x-sum: 1\r\n"), 1U) << behind;
  EXPECT_EQ(countOf(got, "103 early hints\r\nlink: </a.css>\r\n\r\n"), 1U) << got;
  EXPECT_EQ(countOf(got, "secret"), 0U) << got;
  EXPECT_EQ(countOf(got, "x-sum: 1\r\n"), 1U) << got;
}

}  // namespace
}  // namespace sluice::test
