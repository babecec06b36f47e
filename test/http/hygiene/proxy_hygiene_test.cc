// Tests the forms of requests to forward proxies.
#include <gtest/gtest.h>

#include "proxy/http/hygiene.h"
#include "test/http/hygiene/checked_request.h"

namespace sluice::http {
namespace {

constexpr ServerTerms kProxyTerms(Scheme::kHttp, true);

TEST(ProxyHygiene, TakesTheDestinationFromTheTargetAlone) {
  Checked plain(h1("GET", "http://A.test:8080/x?y"), {{"host", "other.test"}}, kProxyTerms);
  ASSERT_EQ(plain.status(), 200);
  EXPECT_EQ(plain.head().authority, "a.test:8080");
  EXPECT_EQ(plain.head().target, "/x?y");
  EXPECT_EQ(plain.head().scheme, Scheme::kHttp);
  Checked secure(h1("GET", "HTTPS://a.test"), {{"host", "a.test"}}, kProxyTerms);
  ASSERT_EQ(secure.status(), 200);
  EXPECT_EQ(secure.head().scheme, Scheme::kHttps);
  EXPECT_EQ(secure.head().target, "/");
  EXPECT_EQ(Checked(h1("OPTIONS", "http://a.test"), {{"host", "a"}}, kProxyTerms).head().target, "*");
  for (const char* target : {"*", "a.test", "ftp://a.test/", "http:///", "http://u@a.test/", "://a.test/"}) {
    EXPECT_EQ(Checked(h1("GET", target), {{"host", "a.test"}}, kProxyTerms).status(), 400) << target;
  }
  EXPECT_EQ(Checked(h1("GET", "http://a.test/"), {}, kProxyTerms).status(), 400);
  EXPECT_EQ(Checked(h1("GET", "http://a.test/", Version::kHttp10), {}, kProxyTerms).status(), 200);
}

// Only the exchange knows whether the proxy has sent such a request itself, which then is in a loop.
TEST(ProxyHygiene, MarksATargetInOriginForm) {
  Checked marked(h1("GET", "/x"), {{"host", "a.test"}}, kProxyTerms);
  ASSERT_EQ(marked.status(), 200);
  EXPECT_TRUE(marked.head().namesNoDestination);
  EXPECT_TRUE(Checked(h1("OPTIONS", "*"), {{"host", "a.test"}}, kProxyTerms).head().namesNoDestination);
  EXPECT_TRUE(Checked(h1("GET", "/x", Version::kHttp10), {}, kProxyTerms).head().namesNoDestination);
  EXPECT_FALSE(Checked(h1("GET", "http://a.test/x"), {{"host", "a.test"}}, kProxyTerms).head().namesNoDestination);
  EXPECT_FALSE(Checked(h1("CONNECT", "a.test:1"), {{"host", "a.test"}}, kProxyTerms).head().namesNoDestination);
  EXPECT_FALSE(Checked(h1("GET", "/x"), {{"host", "a.test"}}).head().namesNoDestination);
}

TEST(ProxyHygiene, TakesConnectWithAHostAndAPort) {
  Checked tunnel(h1("CONNECT", "A.test:443"), {{"host", "else"}, {"upgrade", "websocket"}}, kProxyTerms);
  ASSERT_EQ(tunnel.status(), 200);
  EXPECT_EQ(tunnel.head().authority, "a.test:443");
  EXPECT_EQ(tunnel.head().target, "");
  EXPECT_EQ(tunnel.head().body, Body::kTunnel);
  EXPECT_EQ(tunnel.head().tunnel, Tunnel::kStream);
  EXPECT_EQ(Checked(h1("CONNECT", "[::1]:1"), {{"host", "x"}}, kProxyTerms).status(), 200);
  for (const char* target :
       {"a.test", "a.test:", "a.test:0", "a.test:65536", ":443", "http://a.test:1/", "/", "u@a:1"}) {
    EXPECT_EQ(Checked(h1("CONNECT", target), {{"host", "x"}}, kProxyTerms).status(), 400) << target;
  }
  const Lines contents[] = {{{"host", "x"}, {"content-length", "1"}},
                            {{"host", "x"}, {"transfer-encoding", "chunked"}}};
  for (const Lines& content : contents) {
    EXPECT_EQ(Checked(h1("CONNECT", "a.test:1"), content, kProxyTerms).status(), 400);
  }
  EXPECT_EQ(Checked(h1("CONNECT", "a.test:1"), {{"host", "x"}, {"content-length", "0"}}, kProxyTerms).status(), 200);
  EXPECT_EQ(Checked(h1("CONNECT", "a.test:1"), {{"host", "x"}}).status(), 405) << "elsewhere";
}

TEST(ProxyHygiene, TakesNoUpgradeToHttp2ForCredentials) {
  const Lines lines = {{"host", "a.test"},
                       {"connection", "upgrade, http2-settings"},
                       {"upgrade", "h2c"},
                       {"http2-settings", "AAMAAABk"},
                       {"proxy-authorization", "Basic YTpi"}};
  Checked upgrade(h1("GET", "http://a.test/"), lines, kProxyTerms);
  ASSERT_EQ(upgrade.status(), 200);
  EXPECT_EQ(upgrade.fields().find("AAMAAABk"), std::string::npos);
}

TEST(ProxyHygiene, TakesConnectOfHttp2WithoutSchemeAndPath) {
  RawRequest raw = h2("CONNECT", false);
  raw.scheme = raw.target = {};
  raw.authority = "a.test:443";
  Checked tunnel(raw, {}, kProxyTerms);
  ASSERT_EQ(tunnel.status(), 200);
  EXPECT_EQ(tunnel.head().tunnel, Tunnel::kStream);
  raw.scheme = "https";
  EXPECT_EQ(Checked(raw, {}, kProxyTerms).status(), 400);
  RawRequest plain = h2();
  plain.scheme = "https";
  EXPECT_EQ(Checked(plain, {}, kProxyTerms).head().scheme, Scheme::kHttps);
  plain.scheme = "ftp";
  EXPECT_EQ(Checked(plain, {}, kProxyTerms).status(), 400);
}

}  // namespace
}  // namespace sluice::http
