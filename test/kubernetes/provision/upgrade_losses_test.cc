#include "proxy/kubernetes/provision/upgrade_losses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load/load.h"

namespace sluice::kubernetes {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Returns the losses of a Gateway in `team` whose route uses a Backend of `vault` with a client certificate, if the
/// class has these settings for provisioning.
UpgradeLosses lossesWith(const std::string& provisioning, const std::string& more = {},
                         const std::string& secret = "cert", const std::string& hostname = "a.test") {
  const std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec: {controllerName: "
      "sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, namespace: ops, name: s}}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: ops, name: s}\ndata: {settings.yaml: 'provisioning: {" +
      provisioning +
      "}'}\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: team, name: egress}\nspec: "
      "{gatewayClassName: sluice, infrastructure: {parametersRef: {group: sluice.dev, kind: GatewayParameters, name: "
      "p}}, "
      "listeners: [{name: a, port: 80, protocol: HTTP, hostname: '" +
      hostname +
      "'}]}\n---\n"
      "apiVersion: sluice.dev/v1alpha1\nkind: GatewayParameters\nmetadata: {namespace: team, name: p}\nspec: {service: "
      "{type: LoadBalancer}}\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: team, name: r}\nspec: "
      "{parentRefs: [{name: egress}], rules: [{backendRefs: [{group: sluice.dev, kind: Backend, namespace: vault, "
      "name: "
      "b}]}]}\n---\n"
      "apiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: vault, name: b}\nspec: {destination: "
      "{type: "
      "FQDN, fqdn: {hostname: a.test, port: 443}}, tls: {mode: Mutual, clientCertificateRef: {name: '" +
      secret +
      "'}}}\n---\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: vault, name: g}\nspec: "
      "{from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team}], to: [{group: sluice.dev, kind: "
      "Backend}]}\n---\n" +
      more;
  config::TextCache cache;
  return upgradeLosses(config::readTexts({config::SourceText{"a.yaml", text}}, {}, base::Secret(), cache), "ops", {});
}

TEST(UpgradeLosses, AreSecretsOfOtherNamespacesAndForbiddenChoices) {
  const UpgradeLosses losses = lossesWith("");
  ASSERT_EQ(losses.secrets.size(), 1U);
  EXPECT_EQ(losses.secrets[0].gateway, "Gateway team/egress");
  EXPECT_EQ(losses.secrets[0].nameSpace + "/" + losses.secrets[0].name, "vault/cert");
  ASSERT_EQ(losses.gateways.size(), 1U);
  EXPECT_EQ(losses.gateways[0].gateway, "Gateway team/egress");
  EXPECT_THAT(losses.gateways[0].why, HasSubstr("spec.service.type"));
}

TEST(UpgradeLosses, AreNoneAfterWhatTheySay) {
  EXPECT_THAT(lossesWith("", lossesWith("").secrets.at(0).grant).secrets, IsEmpty()) << "the grant that it prints";
  EXPECT_TRUE(lossesWith("trustedNamespaces: [team], allowServiceType: true").empty());
}

TEST(UpgradeLosses, PrintGrantsThatKeepWhateverTheSecretIsCalled) {
  for (const std::string& secret :
       {std::string("123"), std::string("true"), std::string("1e3"), std::string(253, 'a')}) {
    const UpgradeLosses losses = lossesWith("", "", secret);
    ASSERT_EQ(losses.secrets.size(), 1U) << secret;
    const std::string grant = losses.secrets[0].grant;
    EXPECT_TRUE(config::loadText(grant).problems.empty()) << grant;
    EXPECT_THAT(lossesWith("", grant, secret).secrets, IsEmpty()) << grant;
  }
}

TEST(UpgradeLosses, PrintGrantsForAGatewayWhichItsSchemaRefuses) {
  const UpgradeLosses losses = lossesWith("", "", "cert", "1.2.3.4");
  ASSERT_EQ(losses.secrets.size(), 1U);
  EXPECT_THAT(losses.secrets[0].grant, HasSubstr("from: [{group: gateway.networking.k8s.io, kind: Gateway"));
}

}  // namespace
}  // namespace sluice::kubernetes
