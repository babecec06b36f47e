#include "proxy/pki/caller_names.h"

#include <gtest/gtest.h>
#include <openssl/err.h>

#include "test/support/peer_chains.h"

namespace sluice::pki {
namespace {

const std::string kApi = "spiffe://cluster.local/ns/payments/sa/api";

base::Caller callerOfSpec(const test::CertificateSpec& spec) {
  const base::Caller caller = callerOf(*test::shownBy(test::selfSigned(spec)), {"other.test", "cluster.local"});
  EXPECT_EQ(caller.assurance, base::Assurance::kCertificate);
  EXPECT_EQ(ERR_peek_error(), 0U);
  return caller;
}

std::string principalOf(const test::CertificateSpec& spec) {
  const base::Caller caller = callerOfSpec(spec);
  EXPECT_EQ(caller.nameSpace + caller.serviceAccount, "");
  return caller.principal;
}

TEST(CallerOf, TakesNamespaceAndAccountFromASpiffeId) {
  test::CertificateSpec spec;
  spec.uris = {kApi};
  spec.dnsNames = {"api.test"};
  const base::Caller caller = callerOfSpec(spec);
  EXPECT_EQ(caller.principal, kApi);
  EXPECT_EQ(caller.nameSpace, "payments");
  EXPECT_EQ(caller.serviceAccount, "api");
}

TEST(CallerOf, TakesNoNamespaceFromAForeignTrustDomain) {
  test::CertificateSpec spec;
  for (const char* domain : {"cluster.locale", "sub.cluster.local", "local", "cluster"}) {
    spec.uris = {"spiffe://" + std::string(domain) + "/ns/payments/sa/api"};
    EXPECT_EQ(principalOf(spec), spec.uris.front());
  }
  spec.uris = {kApi};
  const base::Caller caller = callerOf(*test::shownBy(test::selfSigned(spec)), {});
  EXPECT_EQ(caller.nameSpace, "") << "no trust domain at all";
  EXPECT_EQ(caller.principal, kApi);
}

TEST(CallerOf, TakesTheFirstNameThatThereIs) {
  test::CertificateSpec spec;
  spec.commonName = "workload";
  EXPECT_EQ(principalOf(spec), "CN=workload");
  spec.dnsNames = {"API.test", "b.test"};
  EXPECT_EQ(principalOf(spec), "api.test");
  spec.uris = {"urn:one", "urn:two"};
  EXPECT_EQ(principalOf(spec), "urn:one");
  spec.uris = {"spiffe://cluster.local/some/thing"};
  EXPECT_EQ(principalOf(spec), "spiffe://cluster.local/some/thing");
}

TEST(CallerOf, HasNoNameIfTheCertificateHasNone) {
  test::CertificateSpec spec;
  spec.commonName = "";
  EXPECT_EQ(principalOf(spec), "");
  spec.ipAddresses = {"127.0.0.1"};
  EXPECT_EQ(principalOf(spec), "");
}

TEST(CallerOf, TakesNobodyForTheBearerOfAnIdThatIsNotTheOnlyUri) {
  test::CertificateSpec spec;
  spec.commonName = "workload";
  for (const std::string& other : {std::string("spiffe://cluster.local/ns/payments/sa/admin"), kApi, std::string("a:b"),
                                   std::string("a:\0b", 4), std::string()}) {
    spec.uris = {kApi, other};
    EXPECT_EQ(principalOf(spec), other == "a:b" ? "a:b" : "CN=workload") << other;
    spec.uris = {other, kApi};
    EXPECT_EQ(principalOf(spec), other == "a:b" ? "a:b" : "CN=workload") << other;
  }
}

TEST(CallerOf, TakesNobodyForTheBearerOfABrokenId) {
  test::CertificateSpec spec;
  spec.commonName = "workload";
  for (const char* uri : {"spiffe://cluster.local/ns/payments/../sa/api", "SPIFFE://cluster.local/ns/payments/sa/api",
                          "spiffe://cluster.local:443/ns/payments/sa/api", "spiffe:cluster.local",
                          "spiffe://cluster.local/ns/payments/sa/api?a", "sPiFfE://cluster.local/"}) {
    spec.uris = {uri};
    EXPECT_EQ(principalOf(spec), "CN=workload") << uri;
  }
}

TEST(CallerOf, TakesNoSpiffeIdFromAnAuthority) {
  test::CertificateSpec spec;
  spec.commonName = "authority";
  spec.authority = true;
  spec.uris = {kApi};
  EXPECT_EQ(principalOf(spec), "CN=authority");
}

TEST(CallerOf, PassesOverNamesThatCouldBeMistakenInLogsAndFields) {
  test::CertificateSpec spec;
  spec.commonName = "workload";
  for (const std::string& uri :
       {std::string("payments/api"), std::string("urn:a\r\nx: y"), std::string("urn:a b"), std::string(" urn:a"),
        std::string("urn:a\0b", 7), std::string("urn:\xC3\xBC"), std::string("urn:\x7f"), std::string(":a"),
        std::string("1a:b"), std::string("pay/ments:a"), "urn:" + std::string(2045, 'a'), std::string()}) {
    spec.uris = {uri};
    EXPECT_EQ(principalOf(spec), "CN=workload") << uri;
  }
  spec.uris = {"urn:" + std::string(2044, 'a')};
  EXPECT_EQ(principalOf(spec), spec.uris.front());
  spec.uris = {};
  spec.dnsNames = {"payments/api", "a b", std::string(2049, 'a')};
  EXPECT_EQ(principalOf(spec), "CN=workload");
  spec.commonName = "payments/api";
  EXPECT_EQ(principalOf(spec), "CN=payments/api");
}

}  // namespace
}  // namespace sluice::pki
