// Tests a BackendTLSPolicy of a real API server: it is in force as soon as it exists, and so is each change of its
// authorities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "test/integration/kubernetes/source_fixture.h"

namespace sluice::test {
namespace {

class KubeTlsPolicies : public KubeSourceTest {
 protected:
  static std::string authorities(const CertifiedKey& root) {
    std::istringstream lines(root.certificate);
    std::string text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: demo, name: ca}\ndata:\n  ca.crt: |\n";
    for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
    return text + "---\n";
  }
  static std::string policy() {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {namespace: demo, name: near}\n"
           "spec: {targetRefs: [{group: '', kind: Service, name: near, sectionName: web}], validation: {hostname: "
           "near.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}}\n---\n";
  }
  bool seesTheName() const {
    return eventually([this] { return echoed(ask("/near"), "sni") == "near.test"; });
  }
};

TEST_F(KubeTlsPolicies, CountAsTheyAreAndWithTheAuthoritiesOfNow) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin secure(issueServer(root, "near.test"));
  startServer();
  kubectl->apply(gateway() + service("near", one.port()) + route("near", "/near", toService("near")));
  startGateway();
  EXPECT_TRUE(answers("/near", "one"));
  kubectl->apply(policy());
  EXPECT_TRUE(answers("/near", "500")) << "its ConfigMap is not there";
  kubectl->apply(service("near", secure.port()) + authorities(root));
  EXPECT_TRUE(seesTheName());
  kubectl->apply(authorities(makeAuthority("Another Authority")));
  EXPECT_TRUE(answers("/near", "502"));
  kubectl->apply(authorities(root));
  EXPECT_TRUE(seesTheName());

  kubectl->apply(service("near", two.port()));
  kubectl->remove(policy());
  EXPECT_TRUE(answers("/near", "two"));
}

}  // namespace
}  // namespace sluice::test
