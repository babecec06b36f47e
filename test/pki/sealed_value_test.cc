#include "proxy/pki/sealed_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <set>

namespace sluice::pki {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

base::Secret key(char fill) { return base::Secret(std::string(ValueSealer::kLeastKeyBytes, fill)); }

TEST(SealedValue, OpensForItsScopeAndNoOther) {
  const ValueSealer sealer(key('a'));
  const auto sealed = sealer.seal("10.0.0.7:8080", "route/one");
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->size(), ValueSealer::sealedSize(13));
  const auto opened = sealer.open(*sealed, "route/one");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->value, "10.0.0.7:8080");
  EXPECT_FALSE(opened->byPrevious);
  EXPECT_FALSE(sealer.open(*sealed, "route/two"));
  EXPECT_FALSE(sealer.open(*sealed, ""));
}

TEST(SealedValue, RevealsNothingOfItsValue) {
  const ValueSealer sealer(key('a'));
  std::set<std::string> all;
  for (int i = 0; i < 50; ++i) all.insert(*sealer.seal("same", "scope"));
  EXPECT_EQ(all.size(), 50U);
  for (const std::string& each : all) {
    EXPECT_THAT(each, Not(HasSubstr("same")));
    EXPECT_EQ(each.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos);
  }
}

TEST(SealedValue, HasTheAnnouncedSizeForEveryValue) {
  const ValueSealer sealer(key('a'));
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string value(size, 'v');
    const auto sealed = sealer.seal(value, "scope");
    ASSERT_TRUE(sealed);
    EXPECT_EQ(sealed->size(), ValueSealer::sealedSize(size));
    const auto opened = sealer.open(*sealed, "scope");
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->value, value);
  }
}

TEST(SealedValue, DoesNotOpenIfOneCharacterIsChanged) {
  const ValueSealer sealer(key('a'));
  const std::string sealed = *sealer.seal("value", "scope");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    for (const char other : {'A', 'B', '_', '=', '+', '\0'}) {
      if (sealed[i] == other) continue;
      std::string forged = sealed;
      forged[i] = other;
      EXPECT_FALSE(sealer.open(forged, "scope")) << i;
    }
  }
  for (const std::string& forged : {std::string(), std::string("A"), sealed.substr(1), sealed + "A", sealed + "=",
                                    std::string(60, 'A'), std::string(100000, 'A'), "\"" + sealed + "\""}) {
    EXPECT_FALSE(sealer.open(forged, "scope"));
  }
  EXPECT_EQ(ERR_peek_error(), 0U) << "the next TLS call of the thread would look failed";
}

TEST(SealedValue, DoesNotOpenWithAnotherKey) {
  const std::string sealed = *ValueSealer(key('a')).seal("value", "scope");
  EXPECT_TRUE(ValueSealer(key('a')).open(sealed, "scope")) << "another process, the same key";
  EXPECT_FALSE(ValueSealer(key('b')).open(sealed, "scope"));
  EXPECT_FALSE(ValueSealer(base::Secret(std::string(ValueSealer::kLeastKeyBytes + 1, 'a'))).open(sealed, "scope"));
}

TEST(SealedValue, OpensWithThePreviousKeyAndReportsIt) {
  const std::string sealed = *ValueSealer(key('a')).seal("value", "scope");
  const ValueSealer rotated(key('b'), key('a'));
  const auto opened = rotated.open(sealed, "scope");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->value, "value");
  EXPECT_TRUE(opened->byPrevious);
  const auto renewed = rotated.open(*rotated.seal("value", "scope"), "scope");
  ASSERT_TRUE(renewed);
  EXPECT_FALSE(renewed->byPrevious);
}

TEST(SealedValue, OpensOnlyWithItsOwnRandomKey) {
  const auto one = ValueSealer::withRandomKey();
  const auto other = ValueSealer::withRandomKey();
  const std::string sealed = *one->seal("value", "scope");
  EXPECT_TRUE(one->open(sealed, "scope"));
  EXPECT_FALSE(other->open(sealed, "scope"));
}

}  // namespace
}  // namespace sluice::pki
