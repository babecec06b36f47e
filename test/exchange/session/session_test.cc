// Tests a rule that persists sessions: requests of a session go to the backend that it is bound to, and clients get the
// value of the session. Clients and backends are of either version.
#include "proxy/exchange/session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>

#include "test/support/exchange_rig.h"

namespace sluice::exchange {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::chrono::milliseconds kRetryBackoff{100};

std::shared_ptr<routing::BackendPlan> serviceOf(const std::string& identity, const std::vector<std::string>& endpoints,
                                                routing::UpstreamProtocol protocol) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = "demo/" + identity;
  plan->identity = identity;
  plan->hostname = identity + ".demo.svc";
  plan->port = 80;
  plan->authority = plan->hostname;
  plan->protocol = protocol;
  plan->endpoints.emplace();
  for (const std::string& ip : endpoints) plan->endpoints->push_back({ip, 8080});
  return plan;
}

std::shared_ptr<const pki::ValueSealer> sealer(char key, std::optional<char> previous = std::nullopt) {
  return std::make_shared<const pki::ValueSealer>(base::Secret(std::string(32, key)),
                                                  previous ? base::Secret(std::string(32, *previous)) : base::Secret());
}

/// The weighted backend of the rule is a Service of two endpoints; `shape` adds others.
class Sessions : public ::testing::TestWithParam<std::tuple<http::Version, http::Version>> {
 protected:
  using Shape = std::function<void(routing::Rule&, routing::SessionPolicy&)>;

  void begin(const Shape& shape = {}) {
    shape_ = shape;
    test::RigOptions options;
    const bool h2 = std::get<1>(GetParam()) == http::Version::kHttp2;
    protocol_ = h2 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
    options.protocol = protocol_;
    options.rule = [this](routing::Rule& rule) {
      rule.backends[0].backend = serviceOf("shop", endpoints_, protocol_);
      auto policy = std::make_shared<routing::SessionPolicy>();
      policy->name = "sid";
      policy->scope = "rule sid";
      policy->shares = {11, 22, 33};
      if (shape_) shape_(rule, *policy);
      rule.session = std::move(policy);
    };
    rig_.emplace(options);
    rig_->exchanges.sealSessions(sealer('a'));
    client_ = &rig_->connect(std::get<0>(GetParam()));
  }

  /// Sends a request with that cookie or field, which is not answered yet. Returns its number.
  std::size_t ask(const test::FieldList& fields, const std::string& target = "/ok") {
    test::HeadSpec spec;
    spec.target = target;
    spec.fields = fields;
    const std::size_t index = client_->ask(spec);
    EXPECT_TRUE(rig_->settle());
    acceptAll();
    return index;
  }
  /// Opens the connections that were dialled, except for those to `dead_`.
  void acceptAll() {
    for (; peers_.size() < rig_->dialled();) {
      const std::size_t wire = peers_.size();
      if (dead_ == ip(wire)) {
        peers_.push_back(nullptr);
        rig_->wire(wire).refuse();
        EXPECT_TRUE(rig_->settle());
      } else {
        peers_.push_back(nullptr);
        peers_[wire] = &rig_->accept(wire, std::get<1>(GetParam()));
      }
    }
  }
  std::string ip(std::size_t wire) { return rig_->wire(wire).address().ip(); }

  struct Answer {
    std::string by;  // the endpoint that answered
    test::FieldList fields;
    test::FieldList seen;  // fields that the backend saw
  };
  /// Has each backend answer its last request, unless that is answered already.
  Answer respond(std::size_t index, std::uint16_t status = 200) {
    Answer answer;
    for (std::size_t wire = 0; wire < peers_.size(); ++wire) {
      test::BackendPeer* peer = peers_[wire];
      if (peer == nullptr || peer->requests() == 0) continue;
      auto& last = peer->request(peer->requests() - 1);
      if (last.sent || last.response.end() != http::PipeEnd::kOpen) continue;
      answer.by = ip(wire);
      answer.seen = test::fieldList(last.message.head.headers);
      peer->respond(peer->requests() - 1, status, "x");
    }
    EXPECT_TRUE(rig_->settle());
    acceptAll();
    answer.fields = test::fieldList(client_->answer(index).message.head.headers);
    return answer;
  }
  Answer get(const test::FieldList& fields = {}) { return respond(ask(fields)); }
  Answer resume(const std::string& value) { return get({{"cookie", "sid=" + value}}); }

  static std::vector<std::string> all(const test::FieldList& fields, const std::string& name) {
    std::vector<std::string> values;
    for (const auto& [each, value] : fields) {
      if (each == name) values.push_back(value);
    }
    return values;
  }
  /// Returns the value that the answer sets; empty if it sets none.
  static std::string valueOf(const Answer& answer) {
    const auto cookies = all(answer.fields, "set-cookie");
    if (cookies.empty()) return {};
    EXPECT_EQ(cookies.size(), 1U);
    EXPECT_THAT(cookies[0], StartsWith("sid="));
    return cookies[0].substr(4, cookies[0].find(';') - 4);
  }
  std::string other(const std::string& endpoint) const { return endpoints_[endpoint == endpoints_[0] ? 1 : 0]; }

  std::vector<std::string> endpoints_{"10.0.0.1", "10.0.0.2"};
  std::string dead_;
  Shape shape_;
  routing::UpstreamProtocol protocol_ = routing::UpstreamProtocol::kAuto;
  std::vector<test::BackendPeer*> peers_;  // by wire; null if the connection was refused
  std::optional<test::Rig> rig_;
  test::ClientPeer* client_ = nullptr;
};

TEST_P(Sessions, BeginWithACookieAndStayWhereTheyBegan) {
  begin();
  const Answer first = get();
  const std::string value = valueOf(first);
  ASSERT_FALSE(value.empty());
  EXPECT_THAT(all(first.fields, "set-cookie")[0], HasSubstr("; Path=/; HttpOnly; SameSite=Strict"));
  EXPECT_THAT(value, Not(HasSubstr(first.by)));
  for (int i = 0; i < 10; ++i) {
    const Answer next = resume(value);
    EXPECT_EQ(next.by, first.by);
    EXPECT_EQ(valueOf(next), "") << "the client has it";
  }
}

TEST_P(Sessions, AreKeptFromTheBackendAndOtherCookiesAreNot) {
  begin();
  const std::string value = valueOf(get());
  const Answer next = get({{"cookie", "a=1; sid=" + value + "; b=\"2\""}, {"x", "y"}});
  EXPECT_EQ(valueOf(next), "");
  EXPECT_THAT(all(next.seen, "cookie"), ::testing::ElementsAre("a=1; b=\"2\""));
  EXPECT_THAT(all(resume(value).seen, "cookie"), IsEmpty());
}

TEST_P(Sessions, GoOnAfterAReload) {
  begin();
  const Answer first = get();
  const std::string value = valueOf(first);
  rig_->adopt("2");
  for (int i = 0; i < 5; ++i) {
    const Answer next = resume(value);
    EXPECT_EQ(next.by, first.by);
    EXPECT_EQ(valueOf(next), "");
  }
}

TEST_P(Sessions, BeginAnewIfTheyAreForged) {
  begin();
  const std::string value = valueOf(get());
  std::string changed = value;
  changed[20] = changed[20] == 'A' ? 'B' : 'A';
  const std::string foreign = *sealer('z')->seal(SessionValue{}.toBytes(), "rule sid");
  const std::string ofAnotherRule = *sealer('a')->seal(SessionValue{}.toBytes(), "rule other");
  const std::string ofNoShare = *sealer('a')->seal(SessionValue{rig_->clock.wallNow(), 99, {}}.toBytes(), "rule sid");
  const std::string garbage = *sealer('a')->seal(std::string(SessionValue::kSize, '\x7f'), "rule sid");
  for (const std::string& each : {changed, foreign, ofAnotherRule, ofNoShare, garbage, std::string("x"),
                                  std::string(value.size(), 'A'), value + value, std::string(3000, 'A')}) {
    const Answer next = resume(each);
    EXPECT_FALSE(next.by.empty());
    EXPECT_FALSE(valueOf(next).empty()) << each;
  }
  EXPECT_EQ(valueOf(get({{"cookie", "sid=" + changed + "; sid=" + value}})), "") << "one of them is good";
}

TEST_P(Sessions, EndWhenTheirTimeIsOver) {
  begin([](routing::Rule&, routing::SessionPolicy& policy) { policy.absoluteTimeout = std::chrono::seconds(10); });
  const std::string value = valueOf(get());
  rig_->advance(std::chrono::milliseconds(9999));
  EXPECT_EQ(valueOf(resume(value)), "");
  rig_->advance(std::chrono::milliseconds(1));
  const std::string next = valueOf(resume(value));
  EXPECT_FALSE(next.empty());
  EXPECT_NE(next, value);
  rig_->advance(std::chrono::seconds(9));
  EXPECT_EQ(valueOf(resume(next)), "") << "a session of its own";
}

TEST_P(Sessions, AreGoodIfTheClockThatSealedThemIsAhead) {
  begin([](routing::Rule&, routing::SessionPolicy& policy) { policy.absoluteTimeout = std::chrono::seconds(10); });
  const std::string value = valueOf(get());
  rig_->clock.setWall(rig_->clock.wallNow() - std::chrono::seconds(3));
  EXPECT_EQ(valueOf(resume(value)), "");
}

TEST_P(Sessions, SetTheirAgeIfTheyArePermanent) {
  begin([](routing::Rule&, routing::SessionPolicy& policy) {
    policy.absoluteTimeout = std::chrono::seconds(10);
    policy.permanent = true;
  });
  EXPECT_THAT(all(get().fields, "set-cookie")[0], HasSubstr("; Max-Age=10"));
}

TEST_P(Sessions, GoOnUnderThePreviousKeyAndAreSealedAnew) {
  begin([](routing::Rule&, routing::SessionPolicy& policy) {
    policy.absoluteTimeout = std::chrono::seconds(10);
    policy.permanent = true;
  });
  const Answer first = get();
  rig_->exchanges.sealSessions(sealer('b', 'a'));
  rig_->advance(std::chrono::seconds(4));
  const Answer renewed = resume(valueOf(first));
  EXPECT_EQ(renewed.by, first.by);
  ASSERT_FALSE(valueOf(renewed).empty());
  EXPECT_THAT(all(renewed.fields, "set-cookie")[0], HasSubstr("; Max-Age=6")) << "its time goes on";
  rig_->exchanges.sealSessions(sealer('b'));
  const Answer next = resume(valueOf(renewed));
  EXPECT_EQ(next.by, first.by);
  EXPECT_EQ(valueOf(next), "");
}

TEST_P(Sessions, GoToAnotherEndpointWhenTheirsHasGone) {
  begin();
  const Answer first = get();
  endpoints_ = {other(first.by)};
  rig_->adopt("2");
  const Answer moved = resume(valueOf(first));
  EXPECT_EQ(moved.by, endpoints_[0]);
  const std::string value = valueOf(moved);
  EXPECT_FALSE(value.empty());
  EXPECT_EQ(valueOf(resume(value)), "");
}

TEST_P(Sessions, GoToAnotherEndpointWhenTheirsTakesNoConnections) {
  begin();
  const Answer first = get();
  rig_->adopt("2", "nothing");  // its connection ends
  dead_ = first.by;
  const Answer moved = resume(valueOf(first));
  EXPECT_EQ(moved.by, other(first.by));
  EXPECT_FALSE(valueOf(moved).empty());
  EXPECT_EQ(resume(valueOf(moved)).by, moved.by);
}

TEST_P(Sessions, ComeBeforeTheWeights) {
  begin([this](routing::Rule& rule, routing::SessionPolicy&) {
    rule.backends.emplace_back().backend = serviceOf("old", {"10.0.1.1"}, protocol_);
    rule.backends[1].weight = 0;
  });
  const SessionValue old{rig_->clock.wallNow(), 22, net::Address::parse("10.0.1.1", 8080)};
  const Answer drained = resume(*sealer('a')->seal(old.toBytes(), "rule sid"));
  EXPECT_EQ(drained.by, "10.0.1.1");
  EXPECT_EQ(valueOf(drained), "");
  for (int i = 0; i < 5; ++i) EXPECT_NE(get().by, "10.0.1.1") << "no new one";
}

TEST_P(Sessions, BeginAnewIfTheirBackendIsBroken) {
  begin([this](routing::Rule& rule, routing::SessionPolicy&) {
    rule.backends.emplace_back().backend = serviceOf("gone", {"10.0.1.1"}, protocol_);
    rule.backends[1].failure = base::Error::config("it is no more");
    rule.backends[1].weight = 0;
  });
  const SessionValue gone{rig_->clock.wallNow(), 22, net::Address::parse("10.0.1.1", 8080)};
  const Answer moved = resume(*sealer('a')->seal(gone.toBytes(), "rule sid"));
  EXPECT_FALSE(moved.by.empty());
  EXPECT_FALSE(valueOf(moved).empty());
}

TEST_P(Sessions, AreServedWithoutAnyWeightButDoNotBegin) {
  begin([](routing::Rule& rule, routing::SessionPolicy&) { rule.backends[0].weight = 0; });
  const std::size_t refused = ask({});
  EXPECT_EQ(client_->answer(refused).message.head.status, 500);
  EXPECT_THAT(all(test::fieldList(client_->answer(refused).message.head.headers), "set-cookie"), IsEmpty());
  const SessionValue held{rig_->clock.wallNow(), 11, net::Address::parse("10.0.0.2", 8080)};
  EXPECT_EQ(resume(*sealer('a')->seal(held.toBytes(), "rule sid")).by, "10.0.0.2");
}

TEST_P(Sessions, HoldNoEndpointOfABackend) {
  begin(
      [this](routing::Rule& rule, routing::SessionPolicy&) { rule.backends[0].backend = rig_ ? rig_->plan : nullptr; });
  rig_->adopt("2");  // now the plan is there
  const Answer first = get();
  EXPECT_EQ(first.by, "192.0.2.1");
  const auto opened = sealer('a')->open(valueOf(first), "rule sid");
  ASSERT_TRUE(opened);
  const auto value = SessionValue::parse(opened->value);
  ASSERT_TRUE(value);
  EXPECT_FALSE(value->endpoint) << "its addresses come and go";
  EXPECT_EQ(valueOf(resume(valueOf(first))), "");
}

TEST_P(Sessions, FollowARetryWhoseResponseAloneSetsTheCookie) {
  begin([this](routing::Rule& rule, routing::SessionPolicy&) {
    rule.backends.emplace_back().backend = serviceOf("next", {"10.0.1.1"}, protocol_);
    rule.backends[1].weight = 1;
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 1;
    rule.retry->backoff = kRetryBackoff;
  });
  const SessionValue held{rig_->clock.wallNow(), 11, net::Address::parse("10.0.0.2", 8080)};
  const std::size_t index = ask({{"cookie", "sid=" + *sealer('a')->seal(held.toBytes(), "rule sid")}});
  const Answer failed = respond(index, 503);
  EXPECT_EQ(failed.by, "10.0.0.2");
  EXPECT_THAT(failed.fields, IsEmpty());
  rig_->advance(kRetryBackoff * 5 / 4);
  rig_->advancePast();
  acceptAll();
  const Answer kept = respond(index);
  EXPECT_EQ(kept.by, "10.0.1.1");
  const std::string value = valueOf(kept);
  ASSERT_FALSE(value.empty());
  EXPECT_EQ(resume(value).by, "10.0.1.1");
}

TEST_P(Sessions, DoNotHoldARetryAtAnEndpointThatIsBusy) {
  begin([](routing::Rule& rule, routing::SessionPolicy&) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = 1;
    rule.retry->backoff = kRetryBackoff;
  });
  const SessionValue held{rig_->clock.wallNow(), 11, net::Address::parse("10.0.0.2", 8080)};
  const test::FieldList fields{{"cookie", "sid=" + *sealer('a')->seal(held.toBytes(), "rule sid")}};
  ask(fields);
  client_ = &rig_->connect(std::get<0>(GetParam()));
  ask(fields);
  ASSERT_EQ(ip(0), "10.0.0.2");
  ASSERT_EQ(ip(rig_->dialled() - 1), "10.0.0.2") << "both are there";
  peers_.back()->respond(peers_.back()->requests() - 1, 503, "busy");
  ASSERT_TRUE(rig_->settle());
  rig_->advance(kRetryBackoff * 5 / 4);
  rig_->advancePast();
  EXPECT_EQ(ip(rig_->dialled() - 1), "10.0.0.1");
}

TEST_P(Sessions, DoNotBeginWithALocalReply) {
  begin();
  const std::size_t broken = ask({}, "/broken");
  EXPECT_EQ(client_->answer(broken).message.head.status, 500);
  EXPECT_THAT(all(test::fieldList(client_->answer(broken).message.head.headers), "set-cookie"), IsEmpty());
  const std::size_t nowhere = ask({}, "/else");
  EXPECT_EQ(client_->answer(nowhere).message.head.status, 404);
  EXPECT_THAT(all(test::fieldList(client_->answer(nowhere).message.head.headers), "set-cookie"), IsEmpty());
}

TEST_P(Sessions, CanBeCarriedByAField) {
  begin([](routing::Rule&, routing::SessionPolicy& policy) {
    policy.byHeader = true;
    policy.name = "x-session";
  });
  const Answer first = get();
  EXPECT_THAT(all(first.fields, "set-cookie"), IsEmpty());
  ASSERT_EQ(all(first.fields, "x-session").size(), 1U);
  const std::string value = all(first.fields, "x-session")[0];
  for (int i = 0; i < 5; ++i) {
    const Answer next = get({{"x-session", value}, {"cookie", "x-session=1"}});
    EXPECT_EQ(next.by, first.by);
    EXPECT_THAT(all(next.fields, "x-session"), IsEmpty());
    EXPECT_THAT(all(next.seen, "x-session"), IsEmpty());
    EXPECT_THAT(all(next.seen, "cookie"), ::testing::ElementsAre("x-session=1"));
  }
  EXPECT_EQ(all(get({{"x-session", "forged"}}).fields, "x-session").size(), 1U);
}

TEST_P(Sessions, DoNotBeginWithoutAKey) {
  begin();
  rig_->exchanges.sealSessions(nullptr);
  const Answer answer = get({{"cookie", "sid=x"}});
  EXPECT_FALSE(answer.by.empty());
  EXPECT_EQ(valueOf(answer), "");
}

/// A session by itself, of a rule with one weighted backend.
class OneSession : public ::testing::Test {
 protected:
  OneSession() {
    rule_.backends.emplace_back();
    auto policy = std::make_shared<routing::SessionPolicy>();
    policy->name = "sid";
    policy->scope = "scope";
    policy->shares = {11};
    policy->absoluteTimeout = std::chrono::seconds(10);
    rule_.session = std::move(policy);
  }
  /// Returns the session of a request that carries `value`, sealed by the key 'a'.
  Session take(const SessionValue& value, const pki::ValueSealer& by) {
    Session session(rule_);
    http::RequestMessage request(pool_);
    const std::string cookie = "sid=" + *sealer('a')->seal(value.toBytes(), "scope");
    request.head.headers.add(request.arena, http::FieldId::kCookie, cookie);
    session.take(by, now_, request);
    return session;
  }

  const base::WallTime now_{std::chrono::seconds(1'700'000'000)};
  const std::optional<net::Address> endpoint_ = net::Address::parse("10.0.0.1", 8080);
  routing::Rule rule_;
  base::ChunkPool pool_;
};

TEST_F(OneSession, WantsItsEndpointUntilAnAttemptThereHasFailed) {
  Session session = take({now_, 11, endpoint_}, *sealer('a'));
  ASSERT_EQ(session.weightedBackend(), &rule_.backends[0]);
  ASSERT_NE(session.endpoint(), nullptr);
  EXPECT_EQ(*session.endpoint(), *endpoint_);
  session.leave();
  EXPECT_EQ(session.endpoint(), nullptr);
  EXPECT_FALSE(session.renew(*sealer('a'), now_, rule_.backends[0], endpoint_))
      << "the next one was there all the same";
  EXPECT_TRUE(session.renew(*sealer('a'), now_, rule_.backends[0], net::Address::parse("10.0.0.2", 8080)));
}

TEST_F(OneSession, KeepsItsAgeUnderANewKey) {
  const auto keys = sealer('b', 'a');
  const pki::ValueSealer& rotated = *keys;
  const auto ageOf = [&](base::WallTime begun) {
    const auto renewal = take({begun, 11, endpoint_}, rotated).renew(rotated, now_, rule_.backends[0], endpoint_);
    return renewal ? renewal->age : base::Duration(-1);
  };
  EXPECT_EQ(ageOf(now_ - std::chrono::seconds(4)), std::chrono::seconds(4));
  EXPECT_EQ(ageOf(now_ + std::chrono::seconds(4)), base::Duration::zero()) << "a clock that is ahead makes none longer";
}

INSTANTIATE_TEST_SUITE_P(Versions, Sessions,
                         ::testing::Combine(::testing::Values(http::Version::kHttp11, http::Version::kHttp2),
                                            ::testing::Values(http::Version::kHttp11, http::Version::kHttp2)));

}  // namespace
}  // namespace sluice::exchange
