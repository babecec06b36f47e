#include "proxy/exchange/authentication/basic_credentials.h"

#include <gtest/gtest.h>

#include <string>

#include "test/support/passwords.h"

namespace sluice::exchange {
namespace {

std::string credentialsIn(std::string_view field) {
  const auto read = readBasic(field);
  if (!read) return "malformed";
  return std::string(read->user.reveal()) + " | " + std::string(read->password.reveal());
}

TEST(BasicCredentials, HaveTheirSchemeInAnyCase) {
  for (const char* field : {"Basic x", "basic x", "BASIC x", "Basic", "Basic  x"})
    EXPECT_TRUE(isOfBasic(field)) << field;
  for (const char* field : {"", "Basi", "Bearer x", "Basics x", "Basic\tx", " Basic x", "Digest Basic"}) {
    EXPECT_FALSE(isOfBasic(field)) << field;
  }
}

TEST(BasicCredentials, AreAUserAndAPassword) {
  EXPECT_EQ(credentialsIn("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), "Aladdin | open sesame");
  EXPECT_EQ(credentialsIn("basic   QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), "Aladdin | open sesame");
  EXPECT_EQ(credentialsIn(test::basic("a", "b:c:d")), "a | b:c:d") << "a user has no colon";
  EXPECT_EQ(credentialsIn(test::basic("", "")), " | ");
  EXPECT_EQ(credentialsIn(test::basic("t\u00e9st", "123\u00a3")), "t\u00e9st | 123\u00a3");
}

TEST(BasicCredentials, AreRefusedInAnyOtherForm) {
  using namespace std::string_literals;
  for (const std::string& field :
       {"Bearer QWxhZGRpbjpvcGVu"s, "Basic"s, "Basic "s, "Basic ?"s, "Basic QWxhZGRpbg=="s,
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ"s, "Basic QWxhZGRpbjpvcGVu QQ=="s, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZR=="s,
        test::basic("a\n", "b"), test::basic("a", "b\x7f"), test::basic("a", "b\0"s)}) {
    EXPECT_EQ(credentialsIn(field), "malformed") << field;
  }
}

}  // namespace
}  // namespace sluice::exchange
