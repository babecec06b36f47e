// Tests EgressPolicies through the binary: where the requests of a route may go, judged by name, by address, by method
// and path and by client; a destination that is denied is neither looked up nor dialled.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class EgressOnTheWire : public testing::Test {
 protected:
  void start(const std::string& policies, const std::string& rules = {}) {
    spec_.backends.insert(spec_.backends.begin(), {.port = origin_.port()});
    spec_.routes = routeOfRules(rules.empty() ? "    - " + backendRefs().substr(6) : rules) + policies;
    gateway_ = std::make_unique<GatewayProcess>(spec_);
  }
  ReceivedResponse get(const std::string& path, const std::string& method = "GET") const {
    return askRaw(gateway_->port(), method + " " + path + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
  }
  int status(const std::string& path, const std::string& method = "GET") const { return get(path, method).status; }
  bool counts(const std::string& policy, const std::string& rule, const std::string& decision) const {
    return gateway_->reaches(decisionsOf(policy, rule, decision), 1);
  }

  const RawOrigin origin_{RawOrigin::answering(saying("served"))};
  GatewaySpec spec_;
  std::unique_ptr<GatewayProcess> gateway_;
};

TEST_F(EgressOnTheWire, LetRequestsPassThatARuleAllows) {
  start(egressPolicy("p", kGatewayTarget, "rules: [" + allowing("ours", "to: {hostnames: [ORIGIN.test.]}") + "]"));
  EXPECT_EQ(get("/").body, "served");
  EXPECT_TRUE(counts("p", "ours", "allowed"));
  EXPECT_THAT(gateway_->accessLog(1).at(0), HasSubstr(R"("policy":"test/p","rule":"ours","decision":"allowed")"));
}

// The memory of a large head is given back before the answer is taken, and the decision is read after that.
TEST_F(EgressOnTheWire, AreLoggedForARequestWithALargeHead) {
  start(egressPolicy("p", kGatewayTarget, "rules: [" + allowing("other", "to: {hostnames: ['*.origin.test']}") + "]"));
  const std::string field = "X-Large: " + std::string(40000, 'x') + "\r\n";
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(askRaw(gateway_->port(), "GET / HTTP/1.1\r\nHost: a\r\n" + field + "\r\n").status, 403);
    EXPECT_THAT(gateway_->accessLog(1).at(0), HasSubstr(R"("policy":"test/p","rule":"default","decision":"denied")"));
  }
}

TEST_F(EgressOnTheWire, DenyWhatNoRuleAllows) {
  start(egressPolicy("p", kGatewayTarget, "rules: [" + allowing("other", "to: {hostnames: ['*.origin.test']}") + "]"));
  const ReceivedResponse refused = get("/");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("\"code\":\"http_request_denied\""));
  EXPECT_THAT(refused.body, Not(HasSubstr("test/p"))) << "the client does not learn of the policy";
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_TRUE(counts("p", "default", "denied"));
  EXPECT_THAT(gateway_->accessLog(1).at(0), HasSubstr(R"("policy":"test/p","rule":"default","decision":"denied")"));
  EXPECT_TRUE(eventually([&] {
    const std::string events = gateway_->adminGet("/events");
    return events.find("\"reason\":\"EgressDenied\",\"object\":\"EgressPolicy test/p\"") != std::string::npos &&
           events.find("rule default denies origin.test:" + std::to_string(origin_.port())) != std::string::npos &&
           events.find("RequestDenied") == std::string::npos;
  }));
}

TEST_F(EgressOnTheWire, AreNotLiftedBelow) {
  start(egressPolicy("above", kGatewayTarget,
                     "default: Allow, rules: [" + denying("no", "http: {paths: [{value: /no}]}") + "]") +
        egressPolicy("below", kRouteTarget, "rules: [" + allowing("all", "") + "]"));
  EXPECT_EQ(status("/yes"), 200);
  EXPECT_EQ(status("/no/way"), 403);
  EXPECT_EQ(status("/now"), 200);
  EXPECT_TRUE(counts("above", "no", "denied"));
}

TEST_F(EgressOnTheWire, SeeMethodsAndPathsAsTheyCameAndAsTheyLeave) {
  const std::string rewrite =
      "    - matches: [{path: {type: PathPrefix, value: /in}}]\n      filters: [{type: URLRewrite, urlRewrite: {path: "
      "{type: ReplacePrefixMatch, replacePrefixMatch: /out}}}]\n" +
      backendRefs() + "    - " + backendRefs().substr(6);
  start(egressPolicy("p", kGatewayTarget,
                     "rules: [" + allowing("in", "http: {methods: [GET], paths: [{value: /in}]}") + ", " +
                         allowing("plain", "http: {paths: [{type: Exact, value: /plain}]}") + ", " +
                         allowing("any", "http: {methods: [PUT]}") + ", " +
                         denying("out", "http: {methods: [PUT], paths: [{value: /out/no}]}") + "]"),
        rewrite);
  EXPECT_EQ(status("/plain"), 200);
  EXPECT_EQ(status("/in"), 403) << "it leaves with another path, which no rule allows";
  EXPECT_EQ(status("/in/yes", "PUT"), 200);
  EXPECT_EQ(status("/in/no", "PUT"), 403) << "it leaves with a path that is denied";
  EXPECT_EQ(status("/out/no", "PUT"), 403) << "it came with a path that is denied";
}

TEST_F(EgressOnTheWire, SeeTheClient) {
  start(egressPolicy("p", kGatewayTarget,
                     "rules: [" + allowing("a", "from: {cidrs: [127.0.0.0/8]}, http: {paths: [{value: /a}]}") + ", " +
                         allowing("b", "from: {cidrs: [10.0.0.0/8, '::1/128']}, http: {paths: [{value: /b}]}") + "]"));
  EXPECT_EQ(status("/a"), 200);
  EXPECT_EQ(status("/b"), 403);
}

TEST_F(EgressOnTheWire, CloseWhatAPolicyThatCannotBeServedCovers) {
  start(egressPolicy("p", kRouteTarget, "rules: [" + allowing("a", "to: {hostnames: []}") + "]"));
  const ReceivedResponse refused = get("/");
  EXPECT_EQ(refused.status, 500);
  EXPECT_THAT(refused.body, HasSubstr("proxy_configuration_error"));
}

TEST_F(EgressOnTheWire, OnlyTellIfTheyAudit) {
  start(egressPolicy("p", kGatewayTarget, "mode: Audit, rules: [" + allowing("a", "http: {methods: [PUT]}") + "]") +
        egressPolicy("q", kGatewayTarget,
                     "mode: Audit, default: Allow, rules: [" + denying("local", "to: {cidrs: [127.0.0.0/8]}") + "]"));
  EXPECT_EQ(status("/"), 200);
  EXPECT_TRUE(counts("p", "default", "audited"));
  EXPECT_TRUE(counts("q", "local", "audited"));
  EXPECT_THAT(gateway_->accessLog(1).at(0), HasSubstr(R"("decision":"audited")"));
  EXPECT_EQ(status("/", "PUT"), 200);
  EXPECT_TRUE(counts("p", "a", "allowed"));
}

TEST_F(EgressOnTheWire, OfTheSettingsCoverEveryGateway) {
  spec_.settings = "egressPolicies: [{namespace: test, name: p}]\n";
  start(egressPolicy("p", "{group: gateway.networking.k8s.io, kind: Gateway, name: another}",
                     "rules: [" + allowing("put", "http: {methods: [PUT]}") + "]"));
  EXPECT_EQ(status("/"), 403);
  EXPECT_EQ(status("/", "PUT"), 200);
}

TEST_F(EgressOnTheWire, OfTheSettingsCloseEveryGatewayIfTheyAreMissing) {
  spec_.settings = "egressPolicies: [{namespace: test, name: missing}]\n";
  start({});
  EXPECT_EQ(status("/"), 500);
}

// --- names and addresses
// ----------------------------------------------------------------------------------------------

/// A Backend whose name is resolved by DNS to addresses of this machine.
class EgressByAddress : public EgressOnTheWire {
 protected:
  void startResolving(const std::string& policies) {
    spec_.dns = "servers: [\"" + names_.address() + "\"]";
    spec_.backends = {{.name = "named", .hostname = "named.test", .port = origin_.port(), .addresses = ""}};
    start(policies, "    - backendRefs: [" + backendRef("named") + "]\n");
  }

  NameServer names_{{{"named.test", {"127.0.0.2", "127.0.0.1"}}}};
};

TEST_F(EgressByAddress, ADeniedNameIsNotLookedUp) {
  startResolving(egressPolicy("p", kGatewayTarget,
                              "default: Allow, rules: [" + denying("no", "to: {hostnames: [named.test]}") + "]"));
  EXPECT_EQ(status("/"), 403);
  EXPECT_EQ(names_.asked("named.test"), 0);
  EXPECT_THAT(gateway_->metrics(), Not(HasSubstr("sluice_dns"))) << "nothing was asked";
}

TEST_F(EgressByAddress, ADeniedAddressIsLeftOut) {
  startResolving(egressPolicy("p", kGatewayTarget, "rules: [" + allowing("one", "to: {cidrs: [127.0.0.1/32]}") + "]"));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(get("/").body, "served");
  EXPECT_TRUE(counts("p", "one", "allowed"));
  for (const std::string& line : gateway_->accessLog(4))
    EXPECT_THAT(line, HasSubstr("\"upstream.address\":\"127.0.0.1:"));
}

TEST_F(EgressByAddress, WithoutAnAddressThatIsLeftTheAnswerIs403) {
  startResolving(egressPolicy("p", kGatewayTarget,
                              "default: Allow, rules: [" + denying("local", "to: {cidrs: [127.0.0.0/8]}") + "]"));
  EXPECT_EQ(status("/"), 403);
  EXPECT_TRUE(origin_.heads().empty());
  EXPECT_TRUE(counts("p", "local", "denied"));
}

// --- the other dials of a request
// ---------------------------------------------------------------------------------------

TEST_F(EgressOnTheWire, DenyMirrorsAlone) {
  const RecordingOrigin copy([](std::size_t) { return std::string(kOk); });
  spec_.backends = {{.name = "copy", .hostname = "copy.test", .port = copy.port()}};
  start(egressPolicy("p", kGatewayTarget,
                     "default: Allow, rules: [" + denying("copies", "to: {hostnames: [copy.test]}") + "]"),
        "    - filters: [{type: RequestMirror, requestMirror: {backendRef: " + backendRef("copy") + "}}]\n" +
            backendRefs());
  EXPECT_EQ(status("/"), 200);
  EXPECT_TRUE(counts("p", "copies", "denied"));
  EXPECT_TRUE(copy.heads().empty());
}

}  // namespace
}  // namespace sluice::test
