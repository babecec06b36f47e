#include "proxy/pki/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "proxy/pki/pem.h"
#include "test/support/test_pki.h"

namespace sluice::pki {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string chainErrorOf(std::string_view pem) {
  const auto chain = CertificateChain::parse(pem);
  EXPECT_EQ(ERR_peek_error(), 0u);
  if (chain.ok()) return "";
  EXPECT_EQ(chain.error().origin, base::ErrorOrigin::kConfig);
  return chain.error().detail;
}

TEST(CertificateChain, HoldsTheLeafAndItsIntermediates) {
  const auto root = test::makeAuthority();
  test::CertificateSpec middle;
  middle.authority = true;
  const auto intermediate = test::issue(root, middle);
  const auto leaf = test::issueServer(intermediate, "a.example.com");
  const auto chain = CertificateChain::parse(leaf.certificate + intermediate.certificate);
  ASSERT_TRUE(chain.ok()) << chain.error().detail;
  EXPECT_NE(chain->leaf(), nullptr);
  EXPECT_EQ(chain->intermediates().size(), 1u);
  EXPECT_THAT(chain->dnsNames(), ElementsAre("a.example.com"));
}

TEST(CertificateChain, SkipsTextBetweenTheBlocks) {
  const auto one = test::makeAuthority();
  const auto chain = CertificateChain::parse("subject=/CN=one\n" + one.certificate + "\nand so on\n");
  EXPECT_TRUE(chain.ok());
}

TEST(CertificateChain, ReturnsDnsNamesInLowerCaseAndNeverTheCommonName) {
  test::CertificateSpec spec;
  spec.commonName = "cn.example.com";
  spec.dnsNames = {"API.Example.COM", "*.Example.com"};
  const auto chain = CertificateChain::parse(test::selfSigned(spec).certificate);
  ASSERT_TRUE(chain.ok());
  EXPECT_THAT(chain->dnsNames(), ElementsAre("api.example.com", "*.example.com"));

  spec.dnsNames.clear();
  const auto nameless = CertificateChain::parse(test::selfSigned(spec).certificate);
  ASSERT_TRUE(nameless.ok());
  EXPECT_THAT(nameless->dnsNames(), IsEmpty());
}

TEST(CertificateChain, LeavesOutANameWithANulInIt) {
  test::CertificateSpec spec;
  spec.dnsNames = {std::string("good.example.com\0.evil.test", 27), "fine.example.com"};
  const auto chain = CertificateChain::parse(test::selfSigned(spec).certificate);
  ASSERT_TRUE(chain.ok());
  EXPECT_THAT(chain->dnsNames(), ElementsAre("fine.example.com"));
}

TEST(CertificateChain, ReturnsItsExpiry) {
  test::CertificateSpec spec;
  spec.notAfter = std::chrono::hours(48);
  const auto chain = CertificateChain::parse(test::selfSigned(spec).certificate);
  ASSERT_TRUE(chain.ok());
  const auto left = chain->notAfter() - std::chrono::system_clock::now();
  EXPECT_LE(left, std::chrono::hours(48));
  EXPECT_GT(left, std::chrono::hours(47));
}

TEST(CertificateChain, NeverExpiresInThePastIfTheYearIs9999) {
  test::CertificateSpec spec;
  spec.notAfter = std::chrono::hours(24 * 365 * 400);
  const auto chain = CertificateChain::parse(test::selfSigned(spec).certificate);
  ASSERT_TRUE(chain.ok());
  EXPECT_EQ(chain->notAfter(), base::WallTime::max());
}

TEST(CertificateChain, HasAFingerprintOfTheWholeChain) {
  const auto one = test::makeAuthority();
  const auto two = test::makeAuthority();
  const auto first = CertificateChain::parse(one.certificate);
  const auto again = CertificateChain::parse("a comment\n" + one.certificate);
  const auto both = CertificateChain::parse(one.certificate + two.certificate);
  ASSERT_TRUE(first.ok() && again.ok() && both.ok());
  EXPECT_EQ(first->fingerprint().size(), 64u);
  EXPECT_EQ(first->fingerprint(), again->fingerprint());
  EXPECT_NE(first->fingerprint(), both->fingerprint());
}

TEST(CertificateChain, NamesTheFaultyBlockInItsErrors) {
  const auto one = test::makeAuthority();
  EXPECT_EQ(chainErrorOf(""), "no certificate in it");
  EXPECT_EQ(chainErrorOf("hello"), "no certificate in it");
  EXPECT_EQ(chainErrorOf(one.certificate + one.key), "block 2: a PRIVATE KEY, not a certificate");
  EXPECT_THAT(chainErrorOf(one.certificate + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
              HasSubstr("block 2: not a certificate: "));
  EXPECT_THAT(chainErrorOf(one.certificate + "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n"),
              HasSubstr("block 2: not PEM: bad base64 decode"));
  EXPECT_THAT(chainErrorOf(one.certificate.substr(0, one.certificate.size() / 2)), HasSubstr("block 1: not PEM: "));
}

TEST(CertificateChain, RefusesBytesBehindACertificate) {
  auto blocks = readPem(test::makeAuthority().certificate);
  ASSERT_TRUE(blocks.ok());
  ASSERT_EQ(blocks->size(), 1u);
  EXPECT_EQ(blocks->front().label, "CERTIFICATE");
  const std::string der = std::string(blocks->front().der.reveal()) + "and more";
  std::string base64(4 * (der.size() + 2) / 3 + 4, '\0');
  base64.resize(static_cast<std::size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(base64.data()),
                                                         reinterpret_cast<const unsigned char*>(der.data()),
                                                         static_cast<int>(der.size()))));
  for (std::size_t at = 64; at < base64.size(); at += 65) base64.insert(at, 1, '\n');
  EXPECT_EQ(chainErrorOf("-----BEGIN CERTIFICATE-----\n" + base64 + "\n-----END CERTIFICATE-----\n"),
            "block 1: not a certificate: bytes behind its end");
}

TEST(Pem, IsRefusedAboveItsBound) {
  std::string pem = test::makeAuthority().certificate;
  pem.resize(kMaxPemBytes, '\n');
  EXPECT_TRUE(readPem(pem).ok());
  pem.push_back('\n');
  EXPECT_FALSE(readPem(pem).ok());
}

}  // namespace
}  // namespace sluice::pki
