#include "proxy/pki/bcrypt.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::pki {
namespace {

// Made by crypt(3).
constexpr const char* kOfSecret = "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
constexpr const char* kOfOther = "$2b$05$abcdefghijklmnopqrstuuVQd15VhR/oN1H3pzUR5lME0fZO6.qRW";
constexpr const char* kOfOld = "$2a$04$abcdefghijklmnopqrstuu3C6u2sQjFttrT16nmXgxlk/de0mfCmu";
constexpr const char* kOfSeventyTwo = "$2y$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i";

TEST(Bcrypt, KnowsThePasswordOfAHash) {
  EXPECT_TRUE(isBcryptOf(kOfSecret, "secret"));
  EXPECT_TRUE(isBcryptOf(kOfOther, "other"));
  EXPECT_TRUE(isBcryptOf(kOfOld, "old"));
}

TEST(Bcrypt, RefusesEveryOtherPassword) {
  for (const char* password : {"", "Secret", "secret ", "secre", "other"}) {
    EXPECT_FALSE(isBcryptOf(kOfSecret, password)) << password;
  }
}

TEST(Bcrypt, CountsSeventyTwoBytes) {
  EXPECT_TRUE(isBcryptOf(kOfSeventyTwo, std::string(72, 'x')));
  EXPECT_TRUE(isBcryptOf(kOfSeventyTwo, std::string(5000, 'x')));
  EXPECT_FALSE(isBcryptOf(kOfSeventyTwo, std::string(71, 'x')));
  EXPECT_FALSE(isBcryptOf(kOfSeventyTwo, std::string(71, 'x') + "y"));
}

// crypt(3) would read no further than the NUL.
TEST(Bcrypt, RefusesAPasswordWithANul) { EXPECT_FALSE(isBcryptOf(kOfSecret, std::string_view("secret\0x", 8))); }

TEST(Bcrypt, TakesCostsFromFourToTwelve) {
  const std::string tail = "$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
  for (const char* cost : {"04", "09", "10", "12"}) EXPECT_EQ(bcryptFault("$2y$" + (cost + tail)), nullptr) << cost;
  EXPECT_STREQ(bcryptFault("$2y$03" + tail), "the cost of its bcrypt hash is lower than 4");
  EXPECT_STREQ(bcryptFault("$2y$13" + tail), "the cost of its bcrypt hash is higher than 12");
  EXPECT_STREQ(bcryptFault("$2y$31" + tail), "the cost of its bcrypt hash is higher than 12");
}

TEST(Bcrypt, NamesEveryOtherHash) {
  for (const char* hash :
       {"", "secret", "$apr1$salt$hash", "{SHA}C5wmJdwh7wX2rU3fR8XyA4N6oyw=", "$6$salt$hash", "$2$04$a",
        "$2x$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW", "$5$salt$hash", "rqXexS6ZhobKA"}) {
    EXPECT_STREQ(bcryptFault(hash), "its hash is none of bcrypt ($2y$, $2b$ or $2a$)") << hash;
  }
}

TEST(Bcrypt, NamesAMalformedHash) {
  const std::string whole = kOfSecret;
  for (const std::string& hash : {whole.substr(0, 59), whole + ".", whole + ":1000", "$2y$4$" + whole.substr(6),
                                  whole.substr(0, 59) + "$", whole.substr(0, 59) + " ", std::string("$2y$")}) {
    EXPECT_STREQ(bcryptFault(hash), "its bcrypt hash is malformed") << hash;
  }
}

}  // namespace
}  // namespace sluice::pki
