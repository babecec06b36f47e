// Tests that some configuration provokes each reason that config/status/conditions.h has. A reason that cannot occur
// must not be in that list.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"
#include "test/support/health_checks.h"
#include "test/support/passwords.h"

namespace sluice::compile {
namespace {

using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;

/// Returns the values of the constants in namespace `reason`.
std::set<std::string> reasonsOfTheHeader() {
  std::ifstream file(SLUICE_SOURCE_DIR "/config/status/conditions.h");
  std::ostringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  const std::size_t begin = header.find("namespace reason {");
  const std::string part = header.substr(begin, header.find("}  // namespace reason") - begin);
  std::set<std::string> reasons;
  const std::regex constant(R"re(std::string_view k\w+ =\s+"(\w+)";)re");
  for (std::sregex_iterator found(part.begin(), part.end(), constant), end; found != end; ++found) {
    reasons.insert((*found)[1]);
  }
  return reasons;
}

class ReasonsGiven {
 public:
  void look(const std::vector<std::string_view>& documents, const World* previous = nullptr) {
    look(World(documents, previous, test::processorTypes()));
  }
  void look(const World& world) {
    for (const config::ObjectStatus& object : world.result().statuses) {
      add(object.conditions);
      for (const auto& each : object.listeners) add(each.conditions);
      for (const auto& each : object.parents) add(each.conditions);
      for (const auto& each : object.controllers) add(each.conditions);
    }
  }
  const std::set<std::string>& all() const { return reasons_; }

 private:
  void add(const std::vector<config::Condition>& conditions) {
    for (const config::Condition& each : conditions) reasons_.insert(each.reason);
  }
  std::set<std::string> reasons_;
};

std::string listeners(const std::string& text) { return with(kGateway, "{name: web, protocol: HTTP, port: 80}", text); }
std::string https(const std::string& name, const std::string& hostname, const std::string& certificate) {
  return "{name: " + name + ", hostname: " + hostname +
         ", protocol: HTTPS, port: 443, tls: {certificateRefs: [{name: " + certificate + "}]}}";
}
std::string rpc(std::string_view route) {
  return with(with(route, "kind: HTTPRoute", "kind: GRPCRoute"), "name: route,", "name: rpc,");
}

/// Provokes the reasons of GatewayClass and Gateway.
void lookAtGateways(ReasonsGiven& given) {
  given.look(
      {kClass, kGateway, kBackend, kRoute});  // Accepted, Programmed, ResolvedRefs, NoConflicts, SupportedVersion
  given.look({kClass, with(kClass, "name: sluice", "name: zweite")});  // Unsupported
  given.look({with(kClass, "egress-gateway}",
                   "egress-gateway, parametersRef: {group: '', kind: ConfigMap, name: a, "
                   "namespace: b}}")});  // InvalidParameters
  given.look({kGateway});                // Pending
  given.look({kClass, with(kGateway, "port: 80}", "port: 80}, {name: bad, protocol: HTTP, port: 0}")});  // Invalid
  given.look({kClass, with(kGateway, "type: IPAddress, value: 127.0.0.1", "type: Hostname, value: a.test")});
  given.look({kClass, with(kGateway, "127.0.0.1", "224.0.0.1")});                  // AddressNotUsable
  given.look({kClass, kGateway, with(kGateway, "name: egress", "name: second")});  // PortUnavailable, ListenersNotValid
  const std::string addressless = with(kGateway, "[{type: IPAddress, value: 127.0.0.1}]", "[]");
  World exhausted({kClass, addressless, with(addressless, "name: egress", "name: second")});
  exhausted.recompileWithPool("127.8.0.1/32");  // AddressNotAssigned
  given.look(exhausted);
  World other({kClass});
  other.recompileWithApi({.releases = {{"gateways.gateway.networking.k8s.io", {"v1.9.0", "standard"}}},
                          .areFiles = false});  // UnsupportedVersion
  given.look(other);
}

void lookAtListeners(ReasonsGiven& given) {
  given.look({kClass, listeners("{name: raw, protocol: TCP, port: 81}")});  // UnsupportedProtocol
  given.look({kClass, listeners(https("a", "a.test", "absent"))});  // InvalidCertificateRef, ListenersNotResolved
  given.look({kClass, listeners(https("a", "a.test", "x, namespace: other"))});  // RefNotPermitted
  given.look({kClass, listeners("{name: web, protocol: HTTP, port: 80, allowedRoutes: {kinds: [{kind: TCPRoute}]}}"),
              kRoute});  // InvalidRouteKinds, NotAllowedByListeners
  given.look({kClass, listeners("{name: a, protocol: HTTP, port: 80}, {name: b, protocol: HTTPS, port: 80}")});
  const std::string one = test::keyPair("one", test::server());
  const std::string two = test::keyPair("two", sluice::test::issueServer(test::authority(), "other.test"));
  given.look({kClass, listeners(https("a", "a.test", "one") + ", " + https("b", "b.test", "one")), one});
  given.look({kClass, listeners(https("a", "'*.test'", "one") + ", " + https("b", "b.test", "two")), one, two});
}

/// Provokes ConfigurationChanged, InvalidCACertificateKind, and NoValidCACertificate of listeners.
void lookAtVerifiedClients(ReasonsGiven& given) {
  const std::string one = test::keyPair("one", test::server());
  const std::string frontend =
      "  tls: {frontend: {default: {validation: {mode: AllowInsecureFallback, caCertificateRefs: [{group: '', kind: "
      "Service, name: ca}]}}}}\n  listeners:";
  given.look({kClass, with(listeners(https("a", "a.test", "one")), "  listeners:", frontend), one});
}

/// Provokes NoValidCACertificate of policies.
void lookAtTlsPolicies(ReasonsGiven& given) {
  given.look({kClass, kGateway, test::routeWithRules("rules: [{backendRefs: [{name: s, port: 80}]}]"),
              "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 80}]}\n",
              "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: p}\nspec: "
              "{targetRefs: [{group: '', kind: Service, name: s}], validation: {hostname: a.test, caCertificateRefs: "
              "[{group: '', kind: ConfigMap, name: absent}]}}\n"});
}

void lookAtRoutes(ReasonsGiven& given) {
  given.look({kClass, listeners("{name: web, hostname: a.test, protocol: HTTP, port: 80}"),
              with(kRoute, "spec:", "spec:\n  hostnames: [b.test]")});  // NoMatchingListenerHostname
  given.look({kClass, kGateway, with(kRoute, "{name: egress}", "{name: egress, sectionName: absent}")});
  given.look({kClass, kGateway, with(kRoute, "kind: Backend", "kind: Bucket")});  // InvalidKind, BackendNotFound
  given.look({kClass, kGateway, kRoute});
  given.look({kClass, kGateway, kBackend, kRoute, rpc(kRoute)});  // HostnameConflict
  given.look({kClass, kGateway, kBackend,
              with(kRoute, "rules: [{", "rules: [{matches: [{path: {type: RegularExpression, value: '('}}], ")});
}

void lookAtBackends(ReasonsGiven& given) {
  const auto tls = [](const std::string& members) {
    return with(kBackend, "{destination:", "{tls: {" + members + "}, destination:");
  };
  given.look({kClass, tls("mode: Terminate, caBundleRef: {name: absent}")});  // InvalidCACertificateRef
  given.look({kClass, tls("mode: Mutual, clientCertificateRef: {name: absent}")});
  given.look({kClass, with(kBackend, "{destination:",
                           "{extensions: [{name: a, type: b.dev/C:v1, phase: request-headers}], destination:")});
  const auto use = [](const std::string& fields) {
    return with(kBackend,
                "{destination:", "{extensions: [{name: a, type: 'sluice.dev/Test:v1', " + fields + "}], destination:");
  };
  given.look({kClass, kGateway, kBackend,
              with(kRoute, "rules: [{",
                   "rules: [{filters: [{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: "
                   "PayloadProcessingPipeline, name: absent}}], ")});              // InvalidExtensionRef
  given.look({kClass, use("phase: connect")});                                     // UnsupportedPhase
  given.look({kClass, use("phase: backend-request, preAuth: true")});              // InvalidPreAuthPhase
  given.look({kClass, use("phase: request-headers, config: {secret: absent}")});   // InvalidSecretRef
  given.look({kClass, use("phase: request-headers, config: {awaits: missing}")});  // ExtensionUnavailable
  given.look({kClass, use("phase: request-headers, config: {awaits: pending}")});  // ExtensionPending
  World asking({kClass, with(kBackend, "{destination:",
                             "{extensions: [{name: a, type: 'sluice.dev/Asks:v1', phase: request-headers, config: "
                             "{server: s}}], destination:")},
               nullptr, test::processorTypes());
  asking.recompileAfter([](const processing::ServerHealth& server) { server.onAnswer(); });  // ExtensionActive
  given.look(asking);
  given.look({kClass,
              "apiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {name: p}\nspec: {targetRef: {group: "
              "gateway.networking.k8s.io, kind: Gateway, name: absent}, processors: [{name: a, type: "
              "'sluice.dev/Test:v1', phase: request-headers}]}\n"});  // TargetNotFound
  const std::string policy =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: EnvoyExtensionPolicy\nmetadata: {name: p}\nspec: {targetRefs: "
      "[{group: gateway.networking.k8s.io, kind: Gateway, name: egress}]}\n";
  given.look({kClass, kGateway, policy, with(policy, "name: p", "name: q")});  // Conflicted
}

/// Provokes Unreachable and Unhealthy.
void lookAtHealth(ReasonsGiven& given) {
  World world({kClass, kGateway, kBackend, kRoute,
               "apiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
               "gateway.networking.k8s.io, kind: HTTPRoute, name: route}], healthCheck: {active: {type: TCP}}}\n"});
  sluice::test::setHealth(*world.snapshot().checked.at(0).check, routing::CheckedState::kUnhealthy);
  world.recompile();
  given.look(world);
  const routing::BackendReach& reach = *world.snapshot().backends.at(0)->reach;
  const base::WallTime now{std::chrono::hours(1)};
  for (std::uint32_t i = 0; i < processing::ServerHealth::kMostFailures; ++i) {
    reach.onFailure(base::Error::upstream(base::ErrorType::kConnectionRefused, "connection refused"), now);
  }
  EXPECT_TRUE(hasMoved(world.result().health, now, {}));
  world.recompile();
  given.look(world);
}

/// Provokes the reason of EgressPolicies.
void lookAtEgressPolicies(ReasonsGiven& given) {
  const std::string withoutHttp = test::gatewayWith("{name: web, protocol: TCP, port: 80}");
  const std::string users = test::secret("users", {{".htpasswd", sluice::test::kAnn}});
  given.look(
      {kClass, withoutHttp, users,
       "apiVersion: sluice.dev/v1alpha1\nkind: EgressPolicy\nmetadata: {name: p}\nspec: {targetRefs: [{group: "
       "gateway.networking.k8s.io, kind: Gateway, name: egress}], clientAuthentication: {basic: {secretRef: {name: "
       "users}}}}"});  // UnsupportedRule
}

TEST(ConditionReasons, AreAllProvoked) {
  ReasonsGiven given;
  lookAtGateways(given);
  lookAtListeners(given);
  lookAtRoutes(given);
  lookAtBackends(given);
  lookAtVerifiedClients(given);
  lookAtTlsPolicies(given);
  lookAtHealth(given);
  lookAtEgressPolicies(given);
  const std::set<std::string> promised = reasonsOfTheHeader();
  EXPECT_GT(promised.size(), 20U);
  for (const std::string& each : promised) EXPECT_TRUE(given.all().count(each) == 1) << each << " is never given";
  for (const std::string& each : given.all()) EXPECT_TRUE(promised.count(each) == 1) << each << " is no constant";
}

TEST(ConditionReasons, AllHaveTheObservedGeneration) {
  const World world({kClass, kGateway, kBackend, kRoute, with(rpc(kRoute), "spec:", "spec:\n  surprise: 1")});
  for (const config::ObjectStatus& object : world.result().statuses) {
    const auto observed = [&](const std::vector<config::Condition>& conditions) {
      for (const config::Condition& each : conditions) {
        EXPECT_TRUE(each.observedGeneration) << object.kind << " " << each.type;
      }
    };
    observed(object.conditions);
    for (const auto& each : object.listeners) observed(each.conditions);
    for (const auto& each : object.parents) observed(each.conditions);
    for (const auto& each : object.controllers) observed(each.conditions);
  }
}

}  // namespace
}  // namespace sluice::compile
