#include "proxy/http/hygiene.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "proxy/http/field_section.h"
#include "test/http/hygiene/checked_request.h"
#include "test/support/recording_sinks.h"

namespace sluice::http {
namespace {

TEST(RequestHygiene, HasOneAuthority) {
  const struct {
    std::string_view target;
    Lines lines;
    int status;
    std::string_view authority;
    std::string_view path;
  } kCases[] = {
      {"/x", {{"host", "A.example:80"}}, 200, "a.example:80", "/x"},
      {"/x", {}, 400, "", ""},
      {"/x", {{"host", "a"}, {"host", "a"}}, 400, "", ""},
      {"/x", {{"host", ""}}, 400, "", ""},
      {"/x", {{"host", "a, b"}}, 400, "", ""},
      {"/x", {{"host", "u@a"}}, 400, "", ""},
      {"http://a/x?y", {{"host", "A"}}, 200, "a", "/x?y"},
      {"HTTP://A/x", {{"host", "a"}}, 200, "a", "/x"},
      {"http://a", {{"host", "a"}}, 200, "a", "/"},
      {"http://a?q", {{"host", "a"}}, 200, "a", "/?q"},
      {"http://a/x", {{"host", "b"}}, 400, "", ""},
      {"http://a/x", {}, 400, "", ""},
      {"http://a:80/x", {{"host", "a"}}, 200, "a:80", "/x"},
      {"http://a/x", {{"host", "A:80"}}, 200, "a", "/x"},
      {"http://a:81/x", {{"host", "a"}}, 400, "", ""},
      {"https://a/x", {{"host", "a"}}, 200, "a", "/x"},
      {"https://a:443/x", {{"host", "a"}}, 200, "a:443", "/x"},
      {"https://a:80/x", {{"host", "a"}}, 400, "", ""},
      {"/x", {{"host", "A:"}}, 200, "a", "/x"},
      {"/x", {{"host", "%41%2etest:81"}}, 200, "a.test:81", "/x"},
      {"http://a:/x", {{"host", "A"}}, 200, "a", "/x"},
      {"http://%61/x", {{"host", "A:"}}, 200, "a", "/x"},
      {"http://a/x", {{"host", "%41:80"}}, 200, "a", "/x"},
      {"http://a/x", {{"host", "%62"}}, 400, "", ""},
      {"http://a/x", {{"host", "%2561"}}, 400, "", ""},
      {"/x", {{"host", "a%3a80"}}, 400, "", ""},
      {"/x", {{"host", ":"}}, 400, "", ""},
      {"ftp://a/x", {{"host", "a"}}, 400, "", ""},
      {"http:///x", {{"host", "a"}}, 400, "", ""},
      {"http://u@a/x", {{"host", "a"}}, 400, "", ""},
      {"http://a#x", {{"host", "a"}}, 400, "", ""},
      {"a/x", {{"host", "a"}}, 400, "", ""},
      {"a:80", {{"host", "a"}}, 400, "", ""},
      {"*", {{"host", "a"}}, 400, "", ""},
      {"/http://b/", {{"host", "a"}}, 200, "a", "/http://b/"},
  };
  for (const auto& c : kCases) {
    Checked checked(h1("GET", c.target), c.lines);
    ASSERT_EQ(checked.status(), c.status) << c.target;
    if (c.status != 200) continue;
    EXPECT_EQ(checked.head().authority, c.authority) << c.target;
    EXPECT_EQ(checked.head().target, c.path) << c.target;
  }
}

TEST(RequestHygiene, AsteriskIsForOptions) {
  EXPECT_EQ(Checked(h1("OPTIONS", "*"), {{"host", "a"}}).head().target, "*");
  EXPECT_EQ(Checked(h1("OPTIONS", "http://a"), {{"host", "a"}}).head().target, "*");
  EXPECT_EQ(Checked(h1("OPTIONS", "http://a/"), {{"host", "a"}}).head().target, "/");
  EXPECT_EQ(Checked(h1("OPTIONS", "**"), {{"host", "a"}}).status(), 400);
}

TEST(RequestHygiene, ConnectIsNotServed) {
  EXPECT_EQ(Checked(h1("CONNECT", "a:443"), {{"host", "a:443"}}).status(), 405);
  EXPECT_EQ(Checked(h2("CONNECT"), {}).status(), 405);
}

TEST(RequestHygiene, AnOldRequestMayLackHost) {
  EXPECT_EQ(Checked(h1("GET", "/", Version::kHttp10), {}).head().authority, "");
  EXPECT_EQ(Checked(h1("GET", "/", Version::kHttp10), {{"host", "a"}}).head().authority, "a");
  EXPECT_EQ(Checked(h1("GET", "/", Version::kHttp10), {{"host", "a"}, {"host", "a"}}).status(), 400);
}

TEST(RequestHygiene, FramingIsStatedOnce) {
  const struct {
    Lines lines;
    int status;
    Body body;
    std::uint64_t length;
  } kCases[] = {
      {{}, 200, Body::kNone, 0},
      {{{"content-length", "5"}}, 200, Body::kLength, 5},
      {{{"content-length", "0"}}, 200, Body::kNone, 0},
      {{{"content-length", "005"}}, 200, Body::kLength, 5},
      {{{"content-length", "9223372036854775807"}}, 200, Body::kLength, 9223372036854775807U},
      {{{"content-length", "9223372036854775808"}}, 400, {}, 0},
      {{{"content-length", "18446744073709551621"}}, 400, {}, 0},
      {{{"content-length", "5"}, {"content-length", "5"}}, 400, {}, 0},
      {{{"content-length", "5"}, {"content-length", "6"}}, 400, {}, 0},
      {{{"content-length", "5, 5"}}, 400, {}, 0},
      {{{"content-length", "+5"}}, 400, {}, 0},
      {{{"content-length", "-1"}}, 400, {}, 0},
      {{{"content-length", ""}}, 400, {}, 0},
      {{{"content-length", "0x5"}}, 400, {}, 0},
      {{{"content-length", "5 "}}, 400, {}, 0},
      {{{"content-length", "1_0"}}, 400, {}, 0},
      {{{"content-length", "5;"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked"}}, 200, Body::kUntilEnd, 0},
      {{{"transfer-encoding", "Chunked"}}, 200, Body::kUntilEnd, 0},
      {{{"transfer-encoding", "gzip, chunked"}}, 501, {}, 0},
      {{{"transfer-encoding", "gzip"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked, gzip"}}, 400, {}, 0},
      {{{"transfer-encoding", "identity"}}, 400, {}, 0},
      {{{"transfer-encoding", "identity, chunked"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked, chunked"}}, 400, {}, 0},
      {{{"transfer-encoding", "xchunked"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked\x0b"}}, 400, {}, 0},
      {{{"transfer-encoding", "\"chunked\""}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked;q=1"}}, 400, {}, 0},
      {{{"transfer-encoding", ",chunked"}}, 501, {}, 0},
      {{{"transfer-encoding", ""}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked"}, {"transfer-encoding", "chunked"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked"}, {"transfer-encoding", "identity"}}, 400, {}, 0},
      {{{"transfer-encoding", "chunked"}, {"content-length", "5"}}, 400, {}, 0},
      {{{"content-length", "0"}, {"transfer-encoding", "chunked"}}, 400, {}, 0},
      {{{"content-length", "x"}, {"transfer-encoding", "chunked"}}, 400, {}, 0},
  };
  for (const auto& c : kCases) {
    Lines lines = c.lines;
    lines.insert(lines.begin(), {"host", "a"});
    Checked checked(h1("POST"), lines);
    ASSERT_EQ(checked.status(), c.status) << test::render(c.lines);
    if (c.status != 200) continue;
    EXPECT_EQ(checked.head().body, c.body) << test::render(c.lines);
    EXPECT_EQ(checked.head().contentLength, c.length) << test::render(c.lines);
    EXPECT_EQ(checked.fields(), "");
  }
  EXPECT_EQ(Checked(h1("POST", "/", Version::kHttp10), {{"transfer-encoding", "chunked"}}).status(), 400);
}

TEST(RequestHygiene, OnlyOneExpectationIsKnown) {
  const auto with = [](std::string value, Version version = Version::kHttp11) {
    return Checked(h1("POST", "/", version), {{"host", "a"}, {"content-length", "1"}, {"expect", std::move(value)}});
  };
  EXPECT_TRUE(with("100-continue").head().expectContinue);
  EXPECT_TRUE(with("100-Continue").head().expectContinue);
  EXPECT_EQ(with("y 100-continue").status(), 417);
  EXPECT_EQ(with("100-continue, x").status(), 417);
  EXPECT_EQ(with("").status(), 417);
  EXPECT_FALSE(with("anything", Version::kHttp10).head().expectContinue);
  EXPECT_FALSE(Checked(h1(), {{"host", "a"}, {"expect", "100-continue"}}).head().expectContinue);
  EXPECT_EQ(Checked(h1("POST"), {{"host", "a"}, {"expect", "100-continue"}, {"expect", "100-continue"}}).status(), 417);
}

TEST(RequestHygiene, FieldsThatGuardsJudgeByOccurOnce) {
  for (const char* name : {"host", "content-type", "authorization"}) {
    const std::string value = name == std::string_view("host") ? "a" : "text/plain";
    Lines lines{{name, value}};
    if (name != std::string_view("host")) lines.emplace_back("host", "a");
    EXPECT_EQ(Checked(h1(), lines).status(), 200) << name;
    lines.emplace_back(name, value);
    EXPECT_EQ(Checked(h1(), lines).status(), 400) << name << ", even if both say the same";
    EXPECT_EQ(Checked(h2(), {{name, value}, {"x", "y"}, {name, value}}).status(), 400) << name;
  }
}

TEST(RequestHygiene, AContentTypeIsOneMediaType) {
  for (const std::string_view good :
       {"application/json", "Text/HTML", "application/vnd.api+json", "text/plain;charset=utf-8", "text/plain ; a=b;c=d",
        "text/plain;", "text/plain; ;a=b", "multipart/form-data; boundary=\"a, b; c\"", "text/plain;a=\"x\\\"y\"",
        "application/soap+xml;action=urn:x/y?z=1", "a/b\t;\tc=d", "text/plain;a=\"\""}) {
    EXPECT_TRUE(isMediaType(good)) << good;
    EXPECT_EQ(Checked(h2(), {{"content-type", std::string(good)}}).status(), 200) << good;
  }
  for (const std::string_view bad : {"",
                                     "json",
                                     "text/",
                                     "/plain",
                                     "text/plain/x",
                                     "text /plain",
                                     "text/ plain",
                                     "text/plain, application/json",
                                     "text/plain,application/json",
                                     "text/plain,",
                                     ",text/plain",
                                     "text/plain application/json",
                                     "text/plain; charset",
                                     "text/plain; charset=",
                                     "text/plain; =x",
                                     "text/plain; charset =x",
                                     "text/plain; charset= x",
                                     "text/plain;a=b, application/json",
                                     "text/plain;a=b application/json",
                                     "text/plain;a=\"b",
                                     "text/plain;a=\"b\\\"",
                                     "text/plain;a=\"b\"c",
                                     "text/plain;a=\"b\", application/json",
                                     "text/plain;a=b\"c",
                                     "\"text/plain\"",
                                     "*"}) {
    EXPECT_FALSE(isMediaType(bad)) << bad;
    EXPECT_EQ(Checked(h2(), {{"content-type", std::string(bad)}}).status(), 400) << bad;
  }
}

TEST(RequestHygiene, HopByHopFieldsEndHere) {
  Checked checked(h1(), {{"host", "a"},
                         {"connection", "X-Hop, close,te"},
                         {"x-hop", "1"},
                         {"keep-alive", "5"},
                         {"proxy-connection", "close"},
                         {"proxy-authorization", "Basic eA=="},
                         {"proxy-authenticate", "Basic"},
                         {"proxy-authentication-info", "nextnonce=1"},
                         {"upgrade", "h2c"},
                         {"http2-settings", "AA"},
                         {"te", "gzip, trailers"},
                         {"accept", "*/*"},
                         {"x-hop", "2"}});
  EXPECT_EQ(checked.fields(), "accept: */*\n");
  EXPECT_TRUE(checked.head().acceptsTrailers);
}

TEST(RequestHygiene, CredentialsForAForwardProxyAreSetAside) {
  constexpr ServerTerms kProxy{Scheme::kHttp, true};
  const Lines lines = {{"host", "a"}, {"proxy-authorization", "Basic eA=="}, {"authorization", "Bearer own"}};
  Checked proxied(h1("GET", "http://a/"), lines, kProxy);
  ASSERT_EQ(proxied.status(), 200);
  EXPECT_EQ(proxied.fields(), "authorization: Bearer own\n");
  ASSERT_NE(proxied.head().proxyAuthorization, nullptr);
  EXPECT_EQ(*proxied.head().proxyAuthorization, "Basic eA==");
  base::ChunkPool pool;
  base::Arena arena(pool);
  EXPECT_EQ(clone(arena, proxied.head()).proxyAuthorization, nullptr);
  EXPECT_EQ(Checked(h1(), lines).head().proxyAuthorization, nullptr) << "a gateway is no proxy";
  EXPECT_EQ(Checked(h1("GET", "http://a/"), {{"host", "a"}}, kProxy).head().proxyAuthorization, nullptr);
  const Lines twice = {{"host", "a"}, {"proxy-authorization", "Basic eA=="}, {"proxy-authorization", "Basic eQ=="}};
  EXPECT_EQ(Checked(h1("GET", "http://a/"), twice, kProxy).status(), 400);
  EXPECT_EQ(Checked(h1(), twice).status(), 200);
}

TEST(RequestHygiene, ConnectionCannotNameFieldsOfTheGateway) {
  Checked checked(h1(),
                  {{"connection", "host, content-length, authorization, x-forwarded-for, via, sluice-via, cookie"},
                   {"host", "a"},
                   {"content-length", "3"},
                   {"authorization", "x"},
                   {"x-forwarded-for", "1.2.3.4"},
                   {"via", "1.1 p"},
                   {"sluice-via", "1.1 q"},
                   {"cookie", "k"}});
  EXPECT_EQ(checked.fields(), "authorization: x\nx-forwarded-for: 1.2.3.4\nvia: 1.1 p\nsluice-via: 1.1 q\ncookie: k\n");
  EXPECT_EQ(checked.head().authority, "a");
  EXPECT_EQ(checked.head().contentLength, 3U);
}

TEST(RequestHygiene, ConnectionOptionsAreBounded) {
  std::string options = "a";
  for (int i = 1; i < 64; ++i) options += ",a";
  EXPECT_EQ(Checked(h1(), {{"host", "a"}, {"connection", options}}).status(), 200);
  EXPECT_EQ(Checked(h1(), {{"host", "a"}, {"connection", options + ",a"}}).status(), 400);
}

TEST(RequestHygiene, CookieCrumbsBecomeOneLine) {
  Checked checked(h2(), {{"cookie", "a=1"}, {"x", "y"}, {"cookie", "b=2"}, {"cookie", "c=3"}});
  EXPECT_EQ(checked.fields(), "x: y\ncookie: a=1; b=2; c=3\n");
  EXPECT_EQ(Checked(h2(), {{"cookie", ""}, {"cookie", "a"}, {"cookie", ""}}).fields(), "cookie: a\n");
  EXPECT_EQ(Checked(h2(), {{"cookie", ""}, {"cookie", ""}}).fields(), "cookie: \n");
}

TEST(RequestHygiene, NamesAndValuesFollowTheGrammar) {
  for (const std::string_view name : {"", "a b", "a:", "X-Upper", ":path", "a\r", "a\x01", "a\x80", "a\"", "(a)"}) {
    EXPECT_EQ(Checked(h2(), {{std::string(name), "v"}}).status(), 400) << name;
  }
  const std::string padding(16, 'p');
  for (const std::string& value :
       {std::string("a\r\nb"), std::string("a\nb"), std::string("a\rb"), std::string("a\0b", 3), std::string("\x7f"),
        std::string(" a"), std::string("a "), std::string("\ta"), padding + "\x01" + padding,
        padding + std::string(1, '\0') + padding, padding + "\x7f"}) {
    EXPECT_EQ(Checked(h2(), {{"x", value}}).status(), 400) << value;
  }
  for (const std::string& value :
       {std::string(), std::string("a\tb c"), std::string("\x80\xff"), padding + "\t" + padding + "~!"}) {
    EXPECT_EQ(Checked(h2(), {{"x", value}}).status(), 200) << value;
  }
  EXPECT_EQ(Checked(h2("GE T"), {}).status(), 400);
  EXPECT_EQ(Checked(h2(""), {}).status(), 400);
}

TEST(RequestHygiene, Http2HasNoConnectionFields) {
  for (const char* name : {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"}) {
    EXPECT_EQ(Checked(h2(), {{name, "x"}}).status(), 400) << name;
  }
  EXPECT_EQ(Checked(h2(), {{"te", "gzip"}}).status(), 400);
  EXPECT_EQ(Checked(h2(), {{"te", "trailers, gzip"}}).status(), 400);
  EXPECT_TRUE(Checked(h2(), {{"te", "trailers"}}).head().acceptsTrailers);
}

TEST(RequestHygiene, Http2AuthorityAndHostAgree) {
  EXPECT_EQ(Checked(h2(), {{"host", "A"}}).head().authority, "a");
  EXPECT_EQ(Checked(h2(), {{"host", "b"}}).status(), 400);
  RawRequest raw = h2();
  raw.authority = {};
  EXPECT_EQ(Checked(raw, {{"host", "b"}}).head().authority, "b");
  EXPECT_EQ(Checked(raw, {}).status(), 400);
  raw = h2();
  raw.scheme = {};
  EXPECT_EQ(Checked(raw, {}).status(), 400);
  raw = h2();
  raw.authority = "a:80";
  EXPECT_EQ(Checked(raw, {{"host", "a"}}).head().authority, "a:80");
  EXPECT_EQ(Checked(raw, {{"host", "a:443"}}).status(), 400);
}

TEST(RequestHygiene, TheSchemeIsTheListeners) {
  RawRequest raw = h2();
  EXPECT_EQ(Checked(raw, {}).head().scheme, Scheme::kHttp);
  raw.scheme = "HTTPS";
  EXPECT_EQ(Checked(raw, {}, Scheme::kHttps).head().scheme, Scheme::kHttps);
  EXPECT_EQ(Checked(raw, {}).head().scheme, Scheme::kHttp) << "TLS may have ended before this listener";
  raw.scheme = "http";
  EXPECT_EQ(Checked(raw, {}, Scheme::kHttps).status(), 400);
  RawRequest absolute;
  absolute.method = "GET";
  absolute.target = "https://a/";
  EXPECT_EQ(Checked(absolute, {{"host", "a"}}, Scheme::kHttps).head().scheme, Scheme::kHttps);
  EXPECT_EQ(Checked(absolute, {{"host", "a"}}).head().scheme, Scheme::kHttp) << "as with :scheme";
  absolute.target = "http://a/";
  EXPECT_EQ(Checked(absolute, {{"host", "a"}}, Scheme::kHttps).status(), 400);
}

TEST(RequestHygiene, KeepsThePathThatWasSentBesideItsNormalForm) {
  const struct {
    std::string_view target;
    std::string_view path;
    std::string_view sent;
  } kCases[] = {{"/a/b?%2f", "/a/b", ""},
                {"/%61?%2f", "/a", "/%61"},
                {"/a%2fb?c", "/a%2Fb", "/a%2fb"},
                {"/a%2Fb//c", "/a%2Fb//c", "/a%2Fb//c"},
                {"/.well-known/x", "/.well-known/x", ""},
                {"/%2ewell-known", "/.well-known", "/%2ewell-known"},
                {"/%61/./b", "/a/b", ""},
                {"/x/%2e%2e/%61//b", "/a//b", ""}};
  for (const auto& c : kCases) {
    RawRequest raw = h2();
    raw.target = c.target;
    for (const RawRequest& each : {raw, h1("GET", c.target)}) {
      Checked checked(each, each.version == Version::kHttp2 ? Lines{} : Lines{{"host", "a"}});
      EXPECT_EQ(checked.head().path(), c.path) << c.target;
      EXPECT_EQ(checked.head().sentPath, c.sent) << c.target;
    }
  }
}

TEST(RequestHygiene, Http2BodiesAreKnownByTheStreamsEnd) {
  EXPECT_EQ(Checked(h2("POST", false), {}).head().body, Body::kUntilEnd);
  EXPECT_EQ(Checked(h2("POST", false), {{"content-length", "3"}}).head().body, Body::kLength);
  EXPECT_EQ(Checked(h2("POST", true), {{"content-length", "0"}}).head().body, Body::kNone);
  EXPECT_EQ(Checked(h2("POST", true), {{"content-length", "3"}}).status(), 400);
}

struct CheckedResponse {
  CheckedResponse(RawResponse raw, const Lines& lines, Method method = Method::kGet) {
    for (const auto& [name, value] : lines) raw.fields.add(arena, arena.copy(name), arena.copy(value));
    head = checkResponse(arena, raw, method, closes);
  }
  base::ChunkPool pool;
  base::Arena arena{pool};
  bool closes = false;
  base::Result<ResponseHead> head = ResponseHead{};
};

RawResponse answer(std::uint16_t status, Version version = Version::kHttp11) {
  RawResponse raw;
  raw.status = status;
  raw.version = version;
  return raw;
}

TEST(ResponseHygiene, FramingIsStatedOnce) {
  const struct {
    std::uint16_t status;
    Lines lines;
    bool ok;
    Body body;
    bool closes;
  } kCases[] = {
      {200, {{"content-length", "5"}}, true, Body::kLength, false},
      {200, {{"content-length", "5"}, {"content-length", "5"}}, true, Body::kLength, false},
      {200, {{"content-length", "0"}}, true, Body::kNone, false},
      {200, {{"transfer-encoding", "chunked"}}, true, Body::kUntilEnd, false},
      {200, {{"transfer-encoding", "chunked"}, {"connection", "close"}}, true, Body::kUntilEnd, true},
      {200, {}, true, Body::kUntilEnd, true},
      {204, {}, true, Body::kNone, false},
      {204, {{"content-length", "0"}}, true, Body::kNone, false},
      {304, {{"content-length", "500"}}, true, Body::kNone, false},
      {103, {}, true, Body::kNone, false},
      {200, {{"content-length", "5"}, {"content-length", "6"}}, false, {}, {}},
      {200, {{"content-length", "5"}, {"transfer-encoding", "chunked"}}, false, {}, {}},
      {200, {{"content-length", "5, 5"}}, false, {}, {}},
      {200, {{"content-length", "-5"}}, false, {}, {}},
      {200, {{"transfer-encoding", "gzip, chunked"}}, false, {}, {}},
      {200, {{"transfer-encoding", "identity"}}, true, Body::kUntilEnd, true},
      {200, {{"transfer-encoding", "identity"}, {"content-length", "1"}}, true, Body::kLength, true},
      {200, {{"transfer-encoding", "identity, chunked"}}, false, {}, {}},
      {200, {{"transfer-encoding", "identity"}, {"transfer-encoding", "chunked"}}, false, {}, {}},
      {304, {{"transfer-encoding", "identity"}}, true, Body::kNone, true},
      {204, {{"transfer-encoding", "chunked"}}, true, Body::kNone, true},
      {304, {{"transfer-encoding", "chunked"}}, true, Body::kNone, false},
      {103, {{"transfer-encoding", "chunked"}}, true, Body::kNone, false},
      {101, {}, false, {}, {}},
      {99, {}, false, {}, {}},
      {600, {}, true, Body::kUntilEnd, true},
      {999, {}, true, Body::kUntilEnd, true},
      {200, {{"content-length", "0"}, {"x", "a\nb"}}, false, {}, {}},
  };
  for (const auto& c : kCases) {
    const CheckedResponse checked(answer(c.status), c.lines);
    ASSERT_EQ(checked.head.ok(), c.ok) << c.status << "\n" << test::render(c.lines);
    if (!c.ok) {
      EXPECT_EQ(checked.head.error().type, base::ErrorType::kHttpProtocolError);
      continue;
    }
    EXPECT_EQ(checked.head->body, c.body) << c.status << "\n" << test::render(c.lines);
    EXPECT_EQ(checked.closes, c.closes) << c.status << "\n" << test::render(c.lines);
  }
}

// The client judges the fields of an origin, and no guard of the gateway depends on them.
TEST(ResponseHygiene, FieldsForTheGatewayAloneEndHere) {
  const Lines lines = {{"content-length", "5"},
                       {"proxy-authenticate", "Basic"},
                       {"proxy-authentication-info", "nextnonce=1"},
                       {"proxy-connection", "close"},
                       {"proxy-status", "other"}};
  const CheckedResponse checked(answer(200), lines);
  ASSERT_TRUE(checked.head.ok());
  EXPECT_EQ(test::render(test::fieldList(checked.head->headers)), "proxy-status: other\n");
}

TEST(ResponseHygiene, ContentTypesAreTheClientsToJudge) {
  EXPECT_TRUE(CheckedResponse(answer(200), {{"content-length", "0"}, {"content-type", "a, b"}, {"content-type", ""}})
                  .head.ok());
}

TEST(ResponseHygiene, HeadAnswersDescribeABodyThatDoesNotCome) {
  const CheckedResponse head(answer(200), {{"content-length", "5"}}, Method::kHead);
  EXPECT_EQ(head.head->body, Body::kNone);
  EXPECT_EQ(head.head->contentLength, 5U);
  EXPECT_EQ(CheckedResponse(answer(200), {{"transfer-encoding", "chunked"}}, Method::kHead).head->body, Body::kNone);
  EXPECT_EQ(CheckedResponse(answer(204), {{"content-length", "5"}}).head->contentLength, std::nullopt);
}

TEST(ResponseHygiene, OldConnectionsCloseUnlessAskedToStay) {
  const Lines length{{"content-length", "1"}};
  EXPECT_TRUE(CheckedResponse(answer(200, Version::kHttp10), length).closes);
  EXPECT_FALSE(
      CheckedResponse(answer(200, Version::kHttp10), {{"content-length", "1"}, {"connection", "Keep-Alive"}}).closes);
  EXPECT_FALSE(CheckedResponse(answer(200, Version::kHttp10), {{"transfer-encoding", "chunked"}}).head.ok());
}

TEST(ResponseHygiene, Http2EndsWithTheStream) {
  RawResponse raw = answer(200, Version::kHttp2);
  EXPECT_EQ(CheckedResponse(raw, {}).head->body, Body::kUntilEnd);
  EXPECT_FALSE(CheckedResponse(raw, {}).closes);
  EXPECT_FALSE(CheckedResponse(raw, {{"connection", "close"}}).head.ok());
  raw.endOfStream = true;
  EXPECT_EQ(CheckedResponse(raw, {}).head->body, Body::kNone);
  EXPECT_FALSE(CheckedResponse(raw, {{"content-length", "3"}}).head.ok());
  EXPECT_TRUE(CheckedResponse(raw, {{"content-length", "3"}}, Method::kHead).head.ok());
}

TEST(Trailers, KeepOnlyFieldsThatMayFollowABody) {
  base::ChunkPool pool;
  base::Arena arena(pool);
  Headers fields;
  for (const char* name : {"grpc-status", "content-length", "host", "x-checksum", "transfer-encoding", "te", "trailer",
                           "connection", "authorization", "set-cookie", "grpc-message", "x-forwarded-for", "via",
                           "proxy-authorization", "proxy-authenticate", "proxy-authentication-info"}) {
    fields.add(arena, name, "1");
  }
  EXPECT_TRUE(checkTrailers(fields));
  EXPECT_EQ(test::render(test::fieldList(fields)), "grpc-status: 1\nx-checksum: 1\ngrpc-message: 1\n");
  fields.add(arena, ":status", "200");
  EXPECT_FALSE(checkTrailers(fields));
}

}  // namespace
}  // namespace sluice::http
