// Tests Backends that are addresses: no name is resolved or sent, and the certificate must be for the address.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/canary.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns a gateway that sends everything to the Backend 127.0.0.1 of group `group`.
GatewaySpec toAddress(std::uint16_t port, const std::string& ca, const std::string& allow = "127.0.0.0/8",
                      const std::string& group = "sluice.dev") {
  const std::string tls = ca.empty() ? "" : ", tls: {mode: Simple, caBundleRef: [{kind: ConfigMap, name: other-ca}]}";
  const std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\nspec:\n  "
      "parentRefs: [{name: egress}]\n  rules: [{backendRefs: [{group: " +
      group + ", kind: Backend, name: address}]}]\n---\napiVersion: " + group +
      "/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: address}\nspec: {destination: {type: Ip, ip: "
      "{address: 127.0.0.1}, ports: [{number: " +
      std::to_string(port) + ", protocol: HTTP" + tls + "}]}}\n";
  // Another Backend brings the ConfigMap with the authority.
  return {.backends = {{.name = "other", .port = 9, .ca = ca}}, .routes = text, .allow = allow};
}

CertifiedKey certificateFor(const CertifiedKey& authority, const std::string& name, const std::string& address) {
  CertificateSpec spec;
  if (!name.empty()) spec.dnsNames = {name};
  if (!address.empty()) spec.ipAddresses = {address};
  spec.extendedKeyUsage = "serverAuth";
  return issue(authority, spec);
}

TEST(AddressBackend, IsReachedByTlsWithoutAServerName) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(certificateFor(authority, "", "127.0.0.1"));
  for (const char* group : {"sluice.dev", "gateway.networking.k8s.io"}) {
    const GatewayProcess gateway(toAddress(origin.port(), authority.certificate, "127.0.0.0/8", group));
    const std::string answer = ask(gateway, "/models");
    EXPECT_THAT(answer, HasSubstr(" 200")) << group;
    EXPECT_EQ(echoed(answer, "sni"), "") << group;
    EXPECT_THAT(answer, HasSubstr("127.0.0.1:" + std::to_string(origin.port()))) << "the authority";
  }
}

TEST(AddressBackend, IsRefusedIfItsCertificateIsForAnotherAddressOrForAName) {
  const CertifiedKey authority = makeAuthority();
  for (const auto& [name, address] :
       {std::pair{"", "127.0.0.2"}, std::pair{"127.0.0.1", ""}, std::pair{"a.test", ""}}) {
    const EchoOrigin origin(certificateFor(authority, name, address));
    const GatewayProcess gateway(toAddress(origin.port(), authority.certificate));
    const std::string answer = ask(gateway, "/models");
    EXPECT_THAT(answer, HasSubstr(" 502")) << name << address;
    EXPECT_THAT(answer, HasSubstr("tls_certificate_error")) << name << address;
  }
}

TEST(AddressBackend, IsGuardedLikeAnAddressThatANameResolvesTo) {
  const std::uint16_t port = freePort();
  const Canary canary("127.0.0.1", port);
  ASSERT_TRUE(canary.ok());
  const GatewayProcess gateway(toAddress(port, "", "192.0.2.0/24"));
  const std::string answer = ask(gateway, "/models");
  EXPECT_THAT(answer, HasSubstr(" 403"));
  EXPECT_THAT(answer, HasSubstr("destination_ip_prohibited"));
  EXPECT_EQ(canary.connections(), 0);
}

}  // namespace
}  // namespace sluice::test
