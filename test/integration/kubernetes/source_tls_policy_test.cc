// Tests a BackendTLSPolicy of a real API server: it is in force as soon as it exists, and so is each change of its
// authorities.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
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
  /// The Service "near" whose port has that appProtocol.
  static std::string serviceSpeaking(const std::string& appProtocol, std::uint16_t at) {
    const std::string plain = "targetPort: web}";
    std::string text = service("near", at);
    return text.replace(text.find(plain), plain.size(), "targetPort: web, appProtocol: " + appProtocol + "}");
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

// The objects of Gateway API's own suite write it in capitals.
TEST_F(KubeTlsPolicies, AreNeededByHttpsInAnyCase) {
  const CertifiedKey root = makeAuthority();
  const EchoOrigin secure(issueServer(root, "near.test"));
  startServer();
  kubectl->apply(gateway() + serviceSpeaking("HTTPS", secure.port()) + authorities(root) +
                 route("near", "/near", toService("near")) + service("far", one.port()) +
                 route("far", "/far", toService("far")));
  startGateway({"--controller"});
  EXPECT_TRUE(answers("/far", "one"));
  EXPECT_EQ(ask("/near"), "500");
  EXPECT_TRUE(kubectl->waitFor("httproute", "demo", "near",
                               "{.status.parents[0].conditions[?(@.type==\"ResolvedRefs\")].reason}",
                               "UnsupportedProtocol"));
  kubectl->apply(policy());
  EXPECT_TRUE(seesTheName());
  kubectl->apply(serviceSpeaking("WSS", secure.port()));
  EXPECT_TRUE(answers("/far", "one"));
  EXPECT_TRUE(seesTheName());
}

}  // namespace
}  // namespace sluice::test
