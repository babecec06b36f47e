// Tests third-party clients in Node.js: undici, and @grpc/grpc-js with its own server as the origin. Each script prints
// what failed.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/node/node.h"

namespace sluice::test {
namespace {

TEST(NodeClients, UndiciGetsAndPostsOverBothVersions) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "origin.test"));
  const TempDir folder;
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port(), .ca = authority.certificate}}, .tls = issueServer(authority, "localhost")});
  const ProgramOutcome got =
      runNode("undici.mjs", {gateway.url(""), "https://localhost:" + std::to_string(gateway.tlsPort()),
                             folder.write("ca.crt", authority.certificate)});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(NodeClients, GrpcCallsOfEveryKindPassThrough) {
  const CertifiedKey authority = makeAuthority();
  const GrpcOrigin origin(issueServer(authority, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}}});
  const ProgramOutcome got = runNode("grpc.mjs", {"127.0.0.1:" + std::to_string(gateway.port())});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

}  // namespace
}  // namespace sluice::test
