// Tests listeners and Backends whose Secret has no pair of a certificate and a key now, while its last good one serves
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/base/timestamp.h"
#include "test/compile/compile_world.h"

namespace sluice::compile {
namespace {

using test::gatewayWith;
using test::kBackend;
using test::kClass;
using test::kGateway;
using test::kRoute;
using test::with;
using test::World;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string fingerprintIn(const sluice::test::CertifiedKey& pair) {
  return pki::CertificateChain::parse(pair.certificate)->fingerprint();
}

/// A certificate with the key of another one, as while one of the two is replaced.
class HalfRotated : public ::testing::Test {
 protected:
  static std::string serving(const sluice::test::CertifiedKey& pair) {
    std::string text = "; the last good pair serves on until ";
    return text.append(base::Timestamp().text(pki::CertificateChain::parse(pair.certificate)->notAfter()));
  }

  const sluice::test::CertifiedKey next_ = sluice::test::issueServer(test::authority(), "origin.test");
  const std::string good_ = test::keyPair("pair", test::server());
  const std::string half_ = test::keyPair("pair", {next_.certificate, test::server().key});
  const std::string replaced_ = test::keyPair("pair", next_);
};

class HalfRotatedListener : public HalfRotated {
 protected:
  World world(const std::string& secret, const World* previous, const std::string& more = {}) const {
    return World({kClass, gateway_, kBackend, kRoute, secret, more}, previous);
  }
  static std::string message(const World& world, std::string_view type) {
    const config::ListenerStatus* listener = world.listenerStatus("egress", "web");
    const config::Condition* found = listener == nullptr ? nullptr : config::findCondition(listener->conditions, type);
    return found == nullptr ? "" : found->message;
  }
  static std::string served(const World& world) {
    const routing::Bind* bind = world.bind(80);
    return bind == nullptr ? "" : bind->identities.at(0).certificate->fingerprint();
  }

  const std::string gateway_ =
      gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair}]}}");
};

TEST_F(HalfRotatedListener, ServesTheLastGoodPairAndIsDegraded) {
  const World good = world(good_, nullptr);
  const World half = world(half_, &good);
  EXPECT_EQ(served(half), fingerprintIn(test::server()));
  EXPECT_EQ(half.outcome(), "default/origin");
  EXPECT_EQ(half.listenerCondition("egress", "web", "ResolvedRefs"), "False/InvalidCertificateRef");
  EXPECT_EQ(half.listenerCondition("egress", "web", "Programmed"), "True/Programmed");
  EXPECT_EQ(half.listenerCondition("egress", "web", "Degraded"), "True/InvalidCertificateRef");
  EXPECT_EQ(half.condition("Gateway", "egress", "Programmed"), "True/Programmed");
  EXPECT_EQ(half.condition("Gateway", "egress", "ResolvedRefs"), "False/ListenersNotResolved");
  EXPECT_EQ(half.condition("Gateway", "egress", "Degraded"), "True/InvalidCertificateRef");
  EXPECT_THAT(message(half, "ResolvedRefs"),
              AllOf(StartsWith("spec.listeners[0].tls.certificateRefs[0]: Secret default/pair: "),
                    HasSubstr("tls.key does not belong to tls.crt"), EndsWith(serving(test::server()))));
  EXPECT_EQ(message(half, "Degraded"), message(half, "ResolvedRefs"));
  EXPECT_FALSE(config::isHealthy(*half.status("Gateway", "egress")));

  const World again = world(half_, &half);
  EXPECT_EQ(served(again), fingerprintIn(test::server()));
  const World replaced = world(replaced_, &again);
  EXPECT_EQ(served(replaced), fingerprintIn(next_));
  EXPECT_EQ(replaced.listenerCondition("egress", "web", "Degraded"), "");
  EXPECT_EQ(replaced.condition("Gateway", "egress", "Degraded"), "");
  EXPECT_TRUE(config::isHealthy(*replaced.status("Gateway", "egress")));
}

TEST_F(HalfRotatedListener, ServesThePairOfASecretThatItsSchemaRefuses) {
  const World good = world(good_, nullptr);
  const World refused = world(good_ + "surprise: 1\n", &good);
  EXPECT_EQ(served(refused), fingerprintIn(test::server()));
  EXPECT_EQ(refused.listenerCondition("egress", "web", "Degraded"), "True/InvalidCertificateRef");
  EXPECT_THAT(message(refused, "ResolvedRefs"), HasSubstr("it is not valid: surprise: unknown field"));
  config::Model expired = refused.model();
  expired.lastPairs.clear();
  const auto found = resolveKeyPair(
      expired, {.group = "", .kind = "Secret", .nameSpace = "", .name = "pair", .path = {}, .position = {}},
      {config::kGatewayGroup, "Gateway", "default"}, "InvalidCertificateRef");
  EXPECT_FALSE(found) << "it served on no longer than its pair";
}

TEST_F(HalfRotatedListener, ClosesWithoutALastGoodPair) {
  const World start = world(half_, nullptr);
  EXPECT_EQ(served(start), "");
  EXPECT_EQ(start.listenerCondition("egress", "web", "Programmed"), "False/Invalid");
  EXPECT_EQ(start.listenerCondition("egress", "web", "Degraded"), "");
  EXPECT_EQ(start.condition("Gateway", "egress", "Degraded"), "");
}

TEST_F(HalfRotatedListener, ClosesWhenTheSecretGoes) {
  const World good = world(good_, nullptr);
  const World half = world(half_, &good);
  const World gone = world("", &half);
  EXPECT_EQ(served(gone), "");
  EXPECT_EQ(gone.listenerCondition("egress", "web", "Degraded"), "");
  EXPECT_EQ(served(world(half_, &gone)), "");
}

TEST_F(HalfRotatedListener, ClosesWhenAnotherOfItsCertificatesIsMissing) {
  const std::string two =
      gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair}, {name: other}]}}");
  const std::string other = test::keyPair("other", next_);
  const World good({kClass, two, kBackend, kRoute, good_, other});
  const World half({kClass, two, kBackend, kRoute, half_, other}, &good);
  ASSERT_NE(half.bind(80), nullptr);
  EXPECT_EQ(half.bind(80)->identities.size(), 2U);
  const World gone({kClass, two, kBackend, kRoute, half_}, &half);
  EXPECT_EQ(gone.bind(80), nullptr);
  EXPECT_EQ(gone.listenerCondition("egress", "web", "Programmed"), "False/Invalid");
  EXPECT_EQ(gone.listenerCondition("egress", "web", "Degraded"), "");
}

TEST_F(HalfRotatedListener, ClosesWhenTheGrantGoes) {
  const std::string gateway =
      gatewayWith("{name: web, protocol: HTTPS, port: 80, tls: {certificateRefs: [{name: pair, namespace: keys}]}}");
  const std::string grant =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: keys}\n"
      "spec: {from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: default}], to: [{group: '', kind: "
      "Secret}]}\n";
  const auto elsewhere = [](const std::string& secret) {
    return with(secret, "{name: pair}", "{name: pair, namespace: keys}");
  };
  const World good({kClass, gateway, kBackend, kRoute, elsewhere(good_), grant});
  const World half({kClass, gateway, kBackend, kRoute, elsewhere(half_), grant}, &good);
  EXPECT_EQ(served(half), fingerprintIn(test::server()));
  const World gone({kClass, gateway, kBackend, kRoute, elsewhere(half_)}, &half);
  EXPECT_EQ(served(gone), "");
  EXPECT_EQ(gone.listenerCondition("egress", "web", "ResolvedRefs"), "False/RefNotPermitted");
  EXPECT_EQ(gone.listenerCondition("egress", "web", "Degraded"), "");
}

class HalfRotatedBackend : public HalfRotated {
 protected:
  World world(const std::string& secret, const World* previous) const {
    return World({kClass, kGateway, backend_, kRoute, secret, ca_}, previous);
  }
  static std::string shown(const World& world) {
    return world.outcome() == "500" ? "" : test::firstPlan(world).tls->clientCertificate->fingerprint();
  }

  const std::string ca_ = test::configMap("ca", "ca.crt", test::authority().certificate);
  const std::string backend_ = with(
      kBackend, "spec: {", "spec: {tls: {mode: Mutual, caBundleRef: {name: ca}, clientCertificateRef: {name: pair}}, ");
};

TEST_F(HalfRotatedBackend, ShowsTheLastGoodPairAndIsDegraded) {
  const World good = world(good_, nullptr);
  const World half = world(half_, &good);
  EXPECT_EQ(shown(half), fingerprintIn(test::server()));
  EXPECT_EQ(test::firstPlan(half).identity, test::firstPlan(good).identity) << "its connections stay";
  EXPECT_EQ(half.condition("Backend", "origin", "ResolvedRefs"), "False/InvalidClientCertificateRef");
  EXPECT_EQ(half.condition("Backend", "origin", "Programmed"), "True/Programmed");
  EXPECT_EQ(half.condition("Backend", "origin", "Available"), "True/Available");
  EXPECT_EQ(half.condition("Backend", "origin", "Degraded"), "True/InvalidClientCertificateRef");
  EXPECT_THAT(half.message("Backend", "origin", "ResolvedRefs"), EndsWith(serving(test::server())));
  EXPECT_EQ(half.condition("HTTPRoute", "route", "ResolvedRefs"), "True/ResolvedRefs");
  const World replaced = world(replaced_, &half);
  EXPECT_EQ(shown(replaced), fingerprintIn(next_));
  EXPECT_EQ(replaced.condition("Backend", "origin", "Degraded"), "");
  EXPECT_TRUE(config::isHealthy(*replaced.status("Backend", "origin")));
}

TEST_F(HalfRotatedBackend, IsNotServedWithoutALastGoodPair) {
  EXPECT_EQ(shown(world(half_, nullptr)), "");
  const World good = world(good_, nullptr);
  const World half = world(half_, &good);
  const World gone = world("", &half);
  EXPECT_EQ(shown(gone), "");
  EXPECT_EQ(gone.condition("Backend", "origin", "Degraded"), "");
}

TEST_F(HalfRotatedBackend, KeepsItsOwnPairUnderThePolicyForIt) {
  const std::string policy =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: p}\nspec:\n"
      "  targetRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin}]\n"
      "  validation: {hostname: origin.test, caCertificateRefs: [{group: '', kind: ConfigMap, name: ca}]}\n";
  const World good({kClass, kGateway, backend_, kRoute, good_, ca_, policy});
  const World half({kClass, kGateway, backend_, kRoute, half_, ca_, policy}, &good);
  EXPECT_EQ(shown(half), fingerprintIn(test::server()));
  EXPECT_EQ(half.condition("Backend", "origin", "Degraded"), "True/InvalidClientCertificateRef");
}

}  // namespace
}  // namespace sluice::compile
