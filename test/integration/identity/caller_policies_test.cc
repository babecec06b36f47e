// Tests EgressPolicies by callers through the binary: who may go out is decided by the certificate of the client, and
// `sluice explain --as` says so before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

class CallerPolicies : public testing::Test {
 protected:
  void start(const std::string& policy) {
    stage_.documents += egressPolicy("p", kGatewayTarget, policy);
    stage_.start();
  }
  int secure(const std::optional<CertifiedKey>& client) const { return stage_.status(stage_.secure, client); }
  int lenient(const std::optional<CertifiedKey>& client) const { return stage_.status(stage_.lenient, client); }
  int proxied(const std::optional<CertifiedKey>& client) const {
    return stage_.status(stage_.proxy, client,
                         "GET " + stage_.originUrl() +
                             " HTTP/1.1\r\nHost: origin.test:" + std::to_string(stage_.origin.port()) + "\r\n\r\n");
  }
  bool counts(const std::string& rule, const std::string& decision, double times = 1) const {
    return stage_.gateway->reaches(decisionsOf("p", rule, decision), times);
  }

  CallerStage stage_;
  const CertifiedKey cart_ = stage_.account("shop", "cart");
  const CertifiedKey till_ = stage_.account("shop", "till");
  const CertifiedKey teller_ = stage_.account("bank", "teller");
  const CertifiedKey foreign_ = clientOf(stage_.authority, {spiffeId("shop", "cart", "elsewhere.test")});
  /// Names an account, and nobody vouches for it.
  const CertifiedKey forged_ = clientOf(makeAuthority("Client Authority"), {spiffeId("shop", "cart")});
};

TEST_F(CallerPolicies, LetOneAccountOut) {
  start("rules: [" + allowing("cart", "from: {serviceAccounts: [shop/cart]}, to: {ports: ['1-65535']}") + "]");
  EXPECT_EQ(secure(cart_), 200);
  EXPECT_EQ(secure(till_), 403);
  EXPECT_EQ(secure(teller_), 403);
  EXPECT_EQ(secure(foreign_), 403) << "its name is of another trust domain";
  EXPECT_EQ(lenient(cart_), 200);
  EXPECT_EQ(lenient(forged_), 403);
  EXPECT_EQ(lenient(std::nullopt), 403);
  EXPECT_EQ(proxied(cart_), 200);
  EXPECT_EQ(proxied(till_), 403);
  EXPECT_TRUE(counts("cart", "allowed", 3));
  EXPECT_TRUE(counts("default", "denied", 6));
  EXPECT_EQ(stage_.origin.heads().size(), 3U);
  EXPECT_THAT(stage_.gateway->accessLog(2).at(1),
              HasSubstr(R"("policy":"test/p","rule":"default","decision":"denied")"));
  EXPECT_EQ(stage_.logged(2), certifiedCaller("shop", "till")) << "the log names who was refused";
}

TEST_F(CallerPolicies, LetANamespaceOut) {
  start("rules: [" + allowing("shop", "from: {namespaces: [shop]}, to: {ports: ['1-65535']}") + "]");
  EXPECT_EQ(secure(cart_), 200);
  EXPECT_EQ(secure(till_), 200);
  EXPECT_EQ(secure(teller_), 403);
  EXPECT_EQ(secure(foreign_), 403);
  EXPECT_EQ(lenient(std::nullopt), 403);
}

TEST_F(CallerPolicies, LetAPrincipalOut) {
  start("rules: [" +
        allowing("foreign", "from: {principals: ['" + spiffeId("shop", "cart", "elsewhere.test") +
                                "']}, to: {ports: ['1-65535']}") +
        "]");
  EXPECT_EQ(secure(foreign_), 200);
  EXPECT_EQ(secure(cart_), 403);
  EXPECT_EQ(lenient(std::nullopt), 403);
}

TEST_F(CallerPolicies, AskForTheLeastAssurance) {
  start("rules: [" + allowing("proven", "from: {assurance: Certificate}, to: {ports: ['1-65535']}") + "]");
  EXPECT_EQ(secure(cart_), 200);
  EXPECT_EQ(secure(foreign_), 200);
  EXPECT_EQ(lenient(forged_), 403);
  EXPECT_EQ(lenient(std::nullopt), 403);
  EXPECT_EQ(stage_.status(stage_.unasked, cart_), 403) << "this listener does not ask";
}

TEST_F(CallerPolicies, DenyACallerThatMightBeTheOne) {
  start("default: Allow, rules: [" + denying("till", "from: {serviceAccounts: [shop/till]}") + "]");
  EXPECT_EQ(secure(till_), 403);
  EXPECT_EQ(secure(cart_), 200);
  EXPECT_EQ(lenient(till_), 403);
  EXPECT_EQ(lenient(std::nullopt), 403) << "nobody knows that it is another one";
  EXPECT_EQ(lenient(forged_), 403);
  EXPECT_EQ(stage_.status(stage_.unasked, cart_), 403);
  EXPECT_EQ(proxied(till_), 403);
  EXPECT_EQ(proxied(cart_), 200);
  EXPECT_TRUE(counts("till", "denied", 6));
}

TEST_F(CallerPolicies, OnlyTellIfTheyAudit) {
  start("mode: Audit, rules: [" + allowing("cart", "from: {serviceAccounts: [shop/cart]}, to: {ports: ['1-65535']}") +
        "]");
  EXPECT_EQ(secure(till_), 200);
  EXPECT_EQ(secure(cart_), 200);
  EXPECT_TRUE(counts("default", "audited"));
  EXPECT_TRUE(counts("cart", "allowed"));
  EXPECT_THAT(stage_.gateway->accessLog(1).at(0), HasSubstr(R"("rule":"default","decision":"audited")"));
}

TEST_F(CallerPolicies, AreExplainedForACaller) {
  start("rules: [" + allowing("cart", "from: {serviceAccounts: [shop/cart]}, to: {ports: ['1-65535']}") + ", " +
        allowing("named", "from: {principals: [ann], assurance: Token}, to: {ports: ['1-65535']}") + "]");
  const auto explain = [this](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"explain", "--admin",
                                          "127.0.0.1:" + std::to_string(stage_.gateway->adminPort()), "--url",
                                          "https://localhost:" + std::to_string(stage_.secure) + "/"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramOutcome got = sluice(arguments);
    EXPECT_EQ(got.exitCode, 0) << got.errors;
    return got.output;
  };
  EXPECT_THAT(explain({"--as", "shop/cart", "-o", "json"}), HasSubstr(R"("decision":"allowed")"));
  EXPECT_THAT(explain({"--as", "shop/till", "-o", "json"}), HasSubstr(R"("decision":"denied")"));
  EXPECT_THAT(explain({"--principal", "ann", "--assurance", "Token", "-o", "json"}),
              HasSubstr(R"("decision":"allowed")"));
  EXPECT_THAT(explain({"--principal", "ann", "--assurance", "Address", "-o", "json"}),
              HasSubstr(R"("decision":"denied")"));
  EXPECT_THAT(explain({"--as", "shop/cart"}), HasSubstr("shop/cart"));
  EXPECT_THAT(explain({"-o", "json"}), HasSubstr(R"("decision":"undecided")")) << "it depends on the caller";
  EXPECT_EQ(sluice({"explain", "--as", "cart", "--url", "http://a.test/"}).exitCode, 2);
}

}  // namespace
}  // namespace sluice::test
