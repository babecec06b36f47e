// Tests budgets of callers through the binary: QoSController counts by service account and by principal, and each
// caller gets exactly its own under load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test/integration/identity/caller_stage.h"
#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/waiting.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// Returns a QoSController for the Gateway. At one request a minute, nothing is refilled during a test.
std::string budgets(const std::string& key, const std::string& overrides) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: budgets}\n"
         "spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors: [" +
         use("QoSController", "budgets", "request-headers",
             "requestsPerMinute: 1, burst: 4, key: " + key + ", overrides: [" + overrides + "]") +
         "]\n";
}
std::string overriding(const std::string& key, int burst) {
  return "{key: \"" + key + "\", requestsPerMinute: 1, burst: " + std::to_string(burst) + "}";
}

/// Counts the answers to a caller's requests.
struct BudgetTally {
  std::atomic<int> passed = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> others = 0;

  void note(int status) { ++(status == 200 ? passed : status == 429 ? refused : others); }
};

/// Sends requests by that certificate over several connections at once, as fast as they are answered.
class BudgetStorm {
 public:
  static constexpr int kConnections = 4;
  static constexpr int kRequests = 15;  // of each connection

  BudgetStorm(const CallerStage& stage, std::uint16_t listener, const std::optional<CertifiedKey>& client)
      : door_(listener, stage.serverAuthority.certificate, client) {
    for (int i = 0; i < kConnections; ++i) {
      threads_.emplace_back([this] {
        BlockingSocket connection = BlockingSocket::connect(door_.port());
        for (int j = 0; j < kRequests; ++j) tally_.note(askRaw(connection).status);
      });
    }
  }
  /// Returns the tally of all requests.
  const BudgetTally& finish() {
    for (std::thread& each : threads_) each.join();
    threads_.clear();
    return tally_;
  }
  ~BudgetStorm() { finish(); }
  BudgetStorm(const BudgetStorm&) = delete;
  BudgetStorm& operator=(const BudgetStorm&) = delete;

 private:
  TlsDoor door_;
  BudgetTally tally_;
  std::vector<std::thread> threads_;
};

void expectBudget(const BudgetTally& tally, int budget, const char* whose) {
  EXPECT_EQ(tally.passed, budget) << whose;
  EXPECT_EQ(tally.refused, BudgetStorm::kConnections * BudgetStorm::kRequests - budget) << whose;
  EXPECT_EQ(tally.others, 0) << whose;
}

TEST(BudgetsOfCallers, AreEachTheirOwnUnderLoad) {
  CallerStage stage;
  stage.spec.workers = 2;
  stage.documents += budgets("ServiceAccount", overriding("shop/cart", 23) + ", " + overriding("bank/cart", 11));
  stage.start();
  BudgetStorm cart(stage, stage.secure, stage.account("shop", "cart"));
  BudgetStorm bank(stage, stage.secure, stage.account("bank", "cart"));
  BudgetStorm till(stage, stage.lenient, stage.account("shop", "till"));
  BudgetStorm unknown(stage, stage.lenient, std::nullopt);
  expectBudget(cart.finish(), 23, "shop/cart");
  expectBudget(bank.finish(), 11, "bank/cart");
  expectBudget(till.finish(), 4, "an account without an override");
  expectBudget(unknown.finish(), 4, "all that are not known");
  const auto counted = [&] { return countedOf(*stage.gateway, kServedRequests, certifiedCaller("shop", "cart")); };
  EXPECT_TRUE(eventually([&] { return counted() == BudgetStorm::kConnections * BudgetStorm::kRequests; })) << counted();
}

TEST(BudgetsOfCallers, AreRefusedWith429AndTheTimeToWait) {
  CallerStage stage;
  stage.documents += budgets("ServiceAccount", overriding("shop/cart", 1));
  stage.start();
  const CertifiedKey cart = stage.account("shop", "cart");
  EXPECT_EQ(stage.status(stage.secure, cart), 200);
  const ReceivedResponse refused = stage.ask(stage.secure, cart);
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.head, ContainsRegex("[Rr]etry-[Aa]fter: [1-6]?[0-9]\r\n"));
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"rate_limited\""));
  EXPECT_EQ(stage.status(stage.lenient, cart), 429) << "another listener of the same Gateway";
  EXPECT_EQ(stage.logged(2), certifiedCaller("shop", "cart"));
  const CertifiedKey again = stage.account("shop", "cart");
  EXPECT_EQ(stage.status(stage.secure, again), 429) << "another certificate of the same account";
}

TEST(BudgetsOfCallers, AreSharedByThoseWithoutAnAccount) {
  CallerStage stage;
  stage.documents += budgets("ServiceAccount", overriding("", 3));
  stage.start();
  const CertifiedKey foreign = clientOf(stage.authority, {spiffeId("shop", "cart", "elsewhere.test")});
  const CertifiedKey forged = clientOf(makeAuthority("Client Authority"), {spiffeId("shop", "cart")});
  EXPECT_EQ(stage.status(stage.lenient, foreign), 200);
  EXPECT_EQ(stage.status(stage.lenient, forged), 200);
  EXPECT_EQ(stage.status(stage.lenient, std::nullopt), 200);
  EXPECT_EQ(stage.status(stage.lenient, std::nullopt), 429);
  EXPECT_EQ(stage.status(stage.lenient, foreign), 429);
  EXPECT_EQ(stage.status(stage.lenient, stage.account("shop", "cart")), 200);
}

TEST(BudgetsOfCallers, AreCountedByThePrincipalOfACertificate) {
  CallerStage stage;
  const std::string foreign = spiffeId("shop", "cart", "elsewhere.test");
  stage.documents += budgets("Principal", overriding(foreign, 2));
  stage.start();
  const CertifiedKey client = clientOf(stage.authority, {foreign});
  for (const int status : {200, 200, 429}) EXPECT_EQ(stage.status(stage.secure, client), status);
  for (const int status : {200, 200, 200, 200, 429}) {
    EXPECT_EQ(stage.status(stage.secure, stage.account("shop", "cart")), status);
  }
}

TEST(BudgetsOfCallers, AreThoseOfTheUsersOfAProxy) {
  const RawOrigin origin(RawOrigin::answering(saying("served")));
  ForwardProxy proxy;
  proxy.spec.routes += secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\\n" + kBob + "\"") +
                       egressPolicy("p", CallerStage::targetOf("proxy"),
                                    "rules: [" + allowingHost("a", "a.test", origin.port()) +
                                        "], clientAuthentication: {basic: {secretRef: {name: users}}}") +
                       budgets("Principal", overriding("ann", 2) + ", " + overriding("bob", 5));
  proxy.start();
  const std::string host = "a.test:" + std::to_string(origin.port());
  const auto ask = [&](const std::string& user, const std::string& password) {
    return askRaw(proxy.port, "GET http://" + host + "/ HTTP/1.1\r\nHost: " + host +
                                  "\r\nProxy-Authorization: " + basic(user, password) + "\r\n\r\n")
        .status;
  };
  for (const int status : {200, 200, 429}) EXPECT_EQ(ask("ann", "secret"), status);
  for (const int status : {200, 200, 200, 200, 200, 429}) EXPECT_EQ(ask("bob", "other"), status);
  EXPECT_EQ(ask("ann", "wrong"), 407) << "who is not ann spends nothing of hers";
  const std::vector<std::string> lines = proxy.gateway->accessLog(10);
  EXPECT_EQ(callerIn(lines.at(0)), (LoggedCaller{"", "", "ann", "Token"}));
  EXPECT_EQ(callerIn(lines.at(3)), (LoggedCaller{"", "", "bob", "Token"}));
  EXPECT_EQ(callerIn(lines.at(9)), LoggedCaller());
}

}  // namespace
}  // namespace sluice::test
