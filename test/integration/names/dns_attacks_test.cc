// Tests hostile name servers, and attackers who answer in their place: the gateway answers with its own errors, and
// continues to serve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

using Datagrams = std::vector<ScriptedNameServer::Datagram>;

constexpr std::size_t kTruncated = 0x8780;
constexpr std::size_t kCname = 5;
const std::string kLoopback("\x7f\0\0\1", 4);

/// Runs a gateway that caches no DNS answers, so each request causes a query.
class DnsAttacks : public testing::Test {
 protected:
  DnsAttacks() { EXPECT_TRUE(origin_.ok()); }

  static std::string settings(const ScriptedNameServer& names, const std::string& timeout) {
    return "servers: [\"" + names.address() +
           "\"], attempts: 1, minTtl: 0s, negativeTtl: 0s, staleTtl: 0s, timeout: " + timeout;
  }
  GatewayProcess gateway(const std::string& timeout) const {
    return GatewayProcess(
        {.backends = {{.hostname = "origin.test", .port = port_, .addresses = ""}}, .dns = settings(names_, timeout)});
  }
  static ReceivedResponse ask(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    client.send("GET / HTTP/1.1\r\nHost: any.test\r\n\r\n");
    return readResponse(client);
  }
  ReceivedResponse askWhile(const GatewayProcess& gateway, ScriptedNameServer::Script script) {
    names_.say(std::move(script));
    return ask(gateway);
  }
  void expectServing(const GatewayProcess& gateway) {
    names_.say(dnsAlways({"127.0.0.1"}));
    EXPECT_TRUE(eventually([&] { return ask(gateway).status == 200; }));
  }

  std::uint16_t port_ = freePort();
  Canary origin_{"127.0.0.1", port_};
  ScriptedNameServer names_{dnsAlways({"127.0.0.1"})};
};

TEST_F(DnsAttacks, InvalidRepliesAreErrors) {
  const GatewayProcess one = gateway("10s");
  const std::vector<std::pair<const char*, ScriptedNameServer::Script>> cases = {
      {"more records than there are",
       [](const DnsQuestion& q) { return Datagrams{{dnsHead(q, 65535) + dnsRecord(DnsQuestion::kA, kLoopback)}}; }},
      {"an address of three bytes",
       [](const DnsQuestion& q) {
         return Datagrams{{dnsHead(q, 1) + dnsRecord(DnsQuestion::kA, std::string_view(kLoopback).substr(0, 3))}};
       }},
      {"a record beyond the end",
       [](const DnsQuestion& q) {
         return Datagrams{{dnsHead(q, 1) + "\xc0\x0c" + dnsNumber(1) + dnsNumber(1) + dnsNumber(0) + dnsNumber(0) +
                           dnsNumber(60000) + kLoopback}};
       }},
      {"a name that points to itself",
       [](const DnsQuestion& q) {
         const std::string head = dnsHead(q, 1);
         return Datagrams{{head + dnsNumber(0xc000 + head.size()) + dnsNumber(1) + dnsNumber(1) + dnsNumber(0) +
                           dnsNumber(0) + dnsNumber(4) + kLoopback}};
       }},
      {"a label without end",
       [](const DnsQuestion& q) { return Datagrams{{dnsHead(q, 1) + std::string(400, '\x3f')}}; }},
      {"thousands of addresses in one datagram",
       [](const DnsQuestion& q) {
         std::string all = dnsHead(q, 4000);
         for (int i = 0; i < 4000; ++i) all += dnsRecord(DnsQuestion::kA, kLoopback);
         return Datagrams{{all}};
       }},
      {"truncated, and nobody at the TCP port",
       [](const DnsQuestion& q) {
         return Datagrams{{dnsHead(q, 1, kTruncated) + dnsRecord(DnsQuestion::kA, kLoopback)}};
       }},
      {"an alias of itself",
       [](const DnsQuestion& q) { return Datagrams{{dnsHead(q, 1) + dnsRecord(kCname, "\xc0\x0c")}}; }},
      {"a failure", [](const DnsQuestion& q) { return Datagrams{{dnsHead(q, 0, 0x8582)}}; }},
      {"a refusal", [](const DnsQuestion& q) { return Datagrams{{dnsHead(q, 0, 0x8585)}}; }},
  };
  for (const auto& [what, script] : cases) {
    SCOPED_TRACE(what);
    const ReceivedResponse got = askWhile(one, script);
    EXPECT_EQ(got.status, 503);
    EXPECT_THAT(got.body, HasSubstr("\"dns_error\""));
  }
  EXPECT_EQ(origin_.connections(), 0);
  expectServing(one);
}

TEST_F(DnsAttacks, UnsolicitedRepliesAreIgnored) {
  const GatewayProcess one = gateway("10s");
  const auto forged = [](const DnsQuestion& q) { return dnsReply(q, {"127.0.0.9"}); };  // has no listener
  const std::vector<std::pair<const char*, ScriptedNameServer::Script>> cases = {
      {"by another id",
       [&](const DnsQuestion& q) {
         DnsQuestion other = q;
         other.id[0] = static_cast<char>(other.id[0] ^ 1);
         return Datagrams{{forged(other)}, {dnsReply(q, {"127.0.0.1"})}};
       }},
      {"from another port",
       [&](const DnsQuestion& q) {
         return Datagrams{{forged(q), true}, {dnsReply(q, {"127.0.0.1"})}};
       }},
      {"to another question",
       [&](const DnsQuestion& q) {
         DnsQuestion other = q;
         other.section[1] = 'x';
         return Datagrams{{forged(other)}, {dnsReply(q, {"127.0.0.1"})}};
       }},
      {"nothing at all",
       [](const DnsQuestion& q) {
         return Datagrams{{""}, {q.id}, {dnsReply(q, {"127.0.0.1"})}};
       }},
  };
  for (const auto& [what, script] : cases) {
    SCOPED_TRACE(what);
    EXPECT_EQ(askWhile(one, script).status, 200);
  }
}

TEST_F(DnsAttacks, SilenceOfTheQueriedServerIsATimeout) {
  const GatewayProcess one = gateway("50ms");
  const ReceivedResponse got = askWhile(one, [](const DnsQuestion& q) {
    DnsQuestion other = q;
    other.id[1] = static_cast<char>(other.id[1] ^ 1);
    return Datagrams(50, {dnsReply(other, {"127.0.0.1"})});
  });
  EXPECT_EQ(got.status, 504);
  EXPECT_THAT(got.body, HasSubstr("\"dns_timeout\""));
  EXPECT_EQ(origin_.connections(), 0);
}

TEST_F(DnsAttacks, ManyAddressesAreTriedUpToTheirBound) {
  const std::uint16_t port = freePort();
  const Canary last("127.0.0.1", port);
  ASSERT_TRUE(last.ok());
  names_.say([](const DnsQuestion& q) {
    std::vector<std::string> addresses;
    for (int i = 0; i < 4; ++i) addresses.push_back("127.0.9." + std::to_string(i + 1));
    addresses.emplace_back("127.0.0.1");
    return Datagrams{{dnsReply(q, addresses)}};
  });
  for (const auto& [bound, status] : {std::pair(4, 503), std::pair(5, 200)}) {
    const GatewayProcess one({.backends = {{.hostname = "origin.test", .port = port, .addresses = ""}},
                              .dns = settings(names_, "10s") + ", maxAddresses: " + std::to_string(bound)});
    EXPECT_EQ(ask(one).status, status) << bound;
  }
}

TEST_F(DnsAttacks, AnAliasHidesNoForbiddenAddress) {
  const GatewayProcess one({.backends = {{.hostname = "origin.test", .port = port_, .addresses = ""}},
                            .dns = settings(names_, "10s"),
                            .allow = ""});
  const ReceivedResponse got = askWhile(one, [](const DnsQuestion& q) {
    const std::string alias("\x8metadata\x6google\x8internal\0", 26);
    return Datagrams{{dnsHead(q, 2) + dnsRecord(kCname, alias) + alias + dnsNumber(1) + dnsNumber(1) + dnsNumber(0) +
                      dnsNumber(0) + dnsNumber(4) + "\xa9\xfe\xa9\xfe"}};
  });
  EXPECT_EQ(got.status, 403) << got.body;
  EXPECT_THAT(got.body, HasSubstr("destination_ip_prohibited"));
}

TEST_F(DnsAttacks, RepliesCutOrChangedAtAnyByteAreSurvived) {
  const GatewayProcess one = gateway("20ms");
  const auto good = [](const DnsQuestion& q) { return dnsReply(q, {"127.0.0.1", "127.0.0.1"}); };
  for (std::size_t at = 0; at < 61; ++at) {
    SCOPED_TRACE(at);
    const auto cut = [&](const DnsQuestion& q) { return Datagrams{{good(q).substr(0, at)}}; };
    const auto changed = [&](const DnsQuestion& q) {
      std::string bytes = good(q);
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ 0xff);
      return Datagrams{{bytes}};
    };
    EXPECT_THAT(askWhile(one, cut).status, AnyOf(200, 503, 504));
    EXPECT_THAT(askWhile(one, changed).status, AnyOf(200, 403, 503, 504));
  }
  expectServing(one);
}

}  // namespace
}  // namespace sluice::test
