#include "proxy/pki/private_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include "test/support/test_pki.h"

namespace sluice::pki {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string keyErrorOf(const std::string& pem) {
  const auto key = PrivateKey::parse(base::Secret(pem));
  EXPECT_EQ(ERR_peek_error(), 0u);
  if (key.ok()) return "";
  EXPECT_EQ(key.error().origin, base::ErrorOrigin::kConfig);
  return key.error().detail;
}

test::CertifiedKey identityOf(test::KeyType type) {
  test::CertificateSpec spec;
  spec.keyType = type;
  return test::selfSigned(spec);
}

class PrivateKeyOfType : public ::testing::TestWithParam<test::KeyType> {};

TEST_P(PrivateKeyOfType, MatchesItsOwnCertificateAndNoOther) {
  const auto mine = identityOf(GetParam());
  const auto other = identityOf(GetParam());
  const auto key = PrivateKey::parse(mine.secretKey());
  ASSERT_TRUE(key.ok()) << key.error().detail;
  EXPECT_TRUE(key->matches(CertificateChain::parse(mine.certificate).value()));
  EXPECT_FALSE(key->matches(CertificateChain::parse(other.certificate).value()));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, PrivateKeyOfType,
                         ::testing::Values(test::KeyType::kEcP256, test::KeyType::kRsa2048, test::KeyType::kEd25519));

TEST(PrivateKey, DoesNotMatchACertificateOfAnotherAlgorithm) {
  const auto key = PrivateKey::parse(identityOf(test::KeyType::kRsa2048).secretKey());
  ASSERT_TRUE(key.ok());
  EXPECT_FALSE(key->matches(CertificateChain::parse(identityOf(test::KeyType::kEcP256).certificate).value()));
  EXPECT_EQ(ERR_peek_error(), 0u);
}

TEST(PrivateKey, IsReadInItsTraditionalFormToo) {
  for (const auto type : {test::KeyType::kEcP256, test::KeyType::kRsa2048}) {
    EXPECT_EQ(keyErrorOf(test::traditionalKey(identityOf(type))), "");
  }
}

TEST(PrivateKey, IsFoundBehindOtherBlocks) {
  const auto identity = identityOf(test::KeyType::kEcP256);
  const std::string parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
  EXPECT_EQ(keyErrorOf(parameters + test::traditionalKey(identity)), "");
  EXPECT_EQ(keyErrorOf(identity.certificate + identity.key), "");
}

TEST(PrivateKey, IsRefusedWithAPassphraseWithoutAskingForIt) {
  const auto identity = identityOf(test::KeyType::kEcP256);
  EXPECT_THAT(keyErrorOf(test::encryptKey(identity, "open sesame")), HasSubstr("encrypted"));
  EXPECT_THAT(
      keyErrorOf("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
                 "DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"),
      HasSubstr("encrypted"));
}

TEST(PrivateKey, DescribesTheFaultAndNeverQuotesTheKey) {
  const auto identity = identityOf(test::KeyType::kEcP256);
  EXPECT_EQ(keyErrorOf(""), "no private key in it");
  EXPECT_EQ(keyErrorOf(identity.certificate), "no private key in it");
  std::string damaged = identity.key;
  damaged.replace(damaged.find('\n') + 1, 4, "AAAA");
  EXPECT_THAT(keyErrorOf(damaged), HasSubstr("not a private key: "));
  const std::string cut = identity.key.substr(0, 100);
  EXPECT_THAT(keyErrorOf(cut), HasSubstr("block 1: not PEM: "));
  EXPECT_THAT(keyErrorOf(cut), Not(HasSubstr(identity.key.substr(40, 10))));
}

TEST(PrivateKey, MovesWithItsKey) {
  auto first = PrivateKey::parse(identityOf(test::KeyType::kEcP256).secretKey());
  auto second = PrivateKey::parse(identityOf(test::KeyType::kEcP256).secretKey());
  ASSERT_TRUE(first.ok() && second.ok());
  const auto* bytes = second->get();
  first.value() = std::move(second).value();
  EXPECT_EQ(first->get(), bytes);
}

}  // namespace
}  // namespace sluice::pki
