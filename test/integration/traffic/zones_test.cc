// Tests loadBalancing.zone through the binary: endpoints for the zone of the gateway get all requests while enough of
// them are available, and else all endpoints get them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"
#include "test/integration/traffic/spelled_policy.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Zones = std::vector<std::string>;  // of each origin, as members of its endpoint
using Answers = std::set<std::string>;

const Zones kTwoHereOneThere = {"zone: here", "zone: here", "zone: there"};

class ZonesOnTheWire : public testing::Test {
 protected:
  /// Returns a gateway with one endpoint for each origin, and a route to all of them; `members` are further ones of its
  /// rule.
  GatewaySpec spec(const Zones& zones, const std::string& policy, const std::string& members = {}) const {
    GatewaySpec made;
    made.routes =
        "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: shop}\nspec: {ports: [{name: web, "
        "port: 80}]}\n---\n";
    for (std::size_t i = 0; i < zones.size(); ++i) made.routes += slice(i, zones[i]);
    made.routes +=
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\n"
        "spec: {parentRefs: [{name: egress}], rules: [{" +
        members + "backendRefs: [{name: shop, port: 80}]}]}\n" + policy;
    made.options = {"--zone", "here"};
    return made;
  }
  static std::string preferring(const std::string& more = {}) {
    return ownFields("loadBalancing: {zone: Prefer" + more + "}").forTarget("kind: HTTPRoute, name: all");
  }
  /// Returns the bodies of many answers.
  static Answers ask(const GatewayProcess& gateway, int times = 40) {
    Answers answers;
    for (int i = 0; i < times; ++i) answers.insert(askRaw(gateway.port()).body);
    return answers;
  }
  /// Returns the endpoint of an origin as /status begins it.
  std::string shown(std::size_t origin, const std::string& members) const {
    const std::string address = "\"127.0.0.1:" + std::to_string(ports_[origin]) + "\"";
    return "{\"object\":\"Service/test/shop\",\"endpoint\":" + address + ",\"address\":" + address + "," + members +
           ",\"since\":\"";
  }
  /// Ends an origin: from now on it takes no connections.
  void end(std::size_t origin) { origins_[origin].reset(); }

 private:
  std::string slice(std::size_t number, const std::string& zones) const {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: shop-" +
           std::to_string(number) +
           ", labels: {kubernetes.io/service-name: shop}}\naddressType: IPv4\nports: [{name: web, port: " +
           std::to_string(ports_[number]) + "}]\nendpoints: [{addresses: [127.0.0.1], " + zones + "}]\n---\n";
  }
  static std::unique_ptr<RawOrigin> origin(const std::string& name) {
    return std::make_unique<RawOrigin>(RawOrigin::answering(saying(name)));
  }

  std::vector<std::unique_ptr<RawOrigin>> origins_ = [] {
    std::vector<std::unique_ptr<RawOrigin>> made;
    for (const char* const name : {"one", "two", "three"}) made.push_back(origin(name));
    return made;
  }();
  const std::vector<std::uint16_t> ports_ = {origins_[0]->port(), origins_[1]->port(), origins_[2]->port()};
};

TEST_F(ZonesOnTheWire, GetTheRequestsOfTheirGatewaysWithEachTypeOfLoadBalancing) {
  for (const char* const type : {"LeastRequest", "RoundRobin", "Random"}) {
    const GatewayProcess gateway(spec(kTwoHereOneThere, preferring(", type: " + std::string(type))));
    EXPECT_EQ(ask(gateway), (Answers{"one", "two"})) << type;
  }
  for (const char* const type : {"RingHash", "Maglev"}) {
    const std::string hash = ", hash: {type: Header, name: x-user}";
    const GatewayProcess gateway(spec(kTwoHereOneThere, preferring(", type: " + std::string(type) + hash)));
    Answers answers;
    for (int user = 0; user < 40; ++user) {
      const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nX-User: " + std::to_string(user) + "\r\n\r\n";
      const std::string answer = askRaw(gateway.port(), request).body;
      EXPECT_EQ(askRaw(gateway.port(), request).body, answer);
      answers.insert(answer);
    }
    EXPECT_EQ(answers, (Answers{"one", "two"})) << type;
  }
}

TEST_F(ZonesOnTheWire, AreNotHeededWithoutAPolicyOrAZoneOfTheGateway) {
  const Answers all = {"one", "two", "three"};
  EXPECT_EQ(ask(GatewayProcess(spec(kTwoHereOneThere, ""))), all);
  GatewaySpec unknown = spec(kTwoHereOneThere, preferring());
  unknown.options = {};
  EXPECT_EQ(ask(GatewayProcess(unknown)), all);
}

TEST_F(ZonesOnTheWire, AreThatOfTheEnvironmentForAGatewayWithoutTheFlag) {
  GatewaySpec inPod = spec(kTwoHereOneThere, preferring());
  inPod.options = {};
  inPod.environment = {"SLUICE_ZONE=there"};
  const GatewayProcess gateway(inPod);
  EXPECT_EQ(ask(gateway), Answers{"three"});
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(R"("zone":"there")"));
}

TEST_F(ZonesOnTheWire, AreShownInTheStatusWithTheStatesOfEndpoints) {
  const Zones oneUnknown = {"zone: here", "zone: there", "conditions: {ready: true}"};
  GatewayProcess gateway(spec(oneUnknown, preferring(", slowStart: 24h")));
  EXPECT_THAT(gateway.adminGet("/status"),
              AllOf(HasSubstr(shown(0, R"("zone":"here","weight":1,"state":"slowStart")")),
                    HasSubstr(shown(1, R"("zone":"there","weight":1,"state":"slowStart")")),
                    HasSubstr(shown(2, R"("weight":1,"state":"slowStart")"))));
  gateway.reload(spec(oneUnknown, preferring()));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(shown(0, R"("zone":"here","weight":1,"state":"healthy")")));
}

TEST_F(ZonesOnTheWire, AreThoseOfHintsIfAllEndpointsHaveSome) {
  const std::string forHere = ", hints: {forZones: [{name: here}]}";
  const std::string forThere = ", hints: {forZones: [{name: there}]}";
  GatewayProcess gateway(
      spec({"zone: here" + forThere, "zone: here" + forThere, "zone: there" + forHere}, preferring()));
  EXPECT_EQ(ask(gateway), Answers{"three"});
  gateway.reload(spec({"zone: here" + forThere, "zone: here", "zone: there" + forHere}, preferring()));
  EXPECT_EQ(ask(gateway), (Answers{"one", "two"})) << "one has no hints";
}

TEST_F(ZonesOnTheWire, LeaveTheirRequestsToOthersWhenTheyTakeNoConnections) {
  // A retry is for the request whose connection ends when the origin does.
  const GatewayProcess gateway(
      spec({"zone: here", "zone: there", "zone: there"}, preferring(), "retry: {attempts: 1, backoff: 1ms}, "));
  EXPECT_EQ(ask(gateway), Answers{"one"});
  end(0);
  EXPECT_EQ(ask(gateway), (Answers{"two", "three"}));
}

TEST_F(ZonesOnTheWire, ShareTheirRequestsWithAllWhileTooFewAreAvailable) {
  GatewayProcess gateway(spec(kTwoHereOneThere, preferring(", minEndpointsInZone: 3")));
  EXPECT_EQ(ask(gateway), (Answers{"one", "two", "three"}));
  gateway.reload(spec(kTwoHereOneThere, preferring(", minEndpointsInZone: 2")));
  EXPECT_EQ(ask(gateway), (Answers{"one", "two"}));
  end(0);
  EXPECT_TRUE(eventually([&] { return askRaw(gateway.port()).body == "three"; }));
}

TEST_F(ZonesOnTheWire, KeepSessionsWithTheirEndpoint) {
  const std::string session = "sessionPersistence: {sessionName: sid}, ";
  GatewayProcess gateway(spec({"zone: there", "zone: there", "zone: here"}, preferring(), session));
  const ReceivedResponse first = askRaw(gateway.port());
  EXPECT_EQ(first.body, "three");
  const std::string cookie = first.field("set-cookie").value_or("");
  gateway.reload(spec({"zone: here", "zone: there", "zone: there"}, preferring(), session));
  EXPECT_EQ(ask(gateway, 10), Answers{"one"});
  const std::string request = "GET / HTTP/1.1\r\nHost: a\r\nCookie: " + cookie.substr(0, cookie.find(';')) + "\r\n\r\n";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(askRaw(gateway.port(), request).body, "three");
}

TEST_F(ZonesOnTheWire, MayBePreferredByAPolicyOfEnvoyGateway) {
  const auto preferLocal = [](const std::string& fields) {
    return envoyFields("loadBalancer: {type: RoundRobin, zoneAware: {preferLocal: {" + fields + "}}}")
        .forTarget("kind: HTTPRoute, name: all");
  };
  GatewayProcess gateway(spec(kTwoHereOneThere, preferLocal("minEndpointsThreshold: 3, force: {}")));
  EXPECT_EQ(ask(gateway), (Answers{"one", "two"}));
  gateway.reload(spec(kTwoHereOneThere, preferLocal("minEndpointsThreshold: 4, force: {}")));
  EXPECT_EQ(ask(gateway), (Answers{"one", "two", "three"}));
}

TEST_F(ZonesOnTheWire, MustHaveTheNameOfALabel) {
  const ProgramOutcome flag = sluice({"run", "--config", "/nowhere", "--zone", "a/b"});
  EXPECT_EQ(flag.exitCode, 2);
  EXPECT_THAT(flag.errors, HasSubstr("\"a/b\" is no zone"));
}

}  // namespace
}  // namespace sluice::test
