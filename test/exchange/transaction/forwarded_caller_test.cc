#include "proxy/exchange/transaction/forwarded_caller.h"

#include <gtest/gtest.h>

#include <string>

namespace sluice::exchange {
namespace {

class ForwardedCaller : public ::testing::Test {
 protected:
  /// Returns the lines that leave for a request whose client has claimed to be somebody else.
  std::string left(const base::Caller* caller) {
    http::Headers headers;
    for (const char* name : {"x-caller", "x-own", "x_caller", "x-caller"}) headers.add(arena_, name, "forged");
    writeCaller(arena_, headers, "x-caller", caller);
    std::string lines;
    for (const http::Field& field : headers) lines.append(field.name).append(": ").append(field.value).append("\n");
    return lines;
  }
  std::string leftFor(const base::Caller& caller) { return left(&caller); }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

const std::string kNothing = "x-own: forged\n";

TEST_F(ForwardedCaller, IsNotTheOneThatTheClientHasClaimed) { EXPECT_EQ(left(nullptr), kNothing); }

TEST_F(ForwardedCaller, IsNamedByItsAccountElseByItsPrincipal) {
  EXPECT_EQ(leftFor({"demo", "web", "spiffe://prod.test/ns/demo/sa/web"}), kNothing + "x-caller: demo/web\n");
  EXPECT_EQ(leftFor({"", "", "spiffe://other.test/web"}), kNothing + "x-caller: spiffe://other.test/web\n");
  EXPECT_EQ(leftFor({"", "", "ann"}), kNothing + "x-caller: ann\n");
  EXPECT_EQ(leftFor({"", "", "CN=web,O=Acme"}), kNothing + "x-caller: CN=web,O=Acme\n");
}

TEST_F(ForwardedCaller, IsNotNamedByTextThatNoFieldCanHave) {
  EXPECT_EQ(leftFor({}), kNothing);
  for (const char* name : {"a\r\nx-admin: 1", "a\nb", " ann", "ann ", "a\x7F"}) {
    EXPECT_EQ(leftFor({"", "", name}), kNothing) << name;
  }
}

TEST_F(ForwardedCaller, IsNotNamedByAPrincipalThatLooksLikeAnAccount) {
  EXPECT_EQ(leftFor({"", "", "demo/web"}), kNothing);
  EXPECT_EQ(leftFor({"", "", "a/b/c"}), kNothing + "x-caller: a/b/c\n");
}

}  // namespace
}  // namespace sluice::exchange
