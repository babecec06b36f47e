// Tests the health port of a process that serves one Gateway, which other machines can reach.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A Backend with a use of a processor that no catalog has.
std::string backendWithUse(const std::string& nameSpace, std::uint16_t port, const std::string& use) {
  return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + nameSpace +
         "}\n---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: " + nameSpace +
         ", name: far}\nspec:\n  destination: {type: FQDN, fqdn: {hostname: origin.test, port: " +
         std::to_string(port) + "}}\n  extensions: [{name: " + use +
         ", type: \"acme.test/Unknown:v1\", phase: request-headers}]\n---\n";
}

class KubeHealthPort : public KubeSourceTest {
 protected:
  std::string page(const std::string& path) const {
    return askRaw(sluice->healthPort(), "GET " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").body;
  }
};

TEST_F(KubeHealthPort, ShowsNothingOfObjectsThatConcernOtherGateways) {
  startServer(InstalledKinds::kGatewayApiAndOurs);
  // Both have the name that the route names, so both are read.
  kubectl->apply(gateway() + backendWithUse("demo", one.port(), "of-ours") +
                 backendWithUse("tenant", two.port(), "of-another") +
                 route("all", "/", "{group: sluice.dev, kind: Backend, name: far}"));
  startGateway({"--gateway", "demo/egress"});
  std::string metrics;
  const auto hasOurs = [&] { return (metrics = page("/metrics")).find("of-ours") != std::string::npos; };
  ASSERT_TRUE(eventually(hasOurs)) << metrics;
  EXPECT_THAT(metrics, Not(HasSubstr("of-another")));
  EXPECT_THAT(metrics, Not(HasSubstr("tenant")));
  EXPECT_EQ(page("/readyz"), "ready\n");
}

}  // namespace
}  // namespace sluice::test
