// `sluice validate` and `sluice diff` judge what `kubectl get -o yaml` prints, and warn of a conflict of hostnames.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kClassOfLists =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: egress}\n"
    "spec: {controllerName: sluice.dev/egress-gateway}\n---\n";
constexpr const char* kGatewayOfLists =
    "metadata: {namespace: demo, name: egress}\n"
    "  spec: {gatewayClassName: egress, listeners: [{name: web, protocol: HTTP, port: 8080}]}\n";
constexpr const char* kRouteOfLists =
    "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: web}\n"
    "spec: {parentRefs: [{name: egress}], rules: [{filters: [{type: RequestRedirect, requestRedirect: {hostname: "
    "a.test}}]}]}\n";

std::string singleList(const std::string& item) {
  return std::string(kClassOfLists) + "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayList\nitems:\n- " + item;
}

TEST(ValidateLists, JudgesTheirItems) {
  const TempDir folder;
  const std::string mixed = folder.write(
      "mixed.yaml", std::string(kClassOfLists) + "apiVersion: v1\nkind: List\nitems:\n" +
                        "- apiVersion: gateway.networking.k8s.io/v1\n  kind: Gateway\n  " + kGatewayOfLists);
  const std::string single = folder.write("single.yaml", singleList(kGatewayOfLists));
  for (const std::string& file : {mixed, single}) {
    const ProgramOutcome got = sluice({"validate", file});
    EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
    EXPECT_THAT(got.output, HasSubstr("Gateway demo/egress (gateway.networking.k8s.io)"));
  }
}

TEST(ValidateLists, NamesTheLineOfTheItem) {
  const TempDir folder;
  const std::string wrong = "metadata: {namespace: demo, name: egress}\n  spec:\n    gatewayClassName: 7\n";
  const ProgramOutcome got = sluice({"validate", folder.write("list.yaml", singleList(wrong))});
  EXPECT_EQ(got.exitCode, 1);
  EXPECT_THAT(got.output + got.errors,
              HasSubstr("list.yaml:11:23: error: Gateway demo/egress: spec.gatewayClassName: "));
}

TEST(HostnameConflicts, AreWarnedOfBeforeTheyHappen) {
  const TempDir folder;
  const std::string call =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: demo, name: a}\n"
      "spec: {parentRefs: [{name: egress}], hostnames: [calls.test], rules: [{}]}\n";
  const std::string before = folder.write("before.yaml", singleList(kGatewayOfLists) + kRouteOfLists);
  const std::string after = folder.write("after.yaml", singleList(kGatewayOfLists) + kRouteOfLists + call);
  const auto isTold = AllOf(HasSubstr("HTTPRoute demo/web has all hostnames on listener web"),
                            HasSubstr("give this GRPCRoute other hostnames, or another listener"),
                            HasSubstr("in a cluster the older route does"));
  const ProgramOutcome validated = sluice({"validate", after});
  EXPECT_EQ(validated.exitCode, 1);
  EXPECT_THAT(validated.output + validated.errors, AllOf(HasSubstr("after.yaml:"), isTold));
  const ProgramOutcome diffed = sluice({"diff", before, after});
  EXPECT_EQ(diffed.exitCode, 1);
  EXPECT_THAT(diffed.output,
              AllOf(HasSubstr("+ problem GRPCRoute demo/a: "), isTold, Not(HasSubstr("problem HTTPRoute demo/web"))));
}

}  // namespace
}  // namespace sluice::test
