// Runs `sluice convert`, and other commands on its output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kGatewayAndSecret =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\n"
    "spec: {controllerName: sluice.dev/egress-gateway}\n---\n"
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec:\n"
    "  gatewayClassName: c\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n"
    "  listeners: [{name: http, protocol: HTTP, port: 10080}]\n---\n"
    "apiVersion: v1\nkind: Secret\nmetadata: {namespace: demo, name: s}\nstringData: {key: hidden-value}\n";

std::string routeAndPolicy(const std::string& fields) {
  return "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: api}\n"
         "spec: {endpoints: [{fqdn: {hostname: api.example.com, port: 8080}}]}\n---\n"
         "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: api}\nspec:\n"
         "  parentRefs: [{name: egress}]\n"
         "  rules: [{backendRefs: [{group: gateway.envoyproxy.io, kind: Backend, name: api}]}]\n---\n"
         "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {namespace: demo, name: "
         "api}\nspec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: api}]\n  " +
         fields + "\n";
}

TEST(ConvertCommand, PrintsObjectsThatAreServedAsBefore) {
  const TempDir folder;
  const std::string gateway = folder.write("gateway.yaml", kGatewayAndSecret);
  const std::string route = folder.write("route.yaml", routeAndPolicy("retry: {numRetries: 3}"));
  const ProgramOutcome converted = sluice({"convert", gateway, route});
  EXPECT_EQ(converted.exitCode, 0) << converted.output;
  EXPECT_THAT(converted.errors, IsEmpty());
  EXPECT_THAT(converted.output, Not(HasSubstr("gateway.envoyproxy.io")));
  EXPECT_THAT(converted.output, HasSubstr("kind: \"TrafficPolicy\""));
  EXPECT_THAT(converted.output, HasSubstr("hidden-value")) << "the objects are the user's own";
  const TempDir after;
  const std::string file = after.write("all.yaml", converted.output);
  const ProgramOutcome valid = sluice({"validate", "-q", file});
  EXPECT_EQ(valid.exitCode, 0) << valid.output;
  EXPECT_THAT(sluice({"explain", "--config", file, "--url", "http://api.test:10080/"}).output, HasSubstr("demo/api"));
  const ProgramOutcome again = sluice({"convert", after.path()});
  EXPECT_EQ(again.exitCode, 0);
  EXPECT_EQ(again.output, converted.output);
}

TEST(ConvertCommand, ExitsWithOneIfAFieldIsLost) {
  const TempDir folder;
  const std::string file = folder.write("a.yaml", routeAndPolicy("retry: {numRetries: 3}\n  rateLimit: {type: Local}"));
  const ProgramOutcome converted = sluice({"convert", file});
  EXPECT_EQ(converted.exitCode, 1);
  EXPECT_THAT(converted.output, HasSubstr("# BackendTrafficPolicy demo/api\n# not converted: spec.rateLimit: rateLimit "
                                          "is not supported; its requests got 500, and are served now\napiVersion: "));
}

TEST(ConvertCommand, PrintsNoObjectIfAFileCannotBeRead) {
  const TempDir folder;
  const std::string good = folder.write("good.yaml", kGatewayAndSecret);
  const std::string broken = folder.write("broken.yaml", std::string(kGatewayAndSecret) + "---\n{[");
  for (const std::string& other : {broken, folder.path() + "/absent.yaml"}) {
    const ProgramOutcome converted = sluice({"convert", good, other});
    EXPECT_EQ(converted.exitCode, 1);
    EXPECT_THAT(converted.output, IsEmpty());
    EXPECT_THAT(converted.errors, StartsWith(other));
    EXPECT_THAT(converted.errors, Not(HasSubstr("hidden-value")));
  }
}

}  // namespace
}  // namespace sluice::test
