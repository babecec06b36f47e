#include "proxy/routing/policy/redirect.h"

#include <gtest/gtest.h>

namespace sluice::routing {
namespace {

struct AskedUrl {
  std::string authority = "shop.test";
  std::string target = "/a/b?q=1";
  http::Scheme scheme = http::Scheme::kHttp;
  std::uint16_t listenerPort = 80;
};

Redirect to(const std::string& scheme, const std::string& hostname, std::uint16_t port) {
  Redirect redirect;
  redirect.scheme = scheme;
  redirect.hostname = hostname;
  redirect.port = port;
  return redirect;
}

std::string locationOf(const Redirect& redirect, const AskedUrl& asked = {}) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  http::RequestHead head;
  head.scheme = asked.scheme;
  head.authority = asked.authority;
  head.target = asked.target;
  return std::string(redirect.location(arena, head, asked.listenerPort));
}

TEST(Redirect, KeepsThePartsThatItDoesNotName) {
  EXPECT_EQ(locationOf({}), "http://shop.test/a/b?q=1");
  EXPECT_EQ(locationOf({}, {.scheme = http::Scheme::kHttps, .listenerPort = 443}), "https://shop.test/a/b?q=1");
}

TEST(Redirect, ReplacesSchemeHostnameAndPort) {
  EXPECT_EQ(locationOf(to("https", "", 0)), "https://shop.test/a/b?q=1");
  EXPECT_EQ(locationOf(to("", "other.test", 0)), "http://other.test/a/b?q=1");
  EXPECT_EQ(locationOf(to("", "", 8080)), "http://shop.test:8080/a/b?q=1");
}

// HTTPRequestRedirectFilter.port: the port is the scheme's if the filter sets one, else the listener's; a default port
// is not written.
TEST(Redirect, TakesThePortOfTheSchemeOrElseOfTheListener) {
  EXPECT_EQ(locationOf({}, {.listenerPort = 8080}), "http://shop.test:8080/a/b?q=1");
  EXPECT_EQ(locationOf(to("https", "", 0), {.listenerPort = 8080}), "https://shop.test/a/b?q=1");
  EXPECT_EQ(locationOf(to("http", "", 0), {.scheme = http::Scheme::kHttps, .listenerPort = 443}),
            "http://shop.test/a/b?q=1");
  EXPECT_EQ(locationOf({}, {.scheme = http::Scheme::kHttps}), "https://shop.test:80/a/b?q=1");
  EXPECT_EQ(locationOf(to("https", "", 443)), "https://shop.test/a/b?q=1");
  EXPECT_EQ(locationOf(to("https", "", 80)), "https://shop.test:80/a/b?q=1");
}

TEST(Redirect, DropsThePortThatTheClientNamed) {
  EXPECT_EQ(locationOf({}, {.authority = "shop.test:10080"}), "http://shop.test/a/b?q=1");
}

TEST(Redirect, BracketsAnAddressOfIpv6) {
  EXPECT_EQ(locationOf(to("", "", 8080), {.authority = "[2001:db8::1]"}), "http://[2001:db8::1]:8080/a/b?q=1");
}

TEST(Redirect, ReplacesThePathAndKeepsTheQuery) {
  Redirect redirect;
  redirect.path.path = PathRewrite::kFullPath;
  redirect.path.replacement = "/new";
  EXPECT_EQ(locationOf(redirect), "http://shop.test/new?q=1");
  redirect.path.path = PathRewrite::kPrefixMatch;
  redirect.path.prefix = "/a";
  EXPECT_EQ(locationOf(redirect), "http://shop.test/new/b?q=1");
}

TEST(Redirect, IsRelativeWithoutAHost) {
  EXPECT_EQ(locationOf({}, {.authority = ""}), "/a/b?q=1");
  EXPECT_EQ(locationOf(to("", "other.test", 0), {.authority = ""}), "http://other.test/a/b?q=1");
  EXPECT_EQ(locationOf({}, {.target = "*"}), "http://shop.test/");
}

}  // namespace
}  // namespace sluice::routing
