// Tests destinations that a client of a forward proxy must not reach, in every spelling and every form of request,
// while policies allow everything. The address guard is as it is by default.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/canary.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/scripted_name_server.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// The way in which a request for a host is refused.
struct GuardAnswer {
  int status;
  const char* code;
};
constexpr GuardAnswer kGuarded{403, "destination_ip_prohibited"};
constexpr GuardAnswer kNoHost{403, "http_request_denied"};
constexpr GuardAnswer kInvalid{400, "http_request_error"};

/// Addresses as such; those of IPv6 that carry an address of IPv4 carry one of this machine or of the metadata service.
const std::vector<std::string> kGuardedAddresses = {"127.0.0.1",
                                                    "127.1.2.3",
                                                    "127.255.255.254",
                                                    "127.0.0.1.",
                                                    "%31%32%37.0.0.1",
                                                    "127%2e0%2e0%2e1",
                                                    "0.0.0.0",
                                                    "169.254.169.254",
                                                    "169.254.169.254.",
                                                    "169.254.170.2",
                                                    "100.100.100.200",
                                                    "168.63.129.16",
                                                    "10.0.0.1",
                                                    "172.16.0.1",
                                                    "192.168.0.1",
                                                    "100.64.0.1",
                                                    "198.18.0.1",
                                                    "224.0.0.1",
                                                    "255.255.255.255",
                                                    "[::1]",
                                                    "[::]",
                                                    "[0:0:0:0:0:0:0:1]",
                                                    "[0000:0000:0000:0000:0000:0000:0000:0001]",
                                                    "[::ffff:127.0.0.1]",
                                                    "[::FFFF:7F00:1]",
                                                    "[::ffff:0.0.0.0]",
                                                    "[::ffff:169.254.169.254]",
                                                    "[::ffff:0:127.0.0.1]",
                                                    "[::127.0.0.1]",
                                                    "[64:ff9b::7f00:1]",
                                                    "[64:FF9B::127.0.0.1]",
                                                    "[64:ff9b::a9fe:a9fe]",
                                                    "[64:ff9b:1:7f00:0:100::]",
                                                    "[2002:7f00:1::]",
                                                    "[2002:A9FE:A9FE::]",
                                                    "[2001:0:7f00:1::]",
                                                    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
                                                    "[fd00::1]",
                                                    "[FD00:EC2::254]",
                                                    "[fe80::1]",
                                                    "[fe80::a9fe:a9fe]",
                                                    "[ff02::1]"};

/// Numbers that inet_aton(3) reads as an address. A host that ends in a number is an address or nothing.
const std::vector<std::string> kNumbers = {
    "0",           "127.1",      "127.0.1",        "127.0.0.01",  "0177.0.0.1",      "0177.0.0.0x1",
    "0x7f.1",      "0x7f.0.0.1", "0X7F000001",     "2130706433",  "2130706433.",     "017700000001",
    "2852039166",  "0xa9fea9fe", "0xA9.254.43518", "127.0.0.0x1", "256.256.256.256", "4294967296",
    "127.0.0.1.1", "a.0x7f"};

/// Names whose addresses are those of this machine, as the worst name server of all resolves every name to it.
const std::vector<std::string> kGuardedNames = {"localhost",
                                                "localhost.",
                                                "LOCALHOST",
                                                "LocalHost.",
                                                "foo.localhost",
                                                "ip6-localhost",
                                                "localhost%2e",
                                                "%6c%6f%63%61%6c%68%6f%73%74",
                                                "localtest.me",
                                                "127.0.0.1.nip.io",
                                                "metadata.google.internal",
                                                "metadata"};

/// Hosts that are none: encodings of other than unreserved characters, zones, addresses in another's brackets, user
/// information.
const std::vector<std::string> kNoHosts = {"127.0.0.1..",
                                           ".127.0.0.1",
                                           "127..1",
                                           "%2531%2532%2537.0.0.1",
                                           "127%252e0%252e0%252e1",
                                           "127.0.0.1%00",
                                           "127.0.0.1%3a80",
                                           "%5b::1%5d",
                                           "::1",
                                           "[::1%25lo]",
                                           "[::1%lo]",
                                           "[fe80::1%25eth0]",
                                           "[127.0.0.1]",
                                           "[::ffff:127.0.0.256]",
                                           "[::1]]",
                                           "[v1.1]",
                                           "me@127.0.0.1",
                                           "a.test@127.0.0.1",
                                           "127.0.0.1:80:80",
                                           "127.0.0.1,a.test"};

/// Hosts with bytes that no authority has: other digits, letters and dots of Unicode, and what other programs take for
/// the end of the host.
const std::vector<std::string> kNoAuthorities = {"①②⑦.⓪.⓪.①", "127。0。0。1", "ｌocalhost", "a.test#@127.0.0.1",
                                                 "a.test\\@127.0.0.1"};

struct Form {
  const char* name;
  bool isHttp2;
  /// Returns status and body of the answer; the status is 0 if there was none.
  ReceivedResponse (*ask)(std::uint16_t proxy, const std::string& authority);
};

/// In the place of a status: a stream error of HTTP/2, whose type is PROTOCOL_ERROR.
constexpr int kMalformed = 1;

ReceivedResponse askByLine(std::uint16_t proxy, const std::string& line) {
  return askRaw(proxy, line + " HTTP/1.1\r\nHost: a.test\r\n\r\n");
}
ReceivedResponse askByH2(std::uint16_t proxy, const H2Lines& lines, bool endStream) {
  H2Client client(proxy);
  client.send(h2::headers(1, lines, endStream));
  client.readUntil([&] { return client.closed() || client.isSettled(1); });
  ReceivedResponse got;
  if (client.status(1).empty()) {
    const H2Frame* reset = client.seen().find(H2Type::kRstStream, 1);
    if (reset != nullptr && reset->errorCode() == h2error::kProtocolError) got.status = kMalformed;
    return got;
  }
  client.readStream(1);
  got.status = std::stoi(client.status(1));
  got.body = client.seen().body(1);
  return got;
}

const Form kForms[] = {
    {"Absolute", false,
     [](std::uint16_t proxy, const std::string& at) { return askByLine(proxy, "GET http://" + at + "/"); }},
    {"AbsoluteOfHttps", false,
     [](std::uint16_t proxy, const std::string& at) { return askByLine(proxy, "GET https://" + at + "/"); }},
    {"Connect", false, [](std::uint16_t proxy, const std::string& at) { return askByLine(proxy, "CONNECT " + at); }},
    {"AuthorityOverHttp2", true,
     [](std::uint16_t proxy, const std::string& at) {
       return askByH2(proxy, {{":method", "GET"}, {":scheme", "http"}, {":authority", at}, {":path", "/"}}, true);
     }},
    {"ConnectOverHttp2", true,
     [](std::uint16_t proxy, const std::string& at) {
       return askByH2(proxy, {{":method", "CONNECT"}, {":authority", at}}, false);
     }},
    {"WebSocketOverHttp2", true,
     [](std::uint16_t proxy, const std::string& at) {
       return askByH2(proxy,
                      {{":method", "CONNECT"},
                       {":protocol", "websocket"},
                       {":scheme", "http"},
                       {":authority", at},
                       {":path", "/"},
                       {"sec-websocket-version", "13"}},
                      false);
     }},
};

/// A policy that allows everything: by its default, or by a rule. A rule has port 443 alone unless it names others.
const std::string kPolicies[] = {"default: Allow", "rules: [" + allowing("all", "to: {ports: ['1-65535']}") + "]"};

class GuardedDestinations : public testing::TestWithParam<Form> {
 protected:
  void start(ForwardProxy& proxy, const std::string& policy) const {
    proxy.spec.allow = "";
    proxy.spec.dns = "servers: [\"" + names_.address() + "\"], ipv6: true";
    proxy.spec.routes += egressPolicy("p", kGatewayTarget, policy);
    proxy.start();
  }
  static void expectRefusals(std::uint16_t proxy, const std::vector<std::string>& hosts, std::uint16_t port,
                             const GuardAnswer& expected) {
    for (const std::string& host : hosts) {
      const std::string authority = host + ":" + std::to_string(port);
      SCOPED_TRACE(authority);
      const ReceivedResponse got = GetParam().ask(proxy, authority);
      EXPECT_EQ(got.status, expected.status) << got.body;
      EXPECT_THAT(got.body, HasSubstr(expected.code));
    }
  }

  const ScriptedNameServer names_{dnsAlways({"127.0.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"})};
};
INSTANTIATE_TEST_SUITE_P(Forms, GuardedDestinations, testing::ValuesIn(kForms),
                         [](const auto& given) { return given.param.name; });

TEST_P(GuardedDestinations, AreNeverDialledInAnySpelling) {
  const std::uint16_t port = freePort();
  const Canary canary("0.0.0.0", port);  // all of 127.0.0.0/8
  const Canary canary6("::1", port);
  ASSERT_TRUE(canary.ok());
  for (const std::string& policy : kPolicies) {
    SCOPED_TRACE(policy);
    ForwardProxy proxy;
    start(proxy, policy);
    expectRefusals(proxy.port, kGuardedAddresses, port, kGuarded);
    expectRefusals(proxy.port, kGuardedNames, port, kGuarded);
    expectRefusals(proxy.port, kNumbers, port, kNoHost);
    expectRefusals(proxy.port, kNoHosts, port, kInvalid);
    expectRefusals(proxy.port, kNoAuthorities, port, GetParam().isHttp2 ? GuardAnswer{kMalformed, ""} : kInvalid);
    for (const char* kind : {"loopback", "metadata", "unspecified", "private", "v4_mapped", "v4_compatible", "nat64",
                             "6to4", "teredo", "carrier_nat", "multicast", "link_local"}) {
      EXPECT_GT(proxy.gateway->metric("sluice_address_denied_total{class=\"" + std::string(kind) + "\"}"), 0) << kind;
    }
  }
  EXPECT_EQ(canary.connections(), 0);
  EXPECT_EQ(canary6.connections(), 0);
}

TEST_P(GuardedDestinations, AreTheOwnPortsOfTheGateway) {
  ForwardProxy proxy;
  start(proxy, kPolicies[0]);
  for (const std::uint16_t port :
       {proxy.gateway->adminPort(), proxy.gateway->healthPort(), proxy.gateway->port(), proxy.port}) {
    expectRefusals(proxy.port, {"127.0.0.1", "127.0.0.1.", "0.0.0.0", "LocalHost", "[::ffff:127.0.0.1]", "[::1]"}, port,
                   kGuarded);
    expectRefusals(proxy.port, {"0", "127.1", "2130706433"}, port, kNoHost);
  }
}

}  // namespace
}  // namespace sluice::test
