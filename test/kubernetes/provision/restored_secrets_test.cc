#include "proxy/kubernetes/provision/restored_secrets.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/load/load.h"

namespace sluice::kubernetes {
namespace {

const std::set<std::string> kReached = {"demo", "shared"};
const NamedGateway kRestoredGateway = {"Gateway", "demo", "egress"};
const std::string kItself =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: demo, name: egress}\nspec: "
    "{gatewayClassName: ours, listeners: [{name: a, port: 80, protocol: HTTP}]}\n---\n";

/// Returns whether Secret vault/s is restored to a Gateway that reaches kReached, with this ReferenceGrant in vault.
bool isRestoredWith(const std::string& from, const std::string& to,
                    const std::string& kind = "group: sluice.dev, kind: Backend") {
  const config::Configuration grants = config::loadText(
      kItself +
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: vault, name: g}\nspec: "
      "{from: [{" +
      kind + ", namespace: " + from + "}], to: [" + to + "]}\n");
  EXPECT_TRUE(grants.problems.empty());
  return !restoredSecrets({{"vault", "s"}}, kRestoredGateway, kReached, grants.model).empty();
}

TEST(RestoredSecrets, AreThoseOfTheNamespacesThatTheGatewayReaches) {
  const config::Configuration alone = config::loadText(kItself);
  EXPECT_EQ(restoredSecrets({{"demo", "a"}, {"shared", "b"}, {"vault", "s"}}, kRestoredGateway, kReached, alone.model),
            (NamedObjects::Names{{"demo", "a"}, {"shared", "b"}}));
}

TEST(RestoredSecrets, AreReachedByBackendsOfOtherNamespaces) {
  const auto grant = [](const std::string& in, const std::string& from, const std::string& to) {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: " + in +
           ", name: g}\nspec: {from: [{group: sluice.dev, kind: Backend, namespace: " + from + "}], to: [" + to +
           "]}\n---\n";
  };
  const config::Configuration grants = config::loadText(kItself + grant("keys", "vault", "{group: '', kind: Secret}") +
                                                        grant("vault", "demo", "{group: sluice.dev, kind: Backend}") +
                                                        grant("other", "elsewhere", "{group: '', kind: Secret}"));
  EXPECT_EQ(restoredSecrets({{"keys", "k"}, {"other", "o"}, {"vault", "s"}}, kRestoredGateway, kReached, grants.model),
            (NamedObjects::Names{{"keys", "k"}, {"vault", "s"}}));
}

TEST(RestoredSecrets, OfOtherNamespacesTakeAGrantOfNow) {
  EXPECT_TRUE(isRestoredWith("demo", "{group: '', kind: Secret, name: s}"));
  EXPECT_TRUE(isRestoredWith("shared", "{group: '', kind: Secret}"));
  EXPECT_TRUE(isRestoredWith("demo", "{group: sluice.dev, kind: Backend}"));
  EXPECT_TRUE(isRestoredWith("demo", "{group: '', kind: Service}"));
  EXPECT_FALSE(isRestoredWith("demo", "{group: '', kind: Secret, name: other}"));
  EXPECT_FALSE(isRestoredWith("demo", "{group: '', kind: ConfigMap}"));
  EXPECT_FALSE(isRestoredWith("elsewhere", "{group: '', kind: Secret}")) << "nothing of the Gateway is there";
}

TEST(RestoredSecrets, TakeAGrantToWhatAGatewayUses) {
  for (const char* to : {"{group: '', kind: Secret, name: s}", "{group: sluice.dev, kind: Backend}"}) {
    for (const char* kind : {"HTTPRoute", "GRPCRoute", "Gateway"}) {
      EXPECT_TRUE(isRestoredWith("demo", to, std::string("group: gateway.networking.k8s.io, kind: ") + kind)) << kind;
    }
    EXPECT_TRUE(isRestoredWith("demo", to, "group: sluice.dev, kind: PayloadProcessor"));
    EXPECT_TRUE(isRestoredWith("demo", to, "group: sluice.dev, kind: EgressPolicy"));
    EXPECT_FALSE(isRestoredWith("demo", to, "group: '', kind: Service")) << to;
    EXPECT_FALSE(isRestoredWith("demo", to, "group: gateway.networking.k8s.io, kind: TLSRoute")) << to;
    EXPECT_FALSE(isRestoredWith("demo", to, "group: acme.test, kind: HTTPRoute")) << to;
  }
}

TEST(RestoredSecrets, TakeAGrantForTheGatewayIfItsNamespaceIsNotTrusted) {
  const NamedObjects::Names earlier = {{"demo", "a"}, {"shared", "b"}};
  config::Model tenants = config::loadText(kItself).model;
  tenants.controllerNamespace = "sluice-system";
  EXPECT_EQ(restoredSecrets(earlier, kRestoredGateway, kReached, tenants), (NamedObjects::Names{{"demo", "a"}}));
  config::Model granted =
      config::loadText(
          kItself +
          "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: shared, "
          "name: g}\nspec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: demo}], to: "
          "[{group: '', kind: Secret, name: b}]}\n")
          .model;
  granted.controllerNamespace = "sluice-system";
  EXPECT_EQ(restoredSecrets(earlier, kRestoredGateway, kReached, granted), earlier);
}

}  // namespace
}  // namespace sluice::kubernetes
