// Tests policies for a Service to which the gateway sends requests of its own, through the binary: calls of an external
// processor and of external authorization, and copies for a mirror.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "test/integration/support/faults/faulty_ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

class OwnCallsOnTheWire : public testing::Test {
 protected:
  using Ports = std::array<std::uint16_t, 2>;

  static constexpr const char* kProcessor =
      "{name: guard, type: 'sluice.dev/ExtProc:v1', config: {backendRefs: [{name: guard, port: 80}]}}";
  static constexpr const char* kAuthorization =
      "{type: ExternalAuth, externalAuth: {backendRef: {name: guard, port: 80}, protocol: HTTP, http: {path: /check}}}";
  static constexpr const char* kMirror = "{type: RequestMirror, requestMirror: {backendRef: {name: guard, port: 80}}}";

  /// Returns a gateway in the zone "here", whose one rule has the filter. The Service "guard" has an endpoint in that
  /// zone, and another one in the zone "there".
  GatewaySpec spec(const std::string& filter, const Ports& ports, const std::string& policy) const {
    GatewaySpec made;
    made.backends = {{.port = origin_.port()}};
    made.routes = routeOfRules("    - filters: [" + filter + "]\n" + backendRefs()) +
                  "---\napiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: guard}\nspec: {ports: [{name: "
                  "web, port: 80}]}\n" +
                  slice("here", ports[0]) + slice("there", ports[1]) + policy;
    made.options = {"--zone", "here"};
    return made;
  }
  static std::string forGuard(const SpelledPolicy& policy) {
    return policy.named("calls", "targetRefs: [{group: '', kind: Service, name: guard}]");
  }
  static std::string preferring() { return forGuard(ownFields("loadBalancing: {zone: Prefer}")); }
  static void send(const GatewayProcess& gateway, int times) {
    for (int i = 0; i < times; ++i) EXPECT_EQ(askRaw(gateway.port()).body, "origin");
  }
  /// Waits until the two have got that many requests together.
  static void expectRequests(const RawOrigin& one, const RawOrigin& other, std::size_t count) {
    EXPECT_TRUE(eventually([&] { return one.heads().size() + other.heads().size() == count; }));
  }

 private:
  static std::string slice(const std::string& zone, std::uint16_t port) {
    return "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: guard-" +
           zone + ", labels: {kubernetes.io/service-name: guard}}\naddressType: IPv4\nports: [{name: web, port: " +
           std::to_string(port) + "}]\nendpoints: [{addresses: [127.0.0.1], zone: " + zone + "}]\n";
  }

  const RawOrigin origin_{RawOrigin::answering(saying("origin"))};
};

TEST_F(OwnCallsOnTheWire, OfAnExternalProcessorGoToTheZoneThatAPolicyPrefers) {
  FaultyExtProcServer here;
  FaultyExtProcServer there;
  const Ports ports = {here.port(), there.port()};
  GatewayProcess gateway(spec(inlined(kProcessor), ports, preferring()));
  send(gateway, 20);
  EXPECT_EQ(here.streams(), 20);
  EXPECT_EQ(there.streams(), 0);
  gateway.reload(spec(inlined(kProcessor), ports, ""));
  send(gateway, 40);
  const int elsewhere = there.streams();
  EXPECT_GT(elsewhere, 0) << "without the policy";
  gateway.reload(spec(inlined(kProcessor), ports, preferring()));
  send(gateway, 20);
  EXPECT_EQ(there.streams(), elsewhere);
}

TEST_F(OwnCallsOnTheWire, OfAnExternalProcessorTakeTurnsIfAPolicySaysSo) {
  FaultyExtProcServer one;
  FaultyExtProcServer other;
  const SpelledPolicy policy = ownFields("loadBalancing: {type: RoundRobin}");
  const GatewayProcess gateway(spec(inlined(kProcessor), {one.port(), other.port()}, forGuard(policy)));
  send(gateway, 20);
  EXPECT_EQ(one.streams(), 10);
  EXPECT_EQ(other.streams(), 10);
}

TEST_F(OwnCallsOnTheWire, OfExternalAuthorizationGoToTheZoneThatAPolicyPrefers) {
  const RawOrigin here(RawOrigin::answering(kOk));
  const RawOrigin there(RawOrigin::answering(kOk));
  const GatewayProcess gateway(spec(kAuthorization, {here.port(), there.port()}, preferring()));
  send(gateway, 20);
  EXPECT_EQ(here.heads().size(), 20U);
  EXPECT_TRUE(there.heads().empty());
}

TEST_F(OwnCallsOnTheWire, ForAMirrorGoToTheZoneThatAPolicyPrefers) {
  const RawOrigin here(RawOrigin::answering(kOk));
  const RawOrigin there(RawOrigin::answering(kOk));
  const GatewayProcess gateway(spec(kMirror, {here.port(), there.port()}, preferring()));
  send(gateway, 20);
  expectRequests(here, there, 20);
  EXPECT_TRUE(there.heads().empty());
}

TEST_F(OwnCallsOnTheWire, OfOneClientGoToOneEndpointByItsAddress) {
  for (const char* const filter : {kAuthorization, kMirror}) {
    const RawOrigin one(RawOrigin::answering(kOk));
    const RawOrigin other(RawOrigin::answering(kOk));
    const std::string policy = forGuard(ownFields("loadBalancing: {type: Maglev, hash: {type: SourceIP}}"));
    const GatewayProcess gateway(spec(filter, {one.port(), other.port()}, policy));
    send(gateway, 20);
    expectRequests(one, other, 20);
    EXPECT_TRUE(one.heads().empty() || other.heads().empty()) << filter;
  }
}

}  // namespace
}  // namespace sluice::test
