// Tests that `sluice validate` warns of Backends whose steps may hold longer bodies than their rule keeps for retries.
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

/// Returns a configuration whose Backend has a step with that bound, and whose rule keeps that much.
std::string keeping(const std::string& maxBodyBytes, const std::string& replayBytes) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\n"
         "spec: {controllerName: sluice.dev/egress-gateway}\n"
         "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\n"
         "spec: {gatewayClassName: sluice, listeners: [{name: http, protocol: HTTP, port: 8080}]}\n"
         "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: demo, name: api}\n"
         "spec:\n  destination: {type: Fqdn, fqdn: {hostname: api.test}, ports: [{number: 80, protocol: HTTP}]}\n"
         "  extensions: [{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, config: {maxBodyBytes: " +
         maxBodyBytes +
         "}}]\n"
         "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: demo, name: chat}\n"
         "spec:\n  parentRefs: [{name: egress}]\n"
         "  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: api}]}]\n"
         "---\napiVersion: sluice.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {namespace: demo, name: retries}\n"
         "spec:\n  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: chat}]\n"
         "  retry: {codes: [503]" +
         replayBytes + "}\n";
}

TEST(ReplayWarnings, NameTheStepThatMayHoldMoreThanIsKept) {
  const TempDir folder;
  const auto validate = [&](const std::string& maxBodyBytes, const std::string& replayBytes) {
    return sluice({"validate", "--config", folder.write("a.yaml", keeping(maxBodyBytes, replayBytes))});
  };
  const ProgramOutcome warned = validate("1048577", "");
  EXPECT_EQ(warned.exitCode, 0) << warned.output;
  EXPECT_THAT(warned.output, AllOf(HasSubstr("warning: HTTPRoute demo/chat: step model of demo/api may hold bodies of "
                                             "1048577 bytes, but 1048576 are kept for retries"),
                                   HasSubstr("retry.replayBytes")));
  EXPECT_THAT(validate("1048576", "").output, Not(HasSubstr("warning")));
  EXPECT_THAT(validate("1048577", ", replayBytes: 2Mi").output, Not(HasSubstr("warning")));
  EXPECT_THAT(validate("1024", ", replayBytes: 1023").output, HasSubstr("may hold bodies of 1024 bytes, but 1023"));
  EXPECT_THAT(validate("5000000", ", replayBytes: 4Mi").output, Not(HasSubstr("warning")))
      << "neither is more than limits.processorBuffer";
}

}  // namespace
}  // namespace sluice::test
