#include "proxy/pki/trust_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "proxy/pki/certificate.h"
#include "test/support/test_pki.h"

namespace sluice::pki {
namespace {

using ::testing::HasSubstr;

bool trusts(const TrustStore& trust, const std::string& pem) {
  const auto chain = CertificateChain::parse(pem);
  EXPECT_TRUE(chain.ok());
  X509_STORE_CTX* context = X509_STORE_CTX_new();
  X509_STORE_CTX_init(context, trust.get(), chain->leaf(), nullptr);
  const bool verified = X509_verify_cert(context) == 1;
  X509_STORE_CTX_free(context);
  ERR_clear_error();
  return verified;
}

TEST(TrustStore, TrustsOnlyCertificatesOfItsAuthorities) {
  const auto one = test::makeAuthority("one");
  const auto two = test::makeAuthority("two");
  const auto trust = TrustStore::parse(one.certificate + two.certificate);
  ASSERT_TRUE(trust.ok()) << trust.error().detail;
  EXPECT_TRUE(trusts(*trust, test::issueServer(one, "a.test").certificate));
  EXPECT_TRUE(trusts(*trust, test::issueServer(two, "a.test").certificate));
  EXPECT_FALSE(trusts(*trust, test::issueServer(test::makeAuthority("one"), "a.test").certificate));
}

TEST(TrustStore, TrustsAnIntermediateOrAPinnedCertificateWithoutItsRoot) {
  const auto root = test::makeAuthority();
  test::CertificateSpec spec;
  spec.commonName = "intermediate";
  spec.authority = true;
  const auto intermediate = test::issue(root, spec);
  const auto leaf = test::issueServer(intermediate, "a.test");
  EXPECT_TRUE(trusts(TrustStore::parse(intermediate.certificate).value(), leaf.certificate));
  EXPECT_TRUE(trusts(TrustStore::parse(leaf.certificate).value(), leaf.certificate));
  EXPECT_FALSE(trusts(TrustStore::parse(root.certificate).value(), leaf.certificate)) << "the intermediate is missing";
}

TEST(TrustStore, AcceptsTheSameAuthorityTwice) {
  const auto root = test::makeAuthority();
  EXPECT_TRUE(TrustStore::parse(root.certificate + root.certificate).ok());
}

TEST(TrustStore, HasAFingerprintOfItsContents) {
  const auto one = test::makeAuthority();
  const auto two = test::makeAuthority();
  EXPECT_EQ(TrustStore::parse(one.certificate)->fingerprint(), TrustStore::parse(one.certificate)->fingerprint());
  EXPECT_NE(TrustStore::parse(one.certificate)->fingerprint(), TrustStore::parse(two.certificate)->fingerprint());
}

TEST(TrustStore, NamesTheFaultyBlockInItsErrors) {
  const auto one = test::makeAuthority();
  const auto empty = TrustStore::parse("");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().detail, "no certificate in it");
  EXPECT_EQ(empty.error().origin, base::ErrorOrigin::kConfig);
  const auto key = TrustStore::parse(one.certificate + one.key);
  ASSERT_FALSE(key.ok());
  EXPECT_THAT(key.error().detail, HasSubstr("block 2: "));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(TrustStore, DescribesTheFaultOfARevocationList) {
  const auto root = test::makeAuthority();
  const auto certificate = TrustStore::parse(root.certificate, root.certificate);
  ASSERT_FALSE(certificate.ok());
  EXPECT_EQ(certificate.error().detail, "revocation lists: block 1: a CERTIFICATE, not a certificate revocation list");
  const auto text = TrustStore::parse(root.certificate, "nothing");
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().detail, "revocation lists: no certificate revocation list in it");
  std::string broken = test::revocationList(root, {});
  broken.replace(broken.find('\n') + 1, 4, "AAAA");
  EXPECT_THAT(TrustStore::parse(root.certificate, broken).error().detail,
              HasSubstr("block 1: not a certificate revocation list"));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(TrustStore, HasAnotherFingerprintWithARevocationList) {
  const auto root = test::makeAuthority();
  const auto list = test::revocationList(root, {});
  const auto with = TrustStore::parse(root.certificate, list);
  ASSERT_TRUE(with.ok()) << with.error().detail;
  EXPECT_NE(with->fingerprint(), TrustStore::parse(root.certificate)->fingerprint());
  EXPECT_EQ(with->fingerprint(), TrustStore::parse(root.certificate, list)->fingerprint());
}

TEST(TrustStore, ReturnsTheFirstExpiryOfItsLists) {
  const auto root = test::makeAuthority();
  EXPECT_EQ(TrustStore::parse(root.certificate)->listsExpire(), base::WallTime::max());
  const auto lists = test::revocationList(root, {}, std::chrono::hours(3)) +
                     test::revocationList(root, {}, std::chrono::hours(1)) +
                     test::revocationList(root, {}, std::chrono::hours(2));
  const auto trust = TrustStore::parse(root.certificate, lists);
  const auto left = trust->listsExpire() - std::chrono::system_clock::now();
  EXPECT_GT(left, std::chrono::minutes(58));
  EXPECT_LE(left, std::chrono::hours(1));
  const base::WallTime first = trust->listsExpire();
  EXPECT_GT(trust->listsExpire(first), first + std::chrono::minutes(59)) << "the next one";
  EXPECT_EQ(trust->listsExpire(first + std::chrono::hours(3)), base::WallTime::max());
}

TEST(TrustStore, DoesNotTrustATestsAuthorityByTheSystemsOnes) {
  const auto trust = TrustStore::system();
  ASSERT_TRUE(trust.ok()) << trust.error().detail;
  EXPECT_EQ(trust->fingerprint(), TrustStore::systemFingerprint());
  EXPECT_FALSE(trusts(*trust, test::issueServer(test::makeAuthority(), "a.test").certificate));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(TrustStore, HasAnotherFingerprintOnceTheSystemsFilesChange) {
  const std::string path = testing::TempDir() + "sluice-trust-store-test-" + std::to_string(getpid());
  std::ofstream(path) << test::makeAuthority().certificate;
  setenv("SSL_CERT_FILE", path.c_str(), 1);
  const std::string before = TrustStore::systemFingerprint();
  EXPECT_EQ(TrustStore::systemFingerprint(), before);
  std::ofstream(path, std::ios::app) << test::makeAuthority().certificate;
  const std::string after = TrustStore::systemFingerprint();
  unsetenv("SSL_CERT_FILE");
  std::filesystem::remove(path);
  EXPECT_NE(after, before);
  EXPECT_NE(TrustStore::systemFingerprint(), after);
}

TEST(TrustStore, MovesWithItsContents) {
  const auto one = test::makeAuthority();
  TrustStore trust = TrustStore::parse(test::makeAuthority().certificate).value();
  trust = TrustStore::parse(one.certificate, test::revocationList(one, {})).value();
  EXPECT_TRUE(trusts(trust, one.certificate));
  EXPECT_NE(trust.listsExpire(), base::WallTime::max());
}

}  // namespace
}  // namespace sluice::pki
