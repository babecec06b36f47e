// Tests that a tunnel passes everything that any other request to a forward proxy passes: each type of step and each
// kind of policy of the Gateway, the route and the Backend. A request in absolute-form and a CONNECT over HTTP/1.1 and
// HTTP/2 get the same answer, and the destination sees none of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "test/integration/proxy/forward_proxy.h"
#include "test/integration/support/child_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

struct Obstacle {
  std::string name;
  std::string objects;
  int status = 0;        // of every request
  int passing = 0;       // so many requests pass before
  std::string fields{};  // what each request has: "x-do: reject\r\n"
};

std::string processorsOfGateway(const std::string& uses, const std::string& more = {}) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: p}\nspec:\n" +
         more + "  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}\n  processors: [" + uses +
         "]\n";
}

std::string policyOfKind(const std::string& version, const std::string& kind, const std::string& spec) {
  return "---\napiVersion: " + version + "\nkind: " + kind + "\nmetadata: {namespace: test, name: policy" +
         "}\nspec: {targetRefs: [" + kGatewayTarget + "], " + spec + "}\n";
}

std::string typed(const std::string& type, const std::string& phase, const std::string& config,
                  const std::string& more = {}) {
  return "{name: " + std::string("step") + ", type: '" + type + ":v1', phase: " + phase + ", config: {" + config + "}" +
         more + "}";
}

const std::string kDenying = typed("sluice.dev/DirectResponse", "request-headers", "status: 451");
const std::string kAsking =
    "{name: ask, type: 'sluice.dev/ExtProc:v1', priority: 20, config: {backendRefs: [" + backendRef("guard") + "]}}";
constexpr const char* kRejected = "x-do: reject\r\n";
constexpr const char* kOnce = "requestsPerMinute: 1, burst: 1";

/// Has a step set x-do, by which the server behind the next one rejects.
std::string rejectedBy(const std::string& type, const std::string& config) {
  return processorsOfGateway(typed(type, "request-headers", config, ", priority: 10") + ", " + kAsking);
}

/// The types that a step of a Gateway can have without a body, and the kinds of policies.
std::vector<Obstacle> obstacles() {
  return {
      {"sluice.dev/ConnectGuard:v1",
       processorsOfGateway(typed("sluice.dev/ConnectGuard", "connect", "deny: [{cidrs: [127.0.0.0/8]}]")), 403},
      {"sluice.dev/DirectResponse:v1", processorsOfGateway(kDenying), 451},
      {"sluice.dev/DirectResponse:v1, before routing", processorsOfGateway(kDenying, "  phase: PreRouting\n"), 451},
      {"gateway.networking.k8s.io/QoSController:v1",
       processorsOfGateway(typed("gateway.networking.k8s.io/QoSController", "request-headers", kOnce)), 429, 1},
      {"gateway.networking.k8s.io/QoSController:v1, of attempts",
       processorsOfGateway(typed("gateway.networking.k8s.io/QoSController", "connect", kOnce)), 429, 1},
      {"sluice.dev/ExternalAuth:v1",
       processorsOfGateway("{name: ask, type: 'sluice.dev/ExternalAuth:v1', config: {backendRef: " +
                           backendRef("bouncer") + ", protocol: HTTP}}"),
       402},
      {"sluice.dev/ExtProc:v1", processorsOfGateway(kAsking), 418, 0, kRejected},
      {"sluice.dev/HeaderModifier:v1", rejectedBy("sluice.dev/HeaderModifier", "set: [{name: x-do, value: reject}]"),
       418},
      {"sluice.dev/InProcess:v1",
       rejectedBy("sluice.dev/InProcess", "request: {setHeaders: [{name: x-do, value: '\"reject\"'}]}"), 418},
      {"a type that is not there", processorsOfGateway(typed("acme.test/Absent", "request-headers", "")), 500},
      {"EnvoyExtensionPolicy",
       policyOfKind("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy",
                    "extProc: [{backendRefs: [" + backendRef("guard") +
                        "], messageTimeout: 30s, processingMode: {request: {}}}]"),
       418, 0, kRejected},
      {"TrafficPolicy", policyOfKind("sluice.dev/v1alpha1", "TrafficPolicy", "circuitBreaker: {maxPendingRequests: 0}"),
       503},
      {"EgressPolicy",
       policyOfKind("sluice.dev/v1alpha1", "EgressPolicy",
                    "default: Allow, rules: [" + denying("none", "to: {hostnames: [a.test]}") + "]"),
       403},
      {"EgressPolicy with clientAuthentication",
       policyOfKind("sluice.dev/v1alpha1", "EgressPolicy",
                    "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}") +
           secretOf("users", ".htpasswd: '" + std::string(kAnn) + "'"),
       407},
      {"a policy that is not supported",
       policyOfKind("gateway.envoyproxy.io/v1alpha1", "SecurityPolicy", "cors: {allowOrigins: ['*']}"), 500},
  };
}

class ObstructedProxy : public testing::Test {
 protected:
  std::string authority() const { return "a.test:" + std::to_string(origin_.port()); }

  void start(const std::string& objects) {
    proxy_ = std::make_unique<ForwardProxy>();
    proxy_->spec.backends.push_back({.name = "guard", .hostname = "guard.test", .port = server_.port()});
    proxy_->spec.backends.push_back({.name = "bouncer", .hostname = "bouncer.test", .port = bouncer_.port()});
    proxy_->spec.routes = objects + egressPolicy("all", kGatewayTarget, "default: Allow");
    proxy_->start();
  }
  int absolute(const std::string& fields) const {
    return askRaw(proxy_->port, "GET http://" + authority() + "/ HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n").status;
  }
  int tunnel(const std::string& fields) const {
    BlockingSocket client = proxy_->client();
    client.send("CONNECT " + authority() + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
    const std::string head = client.readUntil("\r\n\r\n");
    return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0;
  }
  std::string tunnelOverHttp2(const std::string& fields) const {
    H2Client client(proxy_->port);
    H2Lines head = {{":method", "CONNECT"}, {":authority", authority()}};
    if (!fields.empty()) head.push_back({"x-do", "reject"});
    client.send(h2::headers(1, head, false));
    return client.readFrame(H2Type::kHeaders, 1) ? client.status(1) : "none";
  }

  const RawOrigin origin_{RawOrigin::answering(kOk)};
  const RecordingOrigin bouncer_{[](std::size_t) { return "HTTP/1.1 402 Pay\r\nContent-Length: 0\r\n\r\n"; }};
  GrpcOrigin server_{std::nullopt, "ext_proc_server.mjs"};
  std::unique_ptr<ForwardProxy> proxy_;
};

TEST_F(ObstructedProxy, RefusesTunnelsAsItRefusesRequests) {
  for (const Obstacle& each : obstacles()) {
    SCOPED_TRACE(each.name);
    start(each.objects);
    const int before = origin_.connections();
    for (int i = 0; i < each.passing; ++i) EXPECT_EQ(absolute(each.fields), 200);
    EXPECT_EQ(absolute(each.fields), each.status);
    EXPECT_EQ(tunnel(each.fields), each.status);
    EXPECT_EQ(tunnelOverHttp2(each.fields), std::to_string(each.status));
    EXPECT_EQ(origin_.connections() - before, each.passing);
  }
}

TEST_F(ObstructedProxy, AsksAnAuthorizationServerAboutTunnelsByAGet) {
  start(processorsOfGateway(
      "{name: ask, type: 'sluice.dev/ExternalAuth:v1', config: {backendRef: " + backendRef("bouncer") +
      ", protocol: HTTP, http: {path: /check, allowedHeaders: "
      "[x-forwarded-method, x-team]}}}"));
  EXPECT_EQ(tunnel("X-Forwarded-Method: GET\r\nX-Team: red\r\n"), 402);
  const std::string head = bouncer_.heads().at(0);
  EXPECT_EQ(head.substr(0, head.find('\r')), "GET /check/ HTTP/1.1");
  EXPECT_THAT(head, testing::AllOf(HasSubstr("host: " + authority() + "\r\n"), HasSubstr("x-team: red\r\n"),
                                   HasSubstr("x-forwarded-method: CONNECT\r\n")));
  EXPECT_EQ(countOf(head, "x-forwarded-method"), 1U);
}

/// A tunnel is an attempt, and takes a share of each budget that others have.
TEST_F(ObstructedProxy, CountsTunnelsAsItCountsRequests) {
  for (const char* phase : {"request-headers", "connect"}) {
    start(processorsOfGateway(typed("gateway.networking.k8s.io/QoSController", phase, kOnce)));
    BlockingSocket client = proxy_->client();
    EXPECT_EQ(ForwardProxy::connect(client, authority()).status, 200) << phase;
    EXPECT_EQ(absolute(""), 429) << phase;
  }
}

TEST_F(ObstructedProxy, RefusesTunnelsByStepsOfTheRouteAndOfTheBackend) {
  const std::string once = typed("gateway.networking.k8s.io/QoSController", "connect", kOnce);
  const auto dynamic = [&](const std::string& extensions) {
    return "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\nspec: "
           "{destination: {type: Dynamic, dynamic: {hostnames: ['*.test'], ports: [{number: " +
           std::to_string(origin_.port()) + "}]}}" + extensions + "}\n";
  };
  const auto route = [](const std::string& filters) {
    return "    - matches: [{method: CONNECT}]\n" + filters +
           "      backendRefs: [{group: sluice.dev, kind: Backend, name: any}]\n";
  };
  for (const auto& [filters, extensions, status] :
       {std::tuple("      filters: [" + inlined(kDenying) + "]\n", std::string(), 451),
        std::tuple("      filters: [" + inlined(once) + "]\n", std::string(), 429),
        std::tuple(std::string(), ", extensions: [" + once + "]", 429)}) {
    start(dynamic(extensions) + ForwardProxy::routed(route(filters), "'*.test'"));
    if (status == 429) {
      EXPECT_EQ(tunnel(""), 200);
    }
    EXPECT_EQ(tunnel(""), status) << filters << extensions;
  }
}

/// A tunnel has no body that BodyRouter could read, and no head that would carry a credential on.
TEST(Obstacles, AreThereForEachTypeOfStep) {
  const TempDir folder;
  const std::string file = folder.write(
      "a.yaml",
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\nspec: {controllerName: "
      "sluice.dev/egress-gateway}\n");
  const std::string types = run({programPath("sluice"), "catalog", "--config", file}).output;
  static const std::regex kStepType(R"re("group":"([^"]+)","kind":"([^"]+)")re");
  std::set<std::string> missing;
  for (std::sregex_iterator each(types.begin(), types.end(), kStepType); each != std::sregex_iterator(); ++each) {
    missing.insert((*each)[1].str() + "/" + (*each)[2].str() + ":v1");
  }
  EXPECT_GE(missing.size(), 8U) << types;
  for (const Obstacle& each : obstacles()) missing.erase(each.name);
  EXPECT_THAT(missing, testing::UnorderedElementsAre("gateway.networking.k8s.io/CredentialInjector:v1",
                                                     "sluice.dev/BodyRouter:v1"));
}

}  // namespace
}  // namespace sluice::test
