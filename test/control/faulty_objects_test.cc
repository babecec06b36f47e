#include "proxy/control/report/faulty_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::control {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kSoundObjects = R"(apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: egress}
spec: {controllerName: sluice.dev/egress-gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: demo, name: egress}
spec:
  gatewayClassName: egress
  listeners: [{name: web, protocol: HTTP, port: 8080}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: demo, name: web}
spec:
  parentRefs: [{name: egress}]
  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: origin, port: 8080}]}]
---
apiVersion: sluice.dev/v1alpha1
kind: Backend
metadata: {namespace: demo, name: origin}
spec: {destination: {type: FQDN, fqdn: {hostname: origin.test, port: 8080}}}
)";

CompiledConfiguration compiledFrom(const std::string& text, const CompiledConfiguration* previous = nullptr) {
  config::TextCache texts;
  ConfigurationCache cache;
  return makeConfiguration(config::readTexts({{"a.yaml", text}}, {}, base::Secret("key"), texts), previous, {}, cache);
}

/// Returns the sound objects, where the only occurrence of `from` is replaced.
std::string soundWith(std::string_view from, std::string_view to) {
  std::string text(kSoundObjects);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// Returns "HTTPRoute demo/web: ResolvedRefs, BackendNotFound" for each object with faults.
std::vector<std::string> faultsOf(const CompiledConfiguration& configuration) {
  std::vector<std::string> faults;
  for (const FaultyObject& each : faultyObjects(configuration, configuration.problems,
                                                ObjectCounting(configuration.compiled, CountedObjects::kAll))) {
    faults.push_back(std::string(each.kind) + " " + std::string(each.nameSpace) + "/" + std::string(each.name) + ": " +
                     std::string(each.condition) + ", " + std::string(each.reason));
  }
  return faults;
}

using Faults = std::vector<std::string>;

TEST(FaultyObjects, AreNoneInASoundConfiguration) {
  EXPECT_EQ(faultsOf(compiledFrom(std::string(kSoundObjects))), Faults());
}

TEST(FaultyObjects, HaveBrokenReferencesAndClosedListeners) {
  EXPECT_EQ(faultsOf(compiledFrom(soundWith("name: origin, port: 8080}]", "name: orgin, port: 8080}]"))),
            Faults{"HTTPRoute demo/web: ResolvedRefs, BackendNotFound"});
  EXPECT_EQ(faultsOf(compiledFrom(soundWith("protocol: HTTP, port: 8080",
                                            "protocol: HTTPS, port: 8080, tls: "
                                            "{certificateRefs: [{name: lost}]}"))),
            Faults{"Gateway demo/egress: ResolvedRefs, InvalidCertificateRef"});
}

TEST(FaultyObjects, AreServedInEarlierVersions) {
  const CompiledConfiguration good = compiledFrom(std::string(kSoundObjects));
  const CompiledConfiguration kept = compiledFrom(soundWith("rules: [{backendRefs:", "rules: [{backendRef:"), &good);
  EXPECT_EQ(faultsOf(kept), Faults{"HTTPRoute demo/web: Accepted, Invalid"}) << "once, although reading reports it too";
}

TEST(FaultyObjects, MayHaveNoStatusAndNoKind) {
  EXPECT_EQ(faultsOf(compiledFrom(std::string(kSoundObjects) +
                                  "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: key}\n"
                                  "data: [1]\n---\n[]\n")),
            (Faults{"Secret demo/key: , Invalid", " /: , Invalid"}));
}

TEST(FaultyObjects, HaveMoreThanWarnings) {
  const std::string lonely =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: idle}\n"
      "spec: {}\n";
  const CompiledConfiguration warned = compiledFrom(std::string(kSoundObjects) + lonely);
  EXPECT_FALSE(warned.problems.empty());
  EXPECT_EQ(faultsOf(warned), Faults());
}

TEST(FaultyObjects, OfOtherGatewaysDoNotCountAtAPodOfOne) {
  const CompiledConfiguration configuration = compiledFrom(
      std::string(kSoundObjects) +
      "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: theirs, name: p}\nspec:\n"
      "  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: lost}\n"
      "  processors: [{name: a, type: 'sluice.dev/HeaderModifier:v1', phase: request-headers, config: {remove: [x]}}]\n"
      "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: theirs, name: key}\ndata: [1]\n");
  EXPECT_EQ(faultsOf(configuration).size(), 2U);
  EXPECT_TRUE(faultyObjects(configuration, configuration.problems,
                            ObjectCounting(configuration.compiled, CountedObjects::kServed))
                  .empty());
}

TEST(FaultyObjects, OfTheServedConfigurationAreThoseOfItsLastReading) {
  CompiledConfiguration known;
  known.problems.push_back({config::Severity::kError, {}, "Secret demo/key", "", "is odd"});
  Revisions revisions;
  EXPECT_TRUE(problemsNow(known, revisions).empty()) << "it is mended";
  for (const Standing other : {Standing::kHeld, Standing::kRefused, Standing::kUnavailable}) {
    revisions.standing = other;
    EXPECT_EQ(problemsNow(known, revisions).size(), 1U) << "another configuration was read last";
  }
}

FaultyObject faultyIn(std::string_view nameSpace) {
  return {"sluice.dev", "Backend", nameSpace, "a", "Accepted", "Invalid", {}, "it is \"wrong\""};
}

TEST(ListedFaults, HaveTheMembersOfTheReference) {
  EXPECT_EQ(listFaults({}).faults, "[]");
  EXPECT_EQ(listFaults({faultyIn("demo")}).faults,
            R"([{"group":"sluice.dev","kind":"Backend","namespace":"demo","name":"a","condition":"Accepted",)"
            R"("reason":"Invalid","message":"it is \"wrong\""}])");
  FaultyObject unread;
  unread.reason = "Invalid";
  unread.field = "spec";
  unread.message = "is odd";
  EXPECT_EQ(listFaults({unread}).faults, R"([{"reason":"Invalid","message":"spec: is odd"}])");
  EXPECT_EQ(listFaults({unread}).leftOut, "");
  const std::string page = sluice::test::referencePage("admin.md");
  EXPECT_EQ(sluice::test::firstWords(sluice::test::pageTable(page, "| member of `faultyObjects` | meaning |")),
            std::vector<std::string>(kFaultMembers.begin(), kFaultMembers.end()));
}

TEST(ListedFaults, HaveTheReasonOfEachObjectOnce) {
  std::vector<FaultyObject> objects(2 * ListedFaults::kMost, faultyIn("demo"));
  objects.push_back(faultyIn("demo"));
  objects.back().reason = "BackendNotFound";
  EXPECT_EQ(listFaults(objects).reasons, R"(["BackendNotFound","Invalid"])");
  EXPECT_EQ(listFaults({}).reasons, "[]");
}

TEST(ListedFaults, OfOneNamespaceLeaveRoomForOthers) {
  std::vector<FaultyObject> objects(5000, faultyIn("loud"));
  objects.push_back(faultyIn("quiet"));
  const ListedFaults listed = listFaults(objects);
  EXPECT_THAT(listed.faults, HasSubstr("\"quiet\""));
  EXPECT_EQ(listed.leftOut, R"([{"namespace":"loud","count":4990}])");
}

TEST(ListedFaults, AreBoundedInAll) {
  std::vector<std::string> names;
  for (int i = 100; i < 250; ++i) names.push_back("n" + std::to_string(i));
  std::vector<FaultyObject> objects;
  for (const std::string& name : names) objects.push_back(faultyIn(name));
  const ListedFaults listed = listFaults(objects);
  EXPECT_THAT(listed.faults, HasSubstr("\"n199\""));
  EXPECT_THAT(listed.faults, Not(HasSubstr("\"n200\"")));
  EXPECT_THAT(listed.leftOut, testing::StartsWith(R"([{"namespace":"n200","count":1},)"));
}

}  // namespace
}  // namespace sluice::control
