// Tests CORS filters with a browser's requests, sent by curl through the binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShop = "https://shop.test";

class CorsRequests : public testing::Test {
 protected:
  /// Returns a gateway with one HTTPRoute that has these rules, given as lines of YAML.
  GatewayProcess serve(const std::string& rules, bool withBackend = true) {
    const std::uint16_t port = withBackend ? origin_.port() : freePort();
    return GatewayProcess({.backends = {{.port = port}}, .routes = routeOfRules(rules)});
  }
  static std::string filter(const std::string& cors) { return "filters: [{type: CORS, cors: {" + cors + "}}]"; }
  /// Returns a rule that matches every request.
  static std::string rule(const std::string& cors) { return "    - " + filter(cors) + "\n" + backendRefs(); }

  /// Returns head and body of the answer to a request from `origin`; `more` are further options of curl.
  static std::string ask(const GatewayProcess& gateway, const std::string& origin, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-H", "Origin: " + origin});
    return test::ask(gateway, "/", more);
  }
  static std::string preflight(const GatewayProcess& gateway, const std::string& origin, const std::string& method,
                               std::vector<std::string> more = {}) {
    more.insert(more.end(), {"-X", "OPTIONS", "-H", "Access-Control-Request-Method: " + method});
    return ask(gateway, origin, more);
  }
  EchoOrigin origin_{std::nullopt};
};

TEST_F(CorsRequests, PreflightsAreAnsweredByTheGateway) {
  const GatewayProcess gateway =
      serve(rule("allowOrigins: ['https://*.test'], allowMethods: [PUT], allowHeaders: [x-a], "
                 "exposeHeaders: [x-b], allowCredentials: true, maxAge: 60"));
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    const std::string answer = preflight(gateway, kShop, "PUT", {version});
    EXPECT_THAT(answer, AllOf(HasSubstr(" 204"), HasSubstr("access-control-allow-origin: https://shop.test\r\n"),
                              HasSubstr("access-control-allow-methods: PUT\r\n"),
                              HasSubstr("access-control-allow-headers: x-a\r\n"),
                              HasSubstr("access-control-allow-credentials: true\r\n"),
                              HasSubstr("access-control-max-age: 60\r\n"), HasSubstr("vary: origin\r\n")));
  }
}

TEST_F(CorsRequests, PreflightsOfOtherOriginsGetNoPermission) {
  const GatewayProcess gateway = serve(rule("allowOrigins: ['https://other.test'], allowMethods: [PUT]"));
  const std::string answer = preflight(gateway, kShop, "PUT");
  EXPECT_THAT(answer, AllOf(HasSubstr("HTTP/1.1 204"), HasSubstr("vary: origin"), Not(HasSubstr("access-control"))));
}

TEST_F(CorsRequests, OtherOptionsRequestsGoToTheBackend) {
  const GatewayProcess gateway = serve(rule("allowOrigins: ['*']"));
  const std::string answer = ask(gateway, kShop, {"-X", "OPTIONS"});
  EXPECT_EQ(echoed(answer, "method"), "OPTIONS");
  EXPECT_THAT(answer, HasSubstr("access-control-allow-origin: https://shop.test\r\n"));
}

TEST_F(CorsRequests, AnswersNameTheOriginThatMayReadThem) {
  const GatewayProcess gateway = serve(rule("allowOrigins: ['https://shop.test'], exposeHeaders: [x-b]"));
  EXPECT_THAT(ask(gateway, kShop),
              AllOf(HasSubstr("HTTP/1.1 200 OK"), HasSubstr("access-control-allow-origin: https://shop.test\r\n"),
                    HasSubstr("access-control-expose-headers: x-b\r\n"), Not(HasSubstr("allow-credentials"))));
  EXPECT_THAT(ask(gateway, "https://evil.test"),
              AllOf(HasSubstr("HTTP/1.1 200 OK"), Not(HasSubstr("access-control-"))));
}

TEST_F(CorsRequests, ErrorsAndRedirectsCanBeReadToo) {
  const GatewayProcess broken = serve(rule("allowOrigins: ['*']"), false);
  EXPECT_THAT(ask(broken, kShop),
              AllOf(HasSubstr("HTTP/1.1 503"), HasSubstr("access-control-allow-origin: https://shop.test\r\n")));
  const GatewayProcess moved = serve(
      "    - filters: [{type: CORS, cors: {allowOrigins: ['*']}}, "
      "{type: RequestRedirect, requestRedirect: {hostname: new.test}}]\n");
  EXPECT_THAT(ask(moved, kShop),
              AllOf(HasSubstr("HTTP/1.1 302"), HasSubstr("access-control-allow-origin: https://shop.test\r\n")));
  EXPECT_THAT(preflight(moved, kShop, "GET"), AllOf(HasSubstr("HTTP/1.1 204"), Not(HasSubstr("location"))));
}

TEST_F(CorsRequests, AFilterOfABackendReplacesThatOfTheRule) {
  const GatewayProcess gateway =
      serve("    - " + filter("allowOrigins: ['https://rule.test']") + "\n" +
            backendRefs(", " + filter("allowOrigins: ['https://share.test'], allowMethods: [PUT]")));
  EXPECT_THAT(ask(gateway, "https://share.test"), HasSubstr("access-control-allow-origin: https://share.test\r\n"));
  EXPECT_THAT(ask(gateway, "https://rule.test"), Not(HasSubstr("access-control-")));
}

TEST_F(CorsRequests, AFilterOfABackendAnswersItsPreflights) {
  const GatewayProcess gateway =
      serve("    -\n" + backendRefs(", " + filter("allowOrigins: ['*'], allowMethods: [PUT]")));
  EXPECT_THAT(preflight(gateway, kShop, "PUT"),
              AllOf(HasSubstr("HTTP/1.1 204"), HasSubstr("access-control-allow-methods: PUT\r\n")));
}

TEST_F(CorsRequests, ARuleForOneMethodAnswersPreflightsThatAnnounceIt) {
  const GatewayProcess gateway = serve("    - matches: [{method: PUT}]\n      " + filter("allowOrigins: ['*']") + "\n" +
                                       backendRefs() + "    - matches: [{method: GET}]\n" + backendRefs());
  EXPECT_THAT(preflight(gateway, kShop, "PUT"), HasSubstr("HTTP/1.1 204"));
  EXPECT_THAT(preflight(gateway, kShop, "GET"), HasSubstr("HTTP/1.1 404"));
}

}  // namespace
}  // namespace sluice::test
