// Clients of a listener that verifies certificates: which of them are served, and under which name.
#include <gtest/gtest.h>

#include "proxy/exchange/authentication/authentication_gate.h"
#include "proxy/exchange/exchange_list.h"
#include "proxy/routing/policy/client_authentication.h"
#include "test/exchange/authentication/client_certificates.h"
#include "test/exchange/steps/process_fixture.h"
#include "test/support/loop_driver.h"
#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

using Names = std::vector<std::string>;

/// Notes the names of the caller that it is shown, and the fields that tell of it.
class CallerProcessor final : public processing::Processor {
 public:
  explicit CallerProcessor(Names& seen) : seen_(seen) {}
  Verdict process(Call& call, const processing::Peer& peer) const override {
    const http::Field* const told = call.request.headers.find("x-caller");
    seen_.push_back(std::string(peer.nameSpace) + "|" + std::string(peer.serviceAccount) + "|" +
                    std::string(peer.principal) + "|" + std::string(base::assuranceName(peer.assurance)) + "|" +
                    std::string(told != nullptr ? told->value : ""));
    return Verdict::goOn();
  }

 private:
  Names& seen_;
};

Step notingCaller(const std::string& name, Names& seen, bool preAuth, Scope scope) {
  Step made = step(name, Phase::kRequestHeaders, goesOn(), 0, scope);
  made.processor = std::make_shared<const CallerProcessor>(seen);
  made.preAuth = preAuth;
  return made;
}

class CertifiedClients : public ProcessorSteps {
 protected:
  void SetUp() override {
    ProcessorSteps::SetUp();
    options_.listener = [this](routing::ServedListener& listener) {
      listener.clients = std::make_shared<const routing::ClientValidation>(clients_);
      listener.identityHeader = "x-caller";
      if (basic_) {
        routing::ClientAuthentication users{"demo/users", "sluice", required_, test::annAndBob()};
        listener.authentication = std::make_shared<const routing::ClientAuthentication>(std::move(users));
      }
      if (more_) more_(listener);
    };
  }
  /// Makes the gateway, and connects a client with that certificate; null: with none.
  Rig& start(std::shared_ptr<const pki::PeerChain> certificate) {
    rig_.emplace(options_);
    rig_->clock.setWall(realNow());
    rig_->shown = std::move(certificate);
    client_ = &rig_->connect(std::get<0>(GetParam()));
    return *rig_;
  }
  Rig& startCertified() { return start(shown(test::issue(authority_, accountSpec()))); }
  Rig& startWithWrongOne() { return start(shown(test::issue(test::makeAuthority("Other"), accountSpec()))); }
  std::size_t ask(test::FieldList fields = {}) {
    return ProcessorSteps::ask({.target = "/ok", .fields = std::move(fields)});
  }
  /// Asks as a user of HTTP Basic, and lets the check of the password come to its end.
  std::size_t askAs(const std::string& user, const std::string& password) {
    const std::size_t index = ask({{"authorization", test::basic(user, password)}});
    EXPECT_TRUE(test::runUntil(rig_->worker, [&] {
      rig_->settle();
      return client_->answer(index).message.head.status != 0 || rig_->dialled() > rig_->backends.size();
    }));
    return index;
  }
  /// Serves the request that has just come, and returns the name that the Backend has got.
  std::string served(std::size_t index) {
    BackendPeer& backend = rig_->backends.empty() ? accept(0) : *rig_->backends.back();
    std::string name = fieldOf(seen(backend), "x-caller");
    respond(backend, 200, "welcome");
    EXPECT_EQ(status(index), 200);
    return name;
  }
  void expectRefused(std::size_t index, std::uint16_t code, const std::string& type) {
    EXPECT_EQ(status(index), code);
    EXPECT_NE(client_->answer(index).body.find("\"code\":\"" + type + "\""), std::string::npos)
        << client_->answer(index).body;
    EXPECT_EQ(fieldOf(answered(index), "www-authenticate"), "");
    rig_->settle();
    EXPECT_EQ(rig_->openConnections(), 0U) << "the client makes another connection";
  }

  const test::CertifiedKey authority_ = test::makeAuthority();
  routing::ClientValidation clients_ = trusting(authority_);
  bool basic_ = false;
  bool required_ = true;  // credentials
  std::function<void(routing::ServedListener&)> more_;
};
INSTANTIATE_TEST_SUITE_P(Versions, CertifiedClients,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(CertifiedClients, AreNamedForEachRequestAndVerifiedOnce) {
  const Rig& rig = startCertified();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(served(ask({{"x-caller", "other/admin"}, {"x_caller", "other/admin"}})), "demo/web");
  EXPECT_EQ(rig.identities, Names{"certificate identified"});
}

TEST_P(CertifiedClients, AreShownInTheListOfExchanges) {
  Rig& rig = startCertified();
  ask();
  const net::Worker::Turn turn(rig.worker);
  const ExchangeList list = listExchanges(rig.exchanges, 0, 1);
  EXPECT_NE(list.oldest.at(0).json.find(
                R"("namespace":"demo","serviceAccount":"web","principal":"spiffe://prod.test/ns/demo/sa/web",)"
                R"("assurance":"Certificate")"),
            std::string::npos)
      << list.oldest.at(0).json;
}

TEST_P(CertifiedClients, AreRefusedFromTheExpiryOn) {
  test::CertificateSpec spec = accountSpec();
  spec.notAfter = std::chrono::hours(1);
  Rig& rig = start(shown(test::issue(authority_, spec)));
  EXPECT_EQ(served(ask()), "demo/web");
  rig.clock.setWall(realNow() + std::chrono::hours(2));
  rig.advance(CertifiedCaller::kWallClockTrusted);
  expectRefused(ask(), 401, "authentication_required");
  EXPECT_EQ(rig.identities, (Names{"certificate identified", "certificate refused"}));
}

TEST_P(CertifiedClients, AreRefusedWhenAReloadTakesTheirAuthorityAway) {
  Rig& rig = startCertified();
  EXPECT_EQ(served(ask()), "demo/web");
  clients_ = trusting(test::makeAuthority("Other"));
  rig.adopt("2");
  expectRefused(ask(), 401, "authentication_required");
}

TEST_P(CertifiedClients, AreRefusedWhenAReloadBringsARevocationList) {
  const test::CertifiedKey key = test::issue(authority_, accountSpec());
  Rig& rig = start(shown(key));
  EXPECT_EQ(served(ask()), "demo/web");
  clients_ = trusting(authority_, test::revocationList(authority_, {key}));
  rig.adopt("2");
  expectRefused(ask(), 401, "authentication_required");
}

TEST_P(CertifiedClients, WithoutACertificateAreMisdirectedWhereOneIsRequired) {
  const Rig& rig = start(nullptr);
  expectRefused(ask(), 421, "misdirected_request");
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(CertifiedClients, WithoutACertificateAreServedWhereNoneIsRequired) {
  clients_.required = false;
  const Rig& rig = start(nullptr);
  EXPECT_EQ(served(ask({{"x-caller", "other/admin"}})), "");
  EXPECT_EQ(rig.identities, Names{"certificate absent"});
}

TEST_P(CertifiedClients, WithAWrongCertificateAreRefusedEvenWhereNoneIsRequired) {
  clients_.required = false;
  startWithWrongOne();
  expectRefused(ask(), 401, "authentication_required");
}

TEST_P(CertifiedClients, WithAWrongCertificateHaveNoNameUnderTheInsecureFallback) {
  clients_.insecureFallback = true;
  basic_ = true;
  const Rig& rig = startWithWrongOne();
  EXPECT_EQ(served(askAs("ann", "secret")), "") << "no weaker proof stands in";
  EXPECT_EQ(rig.identities, (Names{"certificate refused", "token identified"}));
}

TEST_P(CertifiedClients, WithoutACertificateHaveNoNameUnderTheInsecureFallback) {
  clients_.insecureFallback = true;
  basic_ = true;
  start(nullptr);
  EXPECT_EQ(served(askAs("ann", "secret")), "");
}

TEST_P(CertifiedClients, AreNamedUnderTheInsecureFallbackIfTheirCertificateIsRight) {
  clients_.insecureFallback = true;
  startCertified();
  EXPECT_EQ(served(ask()), "demo/web");
}

TEST_P(CertifiedClients, AreNamedByTheStrongestProof) {
  basic_ = true;
  startCertified();
  EXPECT_EQ(served(askAs("ann", "secret")), "demo/web");
}

TEST_P(CertifiedClients, WithoutACertificateAreNamedByTheirUser) {
  clients_.required = false;
  basic_ = true;
  const Rig& rig = start(nullptr);
  EXPECT_EQ(served(askAs("ann", "secret")), "ann");
  EXPECT_EQ(rig.identities, (Names{"certificate absent", "token identified"}));
}

TEST_P(CertifiedClients, NeedBothProofsWhereBothAreRequired) {
  basic_ = true;
  const Rig& rig = startCertified();
  const std::size_t missing = ask();
  EXPECT_EQ(status(missing), 401);
  EXPECT_EQ(fieldOf(answered(missing), "www-authenticate"), "Basic realm=\"sluice\", charset=\"UTF-8\"");
  EXPECT_EQ(status(askAs("ann", "wrong")), 401);
  EXPECT_EQ(rig.identities, (Names{"certificate identified", "token absent", "token refused"}));
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(CertifiedClients, KeepTheFieldOfTheirNameOutOfTrailers) {
  startCertified();
  const std::size_t index = client_->ask({.method = http::Method::kPost, .target = "/ok", .body = Body::kUntilEnd});
  client_->body(index, "hello");
  client_->finish(index, {{"x-caller", "other/admin"}, {"x-own", "1"}});
  ASSERT_TRUE(rig_->settle());
  BackendPeer& backend = accept(0);
  EXPECT_EQ(backend.request(0).trailers, (test::FieldList{{"x-own", "1"}}));
}

TEST_P(CertifiedClients, AreShownToTheStepsBehindAuthenticationAlone) {
  const std::string nobody = "|||None|";
  const std::string web = "demo|web|spiffe://prod.test/ns/demo/sa/web|Certificate|";
  Names early;
  Names late;
  for (const bool first : {true, false}) {
    if (first) {
      const auto before = options_.rule;
      options_.rule = [&, before](routing::Rule& rule) {
        before(rule);
        rule.chain = std::make_shared<const processing::Chain>(std::vector<Step>{
            notingCaller("early", early, true, Scope::kRoute), notingCaller("late", late, false, Scope::kRoute)});
        auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
        plan->chain = std::make_shared<const processing::Chain>(
            std::vector<Step>{notingCaller("tentative", early, true, Scope::kBackend),
                              notingCaller("own", late, false, Scope::kBackend)});
        rule.backends[0].backend = std::move(plan);
      };
      startCertified();
    }
    // The second request finds the verdict of the first, before any step runs.
    EXPECT_EQ(served(ask({{"x-caller", "other/admin"}})), "demo/web");
    EXPECT_EQ(early, (Names{nobody, nobody})) << first;
    EXPECT_EQ(late, (Names{web, web})) << first;
    early.clear();
    late.clear();
  }
}

TEST_P(CertifiedClients, AreRefusedBehindTheStepsBeforeThat) {
  Names early;
  const auto before = options_.rule;
  options_.rule = [&, before](routing::Rule& rule) {
    before(rule);
    rule.chain = std::make_shared<const processing::Chain>(std::vector<Step>{
        notingCaller("early", early, true, Scope::kRoute), notingCaller("late", early, false, Scope::kRoute)});
  };
  const Rig& rig = startWithWrongOne();
  expectRefused(ask(), 401, "authentication_required");
  EXPECT_EQ(rig.steps, Names{"early"});
}

TEST_P(CertifiedClients, KeepTheirNameInARetry) {
  startCertified();
  const std::size_t index = ask();
  BackendPeer& backend = accept(0);
  respond(backend, 503, "again");
  passBackoff();
  ASSERT_EQ(backend.requests(), 2U);
  EXPECT_EQ(served(index), "demo/web");
}

TEST_P(CertifiedClients, AreNamedToMirrorsToo) {
  const auto before = options_.rule;
  options_.rule = [before](routing::Rule& rule) {
    before(rule);
    auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
    plan->name = "demo/mirror";
    plan->identity = "mirror";
    plan->hostname = plan->authority = "mirror.test";
    rule.mirrors.push_back({std::move(plan), 1, 1});
  };
  Rig& rig = startCertified();
  rig.resolver.know("mirror.test", {"192.0.2.9"});
  ask({{"x-caller", "other/admin"}});
  ASSERT_EQ(rig.dialled(), 2U);
  for (const std::size_t wire : {0U, 1U}) {
    BackendPeer& backend = accept(wire);
    ASSERT_EQ(backend.requests(), 1U);
    EXPECT_EQ(fieldOf(seen(backend), "x-caller"), "demo/web") << wire;
  }
}

}  // namespace
}  // namespace sluice::exchange
