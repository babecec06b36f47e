#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Configuration loadSession(const std::string& session, const std::string& kind = "HTTPRoute") {
  return loadText(
      object("gateway.networking.k8s.io/v1", kind, "r", "spec:\n  rules:\n  - sessionPersistence: " + session + "\n"));
}
SessionPersistence sessionOf(const std::string& session) {
  const Configuration configuration = loadSession(session);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const HttpRouteRule& rule = configuration.model.all<HttpRoute>().at(0).rules.at(0);
  EXPECT_TRUE(rule.unsupported.empty());
  return rule.sessionPersistence.value();
}
std::vector<std::string> problemsOfSession(const std::string& session, const std::string& kind = "HTTPRoute") {
  return rendered(loadSession(session, kind).problems);
}

TEST(SessionPersistence, HasTheDefaultsOfTheApi) {
  const SessionPersistence session = sessionOf("{}");
  EXPECT_EQ(session.name, "");
  EXPECT_EQ(session.type, SessionType::kCookie);
  EXPECT_FALSE(session.absoluteTimeout);
  EXPECT_FALSE(session.permanent);
  EXPECT_EQ(session.path, "spec.rules[0].sessionPersistence");
  EXPECT_FALSE(sessionOf("{cookieConfig: {}}").permanent);
}

TEST(SessionPersistence, IsReadAsItIsWritten) {
  const SessionPersistence cookie =
      sessionOf("{sessionName: Cart_1, absoluteTimeout: 1h30m, type: Cookie, cookieConfig: {lifetimeType: Permanent}}");
  EXPECT_EQ(cookie.name, "Cart_1");
  EXPECT_EQ(cookie.type, SessionType::kCookie);
  EXPECT_EQ(cookie.absoluteTimeout, std::chrono::minutes(90));
  EXPECT_TRUE(cookie.permanent);
  const SessionPersistence header = sessionOf("{sessionName: X-Session, type: Header, absoluteTimeout: 5s}");
  EXPECT_EQ(header.type, SessionType::kHeader);
  EXPECT_EQ(header.absoluteTimeout, std::chrono::seconds(5));
}

TEST(SessionPersistence, IsReadFromGrpcRoutesToo) {
  const Configuration configuration = loadSession("{type: Header}", "GRPCRoute");
  EXPECT_THAT(rendered(configuration.problems), IsEmpty());
  const GrpcRouteRule& rule = configuration.model.all<GrpcRoute>().at(0).rules.at(0);
  ASSERT_TRUE(rule.sessionPersistence);
  EXPECT_EQ(rule.sessionPersistence->type, SessionType::kHeader);
  EXPECT_THAT(problemsOfSession("{type: Query}", "GRPCRoute"),
              ElementsAre(HasSubstr("type: must be Cookie or Header")));
}

TEST(SessionPersistence, RequiresATimeoutToBePermanent) {
  EXPECT_THAT(problemsOfSession("{cookieConfig: {lifetimeType: Permanent}}"),
              ElementsAre(EndsWith("sessionPersistence.absoluteTimeout: is required when cookieConfig.lifetimeType is "
                                   "Permanent")));
  EXPECT_THAT(problemsOfSession("{cookieConfig: {lifetimeType: Session}}"), IsEmpty());
  EXPECT_THAT(problemsOfSession("{absoluteTimeout: 1s, cookieConfig: {lifetimeType: Permanent}}"), IsEmpty());
}

TEST(SessionPersistence, ConfiguresCookiesOfTypeCookieAlone) {
  EXPECT_THAT(problemsOfSession("{type: Header, cookieConfig: {}}"),
              ElementsAre(EndsWith("sessionPersistence.cookieConfig: can only be set with type Cookie")));
}

TEST(SessionPersistence, RequiresANameThatCookiesAndFieldsCanHave) {
  const std::string longest(128, 'n');
  EXPECT_EQ(sessionOf("{sessionName: " + longest + "}").name, longest);
  EXPECT_THAT(problemsOfSession("{sessionName: " + longest + "n}"), ElementsAre(HasSubstr("sessionName: ")));
  EXPECT_EQ(sessionOf("{sessionName: \"\"}").name, "");
  for (const std::string name : {"a b", "a;b", "a=b", "a\\\"b", "\\u00e9", "a\\nb", "a,b"}) {
    EXPECT_THAT(problemsOfSession("{sessionName: \"" + name + "\"}"),
                ElementsAre(HasSubstr("sessionName: must be a name that cookies and header fields can have")))
        << name;
  }
}

TEST(SessionPersistence, RefusesUnknownFieldsAndValues) {
  EXPECT_THAT(problemsOfSession("{type: cookie}"), ElementsAre(HasSubstr("type: must be Cookie or Header")));
  EXPECT_THAT(problemsOfSession("{cookieConfig: {lifetimeType: Forever}}"),
              ElementsAre(HasSubstr("lifetimeType: must be Permanent or Session")));
  EXPECT_THAT(problemsOfSession("{absoluteTimeout: soon}"), ElementsAre(HasSubstr("absoluteTimeout: ")));
  EXPECT_THAT(problemsOfSession("{absoluteTimeout: 1d}"), ElementsAre(HasSubstr("absoluteTimeout: ")));
  EXPECT_THAT(problemsOfSession("{idleTimeout: 1s}"), ElementsAre(HasSubstr("idleTimeout")));
  EXPECT_THAT(problemsOfSession("{cookieConfig: {path: /}}"), ElementsAre(HasSubstr("cookieConfig.path")));
  EXPECT_THAT(problemsOfSession("always"), ElementsAre(HasSubstr("sessionPersistence: must be a map")));
}

}  // namespace
}  // namespace sluice::config
