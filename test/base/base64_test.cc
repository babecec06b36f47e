#include "proxy/base/base64.h"

#include <gtest/gtest.h>

namespace sluice::base {
namespace {

TEST(Base64, DecodesEveryLengthOfPadding) {
  EXPECT_EQ(decodeBase64(""), "");
  EXPECT_EQ(decodeBase64("Zg=="), "f");
  EXPECT_EQ(decodeBase64("Zm8="), "fo");
  EXPECT_EQ(decodeBase64("Zm9v"), "foo");
  EXPECT_EQ(decodeBase64("Zm9vYmFy\n"), "foobar");
  EXPECT_EQ(decodeBase64("+/+/"), "\xFB\xFF\xBF");
}

TEST(Base64, IsStrict) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Zm9v=", "Zg==Zg==", "Zh==", "Zm9=", "====", "Zm-_", "Zm 9v", "=Zg="}) {
    EXPECT_EQ(decodeBase64(text), std::nullopt) << text;
  }
}

TEST(Base64, EncodesEveryLengthOfPadding) {
  EXPECT_EQ(encodeBase64(""), "");
  EXPECT_EQ(encodeBase64("f"), "Zg==");
  EXPECT_EQ(encodeBase64("fo"), "Zm8=");
  EXPECT_EQ(encodeBase64("foo"), "Zm9v");
  EXPECT_EQ(encodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(encodeBase64("\xFB\xFF\xBF"), "+/+/");
}

}  // namespace
}  // namespace sluice::base
