// Clients of a listener with authentication: what each of them gets, and what others see of their credentials.
#include "proxy/exchange/authentication/authentication_gate.h"

#include <gtest/gtest.h>

#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/redirect.h"
#include "test/exchange/steps/process_fixture.h"
#include "test/support/loop_driver.h"
#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

using test::basic;

class AuthenticatedClients : public ProcessorSteps {
 protected:
  void SetUp() override {
    ProcessorSteps::SetUp();
    authentication_.policy = "demo/users";
    authentication_.realm = "sluice";
    authentication_.users = test::annAndBob();
    options_.listener = [this](routing::ServedListener& listener) {
      listener.authentication = std::make_shared<const routing::ClientAuthentication>(authentication_);
      if (more_) more_(listener);
    };
  }
  Rig& start() { return make(options_); }
  std::size_t ask(const std::string& authorization, const std::string& target = "/ok") {
    test::FieldList fields = {{"x-own", "1"}};
    if (!authorization.empty()) fields.emplace_back("authorization", authorization);
    return ProcessorSteps::ask({.target = target, .fields = std::move(fields)});
  }
  /// Lets the checks that wait come to their end, until `count` of this client's requests are answered.
  void check(std::size_t count) {
    EXPECT_TRUE(test::runUntil(rig_->worker, [&] {
      rig_->settle();
      return rig_->told.size() >= count || rig_->dialled() > rig_->backends.size();
    }));
  }
  /// Accepts the Backend's connection once the client was let through.
  BackendPeer& passed() {
    check(1000);
    return accept(rig_->backends.size());
  }
  std::string challenge(std::size_t index) { return fieldOf(answered(index), "www-authenticate"); }
  bool says(std::size_t index, const std::string& text) {
    return client_->answer(index).body.find(text) != std::string::npos;
  }

  static inline const std::string kAnnsWord = basic("ann", "secret");
  static inline const std::string kChallenge = "Basic realm=\"sluice\", charset=\"UTF-8\"";

  routing::ClientAuthentication authentication_;
  std::function<void(routing::ServedListener&)> more_;
};
INSTANTIATE_TEST_SUITE_P(Versions, AuthenticatedClients,
                         ::testing::Combine(::testing::Values(Version::kHttp11, Version::kHttp2),
                                            ::testing::Values(Version::kHttp11, Version::kHttp2)));

TEST_P(AuthenticatedClients, AreAskedForCredentials) {
  const Rig& rig = start();
  const std::size_t index = ask("");
  EXPECT_EQ(status(index), 401);
  EXPECT_EQ(challenge(index), kChallenge);
  EXPECT_TRUE(says(index, "\"code\":\"authentication_required\"")) << client_->answer(index).body;
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(AuthenticatedClients, AreServedAndTheBackendGetsNoPassword) {
  Rig& rig = start();
  const std::size_t first = ask(kAnnsWord);
  EXPECT_EQ(rig.dialled(), 0U);
  BackendPeer& backend = passed();
  EXPECT_EQ(fieldOf(seen(backend), "authorization"), "");
  EXPECT_EQ(fieldOf(seen(backend), "x-own"), "1");
  respond(backend, 200, "welcome");
  EXPECT_EQ(status(first), 200);
  const std::size_t second = ask(kAnnsWord);  // no check any more: the loop does not run
  respond(backend, 200, "again");
  EXPECT_EQ(status(second), 200);
  EXPECT_EQ(fieldOf(seen(backend), "authorization"), "");
}

TEST_P(AuthenticatedClients, AreRefusedWithWrongCredentials) {
  const Rig& rig = start();
  const std::vector<std::string> checked = {basic("ann", "wrong"), basic("eve", "secret"), basic("", "secret"),
                                            basic("ann", ""), basic("bob", "secret")};
  for (const std::string& each : checked) {
    const std::size_t index = ask(each);
    check(rig.told.size() + 1);
    EXPECT_EQ(status(index), 401) << each;
    EXPECT_EQ(challenge(index), kChallenge);
  }
  for (const char* each : {"Basic", "Basic ?", "Basic YW5u", "Basic YW5uCg=="}) {
    const std::size_t index = ask(each);
    EXPECT_EQ(status(index), 401) << each;
  }
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(AuthenticatedClients, WithAWrongPasswordGetNoFurtherCheckForTenSeconds) {
  Rig& rig = start();
  ask(basic("ann", "wrong"));
  check(1);
  EXPECT_EQ(status(ask(basic("ann", "wrong"))), 401);
  EXPECT_EQ(rig.exchanges.size(), 0U);
  rig.advance(std::chrono::seconds(10));
  ask(basic("ann", "wrong"));
  EXPECT_EQ(rig.exchanges.size(), 1U) << "it waits for a check again";
}

TEST_P(AuthenticatedClients, AreNotAuthenticatedByCredentialsForTheBackend) {
  const Rig& rig = start();
  const std::size_t index = ask("Bearer token");
  EXPECT_EQ(status(index), 401);
  EXPECT_EQ(challenge(index), kChallenge);
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(AuthenticatedClients, NeedNoCredentialsWhereTheyAreNotRequired) {
  authentication_.required = false;
  Rig& rig = start();
  ask("");
  BackendPeer& backend = accept(0);
  respond(backend, 200, "welcome");
  const std::size_t ofBackend = ask("Bearer token");
  EXPECT_EQ(fieldOf(seen(backend), "authorization"), "Bearer token");
  respond(backend, 200, "welcome");
  EXPECT_EQ(status(ofBackend), 200);
  const std::size_t wrong = ask(basic("ann", "wrong"));
  check(rig.told.size() + 1);
  EXPECT_EQ(status(wrong), 401);
  EXPECT_EQ(status(ask("Basic ?")), 401);
  EXPECT_EQ(backend.requests(), 2U);
}

TEST_P(AuthenticatedClients, LearnNothingOfRoutesBeforeThat) {
  Rig& rig = start();
  for (const char* target : {"/ok", "/broken", "/nowhere"}) EXPECT_EQ(status(ask("", target)), 401) << target;
  const std::size_t broken = ask(kAnnsWord, "/broken");
  check(rig.told.size() + 1);
  EXPECT_EQ(status(broken), 500);
  EXPECT_EQ(challenge(broken), "");
  EXPECT_EQ(status(ask(kAnnsWord, "/nowhere")), 404);
  EXPECT_EQ(status(ask(basic("ann", "wrong"), "/broken")), 0) << "it waits for a check";
}

TEST_P(AuthenticatedClients, AreRedirectedAfterThatAlone) {
  options_.rule = [](routing::Rule& rule) {
    rule.redirect.emplace();
    rule.redirect->status = 302;
  };
  Rig& rig = start();
  EXPECT_EQ(status(ask("")), 401);
  const std::size_t index = ask(kAnnsWord);
  check(rig.told.size() + 1);
  EXPECT_EQ(status(index), 302);
}

Step preAuthStep(const std::string& name, Phase phase, Work work, Scope scope = Scope::kRoute) {
  Step made = step(name, phase, std::move(work), kReadsWhole, 0, scope);
  made.preAuth = true;
  return made;
}
Work noting(std::string& values) {
  return [&values](Call& call) {
    const http::Field* const found = call.request.headers.find("authorization");
    values += found != nullptr ? std::string(found->value) : "-";
    return Verdict::goOn();
  };
}

TEST_P(AuthenticatedClients, PassTheFirstRoundOfStepsBeforeAndTheSecondBehind) {
  std::string values;
  Rig& rig = with({preAuthStep("early", Phase::kRequestHeaders, noting(values)),
                   preAuthStep("early body", Phase::kRequestBody, noting(values)),
                   step("late", Phase::kRequestHeaders, noting(values))},
                  {preAuthStep("tentative", Phase::kRequestHeaders, noting(values), Scope::kBackend)});
  EXPECT_EQ(status(ask("")), 401);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "early body", "tentative"}));
  rig.steps.clear();
  ask(kAnnsWord);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "early body", "tentative"}));
  respond(passed(), 200, "welcome");
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "early body", "tentative", "late"}));
  EXPECT_EQ(values, "-------");
}

TEST_P(AuthenticatedClients, PassAStepThatChangesTheBodyOfItsBackendBefore) {
  Step changes = preAuthStep(
      "changes", Phase::kRequestBody,
      [](Call& call) {
        call.body->replacement().append("mine");
        return Verdict::goOn();
      },
      Scope::kBackend);
  changes.body.edits = true;
  for (const bool also : {true, false}) {
    SetUp();
    std::vector<Step> shared;
    if (also) shared.push_back(step("late", Phase::kRequestHeaders, goesOn()));
    Rig& rig = with(shared, {changes});
    EXPECT_EQ(status(ask("")), 401);
    EXPECT_EQ(rig.steps, std::vector<std::string>{"changes"}) << also;
    rig.steps.clear();
    ask(kAnnsWord);
    respond(passed(), 200, "welcome");
    EXPECT_EQ(rig.steps, also ? (std::vector<std::string>{"changes", "late"}) : std::vector<std::string>{"changes"});
  }
}

TEST_P(AuthenticatedClients, PassTheStepsBeforeRoutingInTheSameOrder) {
  more_ = [](routing::ServedListener& listener) {
    Step late = step("late", Phase::kRequestHeaders, goesOn(), -5, Scope::kGateway);
    Step early = preAuthStep("early", Phase::kRequestHeaders, goesOn(), Scope::kGateway);
    early.preRouting = late.preRouting = true;
    listener.preRouting = std::make_shared<const processing::Chain>(std::vector<Step>{early, late});
  };
  Rig& rig = with({preAuthStep("of the route", Phase::kRequestHeaders, goesOn())});
  EXPECT_EQ(status(ask("")), 401);
  EXPECT_EQ(rig.steps, std::vector<std::string>{"early"});
  ask(kAnnsWord);
  respond(passed(), 200, "welcome");
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "early", "late", "of the route"}));
}

TEST_P(AuthenticatedClients, AreAuthenticatedBeforeTheRouteIsFoundOnlyForStepsBehindThat) {
  more_ = [](routing::ServedListener& listener) {
    Step early = preAuthStep("early", Phase::kRequestHeaders, goesOn(), Scope::kGateway);
    early.preRouting = true;
    listener.preRouting = std::make_shared<const processing::Chain>(std::vector<Step>{early});
  };
  const Rig& rig = with({preAuthStep("of the route", Phase::kRequestHeaders, goesOn())});
  EXPECT_EQ(status(ask("")), 401);
  EXPECT_EQ(rig.steps, (std::vector<std::string>{"early", "of the route"}));
}

TEST_P(AuthenticatedClients, WaitForTheirBodyAsLongAsTheirPassword) {
  Rig& rig = start();
  const std::size_t index = client_->ask({.method = http::Method::kPost,
                                          .target = "/ok",
                                          .fields = {{"authorization", kAnnsWord}},
                                          .body = Body::kLength,
                                          .length = 5,
                                          .expectContinue = true});
  ASSERT_TRUE(rig.settle());
  EXPECT_TRUE(client_->answer(index).interims.empty()) << "no body is asked for before the client is known";
  BackendPeer& backend = passed();
  backend.interim(0, 100);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(client_->answer(index).interims, std::vector<std::uint16_t>{100});
  client_->body(index, "hello");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  EXPECT_EQ(backend.request(0).body, "hello");
  respond(backend, 200, "welcome");
  EXPECT_EQ(status(index), 200);
}

TEST_P(AuthenticatedClients, SendTheirBodyWhileTheirPasswordIsChecked) {
  Rig& rig = start();
  const std::size_t index = client_->ask({.method = http::Method::kPost,
                                          .target = "/ok",
                                          .fields = {{"authorization", kAnnsWord}},
                                          .body = Body::kUntilEnd});
  client_->body(index, "hello");
  client_->finish(index);
  ASSERT_TRUE(rig.settle());
  BackendPeer& backend = passed();
  EXPECT_EQ(backend.request(0).body, "hello");
  respond(backend, 200, "welcome");
  EXPECT_EQ(status(index), 200);
}

TEST_P(AuthenticatedClients, MayLeaveWhileTheirPasswordIsChecked) {
  Rig& rig = start();
  const std::size_t index = ask(kAnnsWord);
  {
    const net::Worker::Turn turn(rig.worker);
    rig.exchanges.forEach([](const Exchange& each) { EXPECT_EQ(waitName(each.wait().what), "password-check"); });
  }
  if (std::get<0>(GetParam()) == Version::kHttp2) {
    client_->cancel(index);
  } else {
    client_->wire().reset();
  }
  rig.settle();
  EXPECT_EQ(rig.exchanges.size(), 0U);
  test::ClientPeer& other = rig.connect(std::get<0>(GetParam()));
  client_ = &other;
  ask(basic("bob", "other"));
  respond(passed(), 200, "welcome");
  EXPECT_EQ(rig.exchanges.size(), 0U);
}

TEST_P(AuthenticatedClients, AreRefusedIfTheirPasswordIsNotCheckedInTime) {
  options_.timeouts.streamIdle = std::chrono::seconds(3);
  Rig& rig = start();
  const std::size_t index = ask(kAnnsWord);
  rig.advance(std::chrono::seconds(3));
  rig.advancePast();
  EXPECT_EQ(status(index), 503);
  EXPECT_TRUE(says(index, "the password was not checked in time")) << client_->answer(index).body;
  EXPECT_EQ(rig.dialled(), 0U);
}

TEST_P(AuthenticatedClients, AreRefusedIfTooManyPasswordsWait) {
  Rig& rig = start();
  rig.passwords.end();
  const std::size_t index = ask(kAnnsWord);
  EXPECT_EQ(status(index), 503);
  EXPECT_TRUE(says(index, "\"limit\":\"passwordChecks\"")) << client_->answer(index).body;
  EXPECT_EQ(challenge(index), "");
  EXPECT_TRUE(limited("passwordChecks"));
}

}  // namespace
}  // namespace sluice::exchange
