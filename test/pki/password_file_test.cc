#include "proxy/pki/password_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sluice::pki {
namespace {

// Made by crypt(3) of "secret", "other" and 72 times "x".
constexpr const char* kAnn = "ann:$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW";
constexpr const char* kBob = "bob:$2b$05$abcdefghijklmnopqrstuuVQd15VhR/oN1H3pzUR5lME0fZO6.qRW";
constexpr const char* kEve = "eve:$2y$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i";

std::shared_ptr<const PasswordFile> fileOf(const std::string& text) {
  auto file = PasswordFile::parse(text);
  EXPECT_TRUE(file.ok());
  return std::move(file).value();
}

std::string refusalOf(const std::string& text) {
  const auto file = PasswordFile::parse(text);
  return file.ok() ? "none" : file.error().detail;
}

TEST(PasswordFile, ReadsOneUserALine) {
  EXPECT_EQ(fileOf(kAnn)->size(), 1u);
  EXPECT_EQ(fileOf(std::string(kAnn) + "\n")->size(), 1u);
  EXPECT_EQ(fileOf("# users\r\n\r\n" + std::string(kAnn) + "\r\n" + kBob + "\r\n")->size(), 2u);
}

TEST(PasswordFile, RefusesOtherLinesByTheirNumber) {
  const std::string ann = kAnn;
  EXPECT_EQ(refusalOf(ann + "\nbob"), "line 2: it is not of the form user:hash");
  EXPECT_EQ(refusalOf("# x\n" + ann + "\n:" + ann.substr(4)), "line 3: it has no user before the colon");
  EXPECT_EQ(refusalOf("bob:$apr1$salt$hash\n" + ann), "line 1: its hash is none of bcrypt ($2y$, $2b$ or $2a$)");
  EXPECT_EQ(refusalOf(ann + "\nbob:$2y$13" + ann.substr(10)), "line 2: the cost of its bcrypt hash is higher than 12");
  EXPECT_EQ(refusalOf(ann + ":rest"), "line 1: its bcrypt hash is malformed");
  EXPECT_EQ(refusalOf("a\tb" + ann.substr(3)), "line 1: its user has a control character");
  EXPECT_EQ(refusalOf(std::string(256, 'a') + ann.substr(3)), "line 1: its user is longer than 255 bytes");
  EXPECT_EQ(fileOf(std::string(255, 'a') + ann.substr(3))->size(), 1u);
  EXPECT_EQ(refusalOf(ann + "\n" + kBob + "\n" + ann), "line 3: it repeats the user of a line before it");
}

TEST(PasswordFile, RefusesAFileWithoutUsers) {
  for (const char* text : {"", "\n\n", "# nobody\n"}) EXPECT_EQ(refusalOf(text), "it has no users") << text;
}

TEST(PasswordFile, HasABoundOfUsers) {
  std::string text;
  const std::string hash = std::string(kAnn).substr(3);
  for (int i = 0; i < 1000; ++i) text += "u" + std::to_string(i) + hash + "\n";
  EXPECT_EQ(fileOf(text)->size(), 1000u);
  EXPECT_EQ(refusalOf(text + "last" + hash), "line 1001: there are more than 1000 users");
}

TEST(PasswordClaim, IsRightForThePasswordOfItsUserAlone) {
  const auto file = fileOf(std::string(kAnn) + "\n" + kBob);
  EXPECT_TRUE(PasswordClaim(file, "ann", "secret").check());
  EXPECT_TRUE(PasswordClaim(file, "bob", "other").check());
  EXPECT_FALSE(PasswordClaim(file, "ann", "other").check());
  EXPECT_FALSE(PasswordClaim(file, "bob", "secret").check());
  EXPECT_FALSE(PasswordClaim(file, "Ann", "secret").check());
  EXPECT_FALSE(PasswordClaim(file, "ann", "").check());
}

TEST(PasswordClaim, OfAnUnknownUserIsWrongEvenIfItHasThePasswordOfItsStandIn) {
  const auto file = fileOf(kAnn);
  for (const char* user : {"", "eve", "ann "}) {
    const PasswordClaim claim(file, user, "secret");
    EXPECT_FALSE(claim.check()) << user;
    EXPECT_FALSE(claim.isProven()) << user;
  }
  EXPECT_FALSE(PasswordClaim(file, "ann", "secret").isProven());
}

TEST(PasswordClaim, IsProvenOnceItWasRight) {
  const auto file = fileOf(std::string(kAnn) + "\n" + kBob);
  const PasswordClaim right(file, "ann", "secret");
  EXPECT_FALSE(right.isProven());
  EXPECT_FALSE(PasswordClaim(file, "ann", "wrong").check());
  EXPECT_FALSE(right.isProven());
  EXPECT_TRUE(right.check());
  EXPECT_TRUE(right.isProven());
  EXPECT_TRUE(PasswordClaim(file, "ann", "secret").isProven());
  EXPECT_FALSE(PasswordClaim(file, "ann", "wrong").isProven());
  EXPECT_FALSE(PasswordClaim(file, "bob", "secret").isProven());
  EXPECT_FALSE(PasswordClaim(fileOf(kAnn), "ann", "secret").isProven()) << "another file proves its own users";
}

// Else a user could have as many right passwords as it likes, and each of them would take a check.
TEST(PasswordClaim, CountsAsManyBytesAsBcrypt) {
  const auto file = fileOf(kEve);
  EXPECT_TRUE(PasswordClaim(file, "eve", std::string(72, 'x') + "1").check());
  EXPECT_TRUE(PasswordClaim(file, "eve", std::string(72, 'x') + "2").isProven());
}

TEST(PasswordClaim, HasADigestOfItsOwn) {
  const auto file = fileOf(std::string(kAnn) + "\n" + kBob);
  const auto digestOf = [&](const char* user, const char* password) {
    return PasswordClaim(file, user, password).digest();
  };
  EXPECT_EQ(digestOf("ann", "a"), digestOf("ann", "a"));
  EXPECT_NE(digestOf("ann", "a"), digestOf("ann", "b"));
  EXPECT_NE(digestOf("ann", "a"), digestOf("bob", "a"));
  EXPECT_NE(digestOf("x", "a"), digestOf("y", "a"));
  EXPECT_NE(digestOf("ann", "a"), PasswordClaim(fileOf(kAnn), "ann", "a").digest()) << "each file has a key";
}

}  // namespace
}  // namespace sluice::pki
