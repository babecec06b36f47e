#include "proxy/pki/spki_pin.h"

#include <gtest/gtest.h>

#include "proxy/pki/certificate.h"
#include "test/support/test_pki.h"

namespace sluice::pki {
namespace {

constexpr const char* kPin = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";  // the digest of an empty key

TEST(SpkiPin, IsReadFromItsBase64) {
  const auto pin = parseSpkiPin(kPin);
  ASSERT_TRUE(pin.ok()) << pin.error().detail;
  EXPECT_EQ((*pin)[0], 0xe3);
  EXPECT_EQ((*pin)[31], 0x55);
}

TEST(SpkiPin, RefusesTextThatIsNoDigest) {
  const std::string good = kPin;
  for (const std::string& text : {std::string(), good.substr(1), good + "=", good.substr(0, 43) + "A",
                                  good.substr(0, 42) + "==", " " + good.substr(1), "sha256/" + good,
                                  std::string("-_") + good.substr(2), std::string(44, '=')}) {
    EXPECT_FALSE(parseSpkiPin(text).ok()) << text;
  }
  EXPECT_EQ(parseSpkiPin("a\nb").error().detail, "'a?b' is not the base64 of a SHA-256 digest");
}

TEST(SpkiPin, DependsOnTheKeyAndNotOnTheCertificate) {
  const auto root = test::makeAuthority();
  for (const auto type : {test::KeyType::kEcP256, test::KeyType::kRsa2048, test::KeyType::kEd25519}) {
    test::CertificateSpec spec;
    spec.keyType = type;
    const auto leaf = test::issue(root, spec);
    const auto chain = CertificateChain::parse(leaf.certificate);
    EXPECT_EQ(spkiPinOf(chain->leaf()), *parseSpkiPin(test::spkiPin(leaf)));
    EXPECT_NE(spkiPinOf(chain->leaf()), *parseSpkiPin(test::spkiPin(root)));
  }
}

}  // namespace
}  // namespace sluice::pki
