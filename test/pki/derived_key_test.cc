#include "proxy/pki/derived_key.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::pki {
namespace {

std::string derived(const std::string& key, const std::string& purpose) {
  const auto made = deriveKey(base::Secret(key), purpose);
  EXPECT_TRUE(made.ok());
  return made.ok() ? std::string(made->reveal()) : std::string();
}

std::string fromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

// RFC 5869 appendix A.3, the first 32 bytes: SHA-256 without salt and info.
TEST(DerivedKey, IsThatOfHkdf) {
  const std::string key = fromHex("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b");
  EXPECT_EQ(derived(key, ""), fromHex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"));
}

TEST(DerivedKey, DiffersByKeyAndPurpose) {
  const std::string key(32, 'k');
  EXPECT_EQ(derived(key, "a").size(), kDerivedKeyBytes);
  EXPECT_EQ(derived(key, "a"), derived(key, "a"));
  EXPECT_NE(derived(key, "a"), derived(key, "b"));
  EXPECT_NE(derived(key, "a"), derived(std::string(32, 'j'), "a"));
}

}  // namespace
}  // namespace sluice::pki
