// A TagPolicy of a real API server counts as soon as it is there.
#include <gtest/gtest.h>

#include <string>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

class KubeTagPolicies : public KubeSourceTest {
 protected:
  std::string tag() const {
    BlockingSocket client = BlockingSocket::connect(port);
    if (!client.ok()) return "none";
    return askRaw(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n").field("x-team").value_or("");
  }
  bool sets(const std::string& team) const {
    return eventually([&] { return tag() == team; });
  }
  static std::string policy(const std::string& team) {
    return "apiVersion: sluice.dev/v1alpha1\nkind: TagPolicy\nmetadata: {namespace: demo, name: t}\nspec: {targetRefs: "
           "[{group: gateway.networking.k8s.io, kind: Gateway, name: egress}], team: " +
           team + "}\n---\n";
  }
};

TEST_F(KubeTagPolicies, SetFieldsOfResponses) {
  startServer(InstalledKinds::kGatewayApiAndOurs);
  kubectl->apply(gateway() + service("near", one.port()) + route("near", "/", toService("near")));
  startGateway();
  EXPECT_TRUE(answers("/", "one"));
  kubectl->apply(policy("blue"));
  EXPECT_TRUE(sets("blue"));
  kubectl->apply(policy("red"));
  EXPECT_TRUE(sets("red"));
  kubectl->remove(policy("red"));
  EXPECT_TRUE(sets(""));
}

}  // namespace
}  // namespace sluice::test
