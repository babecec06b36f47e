#include "proxy/exchange/session/session_carrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace sluice::exchange {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Fields = std::vector<std::pair<std::string, std::string>>;

routing::SessionPolicy policyOf(const std::string& name, bool byHeader = false) {
  routing::SessionPolicy policy;
  policy.name = name;
  policy.byHeader = byHeader;
  return policy;
}

struct TakenSessions {
  std::vector<std::string> values;
  Fields left;
};

/// The gateway's own values have four characters in these tests.
TakenSessions take(const Fields& fields, const routing::SessionPolicy& policy = policyOf("s")) {
  base::ChunkPool pool;
  http::RequestMessage request(pool);
  for (const auto& [name, value] : fields) request.head.headers.add(request.arena, name, value);
  TakenSessions taken;
  for (const std::string_view value : takeSessions(policy, 4, request)) taken.values.emplace_back(value);
  for (const http::Field& field : request.head.headers) taken.left.emplace_back(field.name, field.value);
  return taken;
}

/// Returns the fields of the answer to a request for "/a/b".
Fields add(const routing::SessionPolicy& policy, bool secure = false, base::Duration age = {},
           const Fields& ofBackend = {}) {
  base::ChunkPool pool;
  http::ResponseMessage response(pool);
  for (const auto& [name, value] : ofBackend) response.head.headers.add(response.arena, name, value);
  addSession(policy, "WXYZ", {"/a/b", secure, age}, response);
  Fields result;
  for (const http::Field& field : response.head.headers) result.emplace_back(field.name, field.value);
  return result;
}

TEST(SessionCarrier, TakesItsCookieAndLeavesTheOthers) {
  const TakenSessions taken = take({{"accept", "*/*"}, {"cookie", "a=1; s=ABCD; b=\"2\""}, {"x", "y"}});
  EXPECT_THAT(taken.values, ElementsAre("ABCD"));
  EXPECT_EQ(taken.left, (Fields{{"accept", "*/*"}, {"cookie", "a=1; b=\"2\""}, {"x", "y"}}));
}

TEST(SessionCarrier, TakesTheWholeFieldIfThereIsNoOther) {
  const TakenSessions taken = take({{"cookie", "s=ABCD"}, {"x", "y"}});
  EXPECT_THAT(taken.values, ElementsAre("ABCD"));
  EXPECT_EQ(taken.left, (Fields{{"x", "y"}}));
}

TEST(SessionCarrier, ReadsCookiesHoweverTheyAreWritten) {
  EXPECT_THAT(take({{"cookie", "s=\"ABCD\""}}).values, ElementsAre("ABCD"));
  EXPECT_THAT(take({{"cookie", "s = ABCD"}}).values, ElementsAre("ABCD"));
  EXPECT_THAT(take({{"cookie", "a=1;s=ABCD;"}}).values, ElementsAre("ABCD"));
  EXPECT_THAT(take({{"cookie", "a=1"}, {"cookie", "s=ABCD"}, {"cookie", "b=2"}}).values, ElementsAre("ABCD"));
  EXPECT_EQ(take({{"cookie", "a=1"}, {"cookie", "s=ABCD"}, {"cookie", "b=2"}}).left,
            (Fields{{"cookie", "a=1"}, {"cookie", "b=2"}}));
}

TEST(SessionCarrier, LeavesCookiesAndFieldsOfOtherNamesAlone) {
  for (const std::string cookies :
       {"a=1;b=2", "  a=1 ;; b ", "S=ABCD", "ss=ABCD", "s", "as=ABCD; a=s=ABCD", "", ";", "="}) {
    const Fields fields{{"cookie", cookies}};
    const TakenSessions taken = take(fields);
    EXPECT_THAT(taken.values, IsEmpty()) << cookies;
    EXPECT_EQ(taken.left, fields);
  }
  const Fields header{{"s", "ABCD"}};
  EXPECT_THAT(take(header).values, IsEmpty());
  EXPECT_EQ(take(header).left, header);
}

TEST(SessionCarrier, DropsValuesOfAnotherSize) {
  const TakenSessions taken = take({{"cookie", "s=ABC; s=ABCDE; s=; s=\"; s=\"\"; s=" + std::string(5000, 'A')}});
  EXPECT_THAT(taken.values, IsEmpty());
  EXPECT_THAT(taken.left, IsEmpty());
}

TEST(SessionCarrier, ReturnsOnlyAFewOfManyValues) {
  EXPECT_THAT(take({{"cookie", "s=0001; s=0002; s=0003; s=0004"}}).values, ElementsAre("0001", "0002", "0003", "0004"));
  const TakenSessions many = take({{"cookie", "s=0001; s=0002; s=0003; s=0004; s=0005; a=1"}});
  EXPECT_THAT(many.values, ElementsAre("0001", "0002", "0003", "0004"));
  EXPECT_EQ(many.left, (Fields{{"cookie", "a=1"}}));
}

TEST(SessionCarrier, TakesItsField) {
  const TakenSessions taken =
      take({{"a", "1"}, {"s", "ABCD"}, {"cookie", "s=EFGH"}, {"s", "IJKL"}}, policyOf("s", true));
  EXPECT_THAT(taken.values, ElementsAre("ABCD", "IJKL"));
  EXPECT_EQ(taken.left, (Fields{{"a", "1"}, {"cookie", "s=EFGH"}}));
}

TEST(SessionCarrier, AddsACookieThatScriptsAndOtherSitesDoNotGet) {
  EXPECT_EQ(add(policyOf("s")), (Fields{{"set-cookie", "s=WXYZ; Path=/; HttpOnly; SameSite=Strict"}}));
  EXPECT_EQ(add(policyOf("s"), true), (Fields{{"set-cookie", "s=WXYZ; Path=/; HttpOnly; SameSite=Strict; Secure"}}));
  const Fields ofBackend{{"set-cookie", "s=other"}};
  EXPECT_EQ(add(policyOf("s"), false, {}, ofBackend),
            (Fields{{"set-cookie", "s=other"}, {"set-cookie", "s=WXYZ; Path=/; HttpOnly; SameSite=Strict"}}));
}

TEST(SessionCarrier, SetsThePathThatTheRequestMatched) {
  routing::SessionPolicy policy = policyOf("s");
  const auto path = [&](std::vector<std::string> paths) {
    policy.paths = std::move(paths);
    return std::string(policy.cookiePath("/a/b"));
  };
  EXPECT_EQ(path({}), "/");
  EXPECT_EQ(path({"/a"}), "/a");
  EXPECT_EQ(path({"/a", "/a/b", "/"}), "/a/b");
  EXPECT_EQ(path({"/a/b/c", "/a/", "/a/bc", "/b"}), "/");
  policy.paths = {"/a"};
  EXPECT_EQ(add(policy), (Fields{{"set-cookie", "s=WXYZ; Path=/a; HttpOnly; SameSite=Strict"}}));
}

TEST(SessionCarrier, SetsTheRemainingAgeOfAPermanentCookie) {
  routing::SessionPolicy policy = policyOf("s");
  policy.absoluteTimeout = std::chrono::seconds(60);
  const auto maxAge = [&](base::Duration age) {
    const std::string text = add(policy, false, age).at(0).second;
    const std::size_t at = text.find("; Max-Age=");
    return at == std::string::npos ? "none" : text.substr(at + 10);
  };
  EXPECT_EQ(maxAge({}), "none") << "it ends with the browser's session";
  policy.permanent = true;
  EXPECT_EQ(maxAge({}), "60");
  EXPECT_EQ(maxAge(std::chrono::milliseconds(500)), "60");
  EXPECT_EQ(maxAge(std::chrono::seconds(59)), "1");
  EXPECT_EQ(maxAge(std::chrono::seconds(61)), "0");
}

TEST(SessionCarrier, PutsItsFieldInPlaceOfTheBackends) {
  const Fields ofBackend{{"s", "mine"}, {"a", "1"}, {"s", "mine too"}};
  const Fields sent = add(policyOf("s", true), true, {}, ofBackend);
  EXPECT_THAT(sent, ::testing::UnorderedElementsAre(std::pair("s", "WXYZ"), std::pair("a", "1")));
}

}  // namespace
}  // namespace sluice::exchange
