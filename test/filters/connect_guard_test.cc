#include "filters/connect_guard.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/content/schema/json_schema.h"
#include "test/filters/filter_rig.h"

namespace sluice::filters {
namespace {

using processing::Destination;
using processing::Phase;

const std::string kDigits = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
const std::string kBytes = [] {
  std::string half;
  for (int i = 0; i < 16; ++i) half.push_back(static_cast<char>(i * 0x11));
  return half + half;
}();

/// A guard and a destination with three addresses.
class ConnectGuards : public testing::Test {
 protected:
  ConnectGuards() : rig_(connectGuard()) {
    rig_.phase = Phase::kConnect;
    rig_.destination = &destination_;
    rig_.request({});
  }

  /// Returns the last parts of the addresses that are left of 192.0.2.1:443, 192.0.2.2:8443 and [2001:db8::3]:443,
  /// with "?" behind them if the connection will be judged.
  std::string left(const std::string& config, const std::string& serverName = "api.example.com") {
    EXPECT_EQ(rig_.make("{" + config + "}"), "") << config;
    destination_ = Destination("api.example.com", 443, serverName, kAddresses);
    EXPECT_EQ(rig_.run(Phase::kConnect).kind(), processing::Verdict::Kind::kContinue);
    std::string numbers;
    for (const auto& each : destination_.addresses()) numbers += std::to_string(each.number + 1);
    destination_.note(arena_, step_);
    return numbers + (destination_.judges() != nullptr ? "?" : "");
  }
  bool admits(const std::string& certificate) {
    http::RequestHead head;
    return rig_.processor().admits({"192.0.2.1", 443, "api.example.com", certificate}, head, rig_.peer);
  }

  test::FilterRig rig_;

 private:
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  const processing::Step step_;
  static constexpr Destination::ResolvedAddress kAddresses[] = {
      {"192.0.2.1", 443, 0}, {"192.0.2.2", 8443, 1}, {"2001:db8::3", 443, 2}};
  Destination destination_{{}, 0, {}, {}};
};

TEST_F(ConnectGuards, LeaveAddressesByNetworkAndPort) {
  EXPECT_EQ(left("allow: [{cidrs: [192.0.2.0/30]}]"), "12");
  EXPECT_EQ(left("allow: [{cidrs: ['2001:db8::/32', 192.0.2.2]}]"), "23");
  EXPECT_EQ(left("deny: [{cidrs: [192.0.2.1]}]"), "23");
  EXPECT_EQ(left("allow: [{ports: [443]}]"), "13");
  EXPECT_EQ(left("allow: [{cidrs: [192.0.2.0/24], ports: [443]}]"), "1") << "all conditions of a rule must hold";
  EXPECT_EQ(left("allow: [{cidrs: [192.0.2.1]}, {ports: [8443]}]"), "12") << "one rule is enough";
  EXPECT_EQ(left("allow: [{ports: [443]}], deny: [{cidrs: ['::/0']}]"), "1") << "deny wins";
  EXPECT_EQ(left("allow: [{cidrs: [198.51.100.0/24]}]"), "");
}

TEST_F(ConnectGuards, LookAtTheNameThatTlsAsksFor) {
  EXPECT_EQ(left("allow: [{sni: [API.example.com]}]"), "123");
  EXPECT_EQ(left("allow: [{sni: ['*.example.com']}]"), "123");
  EXPECT_EQ(left("allow: [{sni: ['*.com']}]"), "123") << "a wildcard stands for any number of labels";
  EXPECT_EQ(left("allow: [{sni: ['*.api.example.com', example.com]}]"), "");
  EXPECT_EQ(left("deny: [{sni: ['*.example.com']}]"), "");
  EXPECT_EQ(left("allow: [{sni: ['*.example.com']}]", ""), "") << "there is no TLS";
  EXPECT_EQ(left("deny: [{sni: ['*.example.com']}]", ""), "123");
}

TEST_F(ConnectGuards, AwaitTheCertificateIfARuleNamesOne) {
  const std::string own = "{fingerprints: ['" + kDigits + "']}";
  EXPECT_EQ(left("allow: [" + own + "]"), "123?");
  EXPECT_TRUE(admits(kBytes));
  EXPECT_FALSE(admits(std::string(32, 'x')));
  EXPECT_FALSE(admits("")) << "no certificate matches no fingerprint";
  EXPECT_EQ(left("deny: [" + own + "]"), "123?");
  EXPECT_FALSE(admits(kBytes));
  EXPECT_TRUE(admits(std::string(32, 'x')));
  EXPECT_TRUE(admits(""));
  EXPECT_EQ(left("allow: [" + own + "]", ""), "") << "without TLS there will be no certificate";
  EXPECT_EQ(left("deny: [" + own + "]", ""), "123");
}

TEST_F(ConnectGuards, AwaitNoCertificateThatDecidesNothing) {
  EXPECT_EQ(left("allow: [{fingerprints: ['" + kDigits + "']}, {cidrs: [192.0.2.1]}, {cidrs: [0.0.0.0/0, '::/0']}]"),
            "123");
  EXPECT_EQ(left("allow: [{cidrs: [192.0.2.1], fingerprints: ['" + kDigits + "']}]"), "1?");
  EXPECT_EQ(left("deny: [{cidrs: [0.0.0.0/0, '::/0']}, {fingerprints: ['" + kDigits + "']}]"), "");
}

TEST_F(ConnectGuards, TakeFingerprintsAsOpensslPrintsThem) {
  std::string colons;
  for (std::size_t i = 0; i < kDigits.size(); i += 2) colons += (i == 0 ? "" : ":") + kDigits.substr(i, 2);
  EXPECT_EQ(left("allow: [{fingerprints: ['" + colons + "']}]"), "123?");
  EXPECT_TRUE(admits(kBytes));
}

TEST_F(ConnectGuards, KnowCallersByTheirServiceAccount) {
  EXPECT_EQ(left("allow: [{serviceAccounts: [apps/worker]}]"), "123");
  EXPECT_EQ(left("allow: [{serviceAccounts: [apps/other]}]"), "");
  EXPECT_EQ(left("deny: [{serviceAccounts: [apps/other]}]"), "123");
  rig_.peer = {"192.0.2.9", {}, {}};
  EXPECT_EQ(left("allow: [{serviceAccounts: [apps/worker]}]"), "") << "nothing is known about the caller";
  EXPECT_EQ(left("deny: [{serviceAccounts: [apps/other]}]"), "");
  EXPECT_EQ(left("allow: [{assurance: Address}]"), "");
  EXPECT_EQ(left("allow: [{assurance: None}]"), "123");
  EXPECT_EQ(left("deny: [{assurance: Certificate}]"), "");
}

TEST_F(ConnectGuards, TakeNoWeakerProofForAStrongerOne) {
  const std::vector<std::string> names = {"Address", "Token", "Certificate"};
  for (std::size_t has = 0; has < names.size(); ++has) {
    rig_.peer.assurance = *base::assuranceOf(names[has]);
    for (std::size_t least = 0; least < names.size(); ++least) {
      const bool isEnough = has >= least;
      EXPECT_EQ(left("allow: [{assurance: " + names[least] + "}]"), isEnough ? "123" : "") << names[has];
      EXPECT_EQ(left("deny: [{assurance: " + names[least] + "}]"), isEnough ? "" : "123") << names[has];
      EXPECT_EQ(left("allow: [{serviceAccounts: [apps/worker], assurance: " + names[least] + "}]"),
                isEnough ? "123" : "");
    }
    EXPECT_EQ(left("allow: [{serviceAccounts: [apps/other], assurance: Address}]"), "");
  }
}

TEST_F(ConnectGuards, DenyACallerWhoseServiceAccountIsNotKnown) {
  rig_.peer = {"192.0.2.9", {}, {}, "spiffe://b.test/somebody", base::Assurance::kCertificate};
  EXPECT_EQ(left("allow: [{serviceAccounts: [apps/worker]}]"), "");
  EXPECT_EQ(left("deny: [{serviceAccounts: [apps/worker]}]"), "");
  EXPECT_EQ(left("allow: [{assurance: Certificate}]"), "123");
  rig_.peer = {"192.0.2.9", "apps", "worker"};
  EXPECT_EQ(left("allow: [{serviceAccounts: [apps/worker]}]"), "") << "names without a proof say nothing";
}

TEST_F(ConnectGuards, TakeTheHostOfATunnelAsItsName) {
  http::RequestHead head;
  head.tunnel = http::Tunnel::kStream;
  head.authority = "a.example.com:443";
  EXPECT_EQ(rig_.make("allow: [{sni: ['*.example.com']}]"), "");
  EXPECT_TRUE(rig_.processor().admits({"192.0.2.1", 443, {}, {}}, head, rig_.peer));
  head.authority = "a.example.com.:443";
  EXPECT_TRUE(rig_.processor().admits({"192.0.2.1", 443, {}, {}}, head, rig_.peer)) << "the root is no part of a name";
  head.authority = "a.example.org:443";
  EXPECT_FALSE(rig_.processor().admits({"192.0.2.1", 443, {}, {}}, head, rig_.peer));
}

TEST_F(ConnectGuards, AreRefusedWithTheMemberThatIsWrong) {
  EXPECT_EQ(rig_.make("deny: [{cidrs: [10.0.0.0/8]}, {cidrs: [10.0.0.0/8, inside]}]"),
            "InvalidConfig: deny[1].cidrs[1]: is neither an address nor a network like 10.0.0.0/8");
  EXPECT_EQ(rig_.make("allow: [{ports: [4.43e2]}]"), "InvalidConfig: allow[0].ports[0]: is no whole number");
}

TEST(ConnectGuardSchema, AcceptsOnlyTheContract) {
  const auto schema = content::JsonSchema::compile(connectGuard().schema);
  ASSERT_TRUE(schema) << schema.error().detail;
  const auto faultOf = [&](const std::string& config) {
    auto value = content::parseJson(config);
    return content::describe(schema->apply(*value));
  };
  for (const std::string& config : std::vector<std::string>{
           R"({"allow":[{"cidrs":["10.0.0.0/8"],"ports":[443],"sni":["*.a.test","b"]}]})",
           R"({"deny":[{"fingerprints":[")" + kDigits + R"("]}]})",
           R"({"allow":[{"serviceAccounts":["a/b.c"],"assurance":"Token"}],"deny":[{"ports":[1]}]})"}) {
    EXPECT_EQ(faultOf(config), "") << config;
  }
  for (const char* config :
       {"{}", R"({"allow":[]})", R"({"allow":[{}]})", R"({"allow":[{"ports":[0]}]})",
        R"({"allow":[{"ports":[65536]}]})", R"({"allow":[{"sni":["*"]}]})", R"({"allow":[{"sni":["a.*.b"]}]})",
        R"({"allow":[{"sni":["a..b"]}]})", R"({"deny":[{"fingerprints":["00"]}]})",
        R"({"deny":[{"serviceAccounts":["a"]}]})", R"({"deny":[{"assurance":"Some"}]})",
        R"({"deny":[{"cidr":["10.0.0.0/8"]}]})", R"({"refuse":[{"ports":[1]}]})"}) {
    EXPECT_NE(faultOf(config), "") << config;
  }
}

}  // namespace
}  // namespace sluice::filters
