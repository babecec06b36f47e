// The query of the admin page /explain.
#include "proxy/server/admin/explain_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proxy/base/byte_queue.h"

namespace sluice::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusalOfQuery(std::string_view query) {
  const auto read = readExplainQuery(query);
  return read ? "" : read.error().detail;
}

TEST(ExplainQuery, HoldsARequest) {
  const auto read = readExplainQuery(
      "method=POST&url=https%3A%2F%2Fa.test%2Fx%3Fa%3D1%26b&header=x-a:+1&header=x-b%3A2&clientAddress=10.0.0.1&"
      "gateway="
      "demo/egress");
  ASSERT_TRUE(read.ok()) << read.error().detail;
  EXPECT_EQ(read->request.method, "POST");
  EXPECT_EQ(read->request.url, "https://a.test/x?a=1&b");
  EXPECT_THAT(read->request.headers, ElementsAre("x-a: 1", "x-b:2"));
  EXPECT_EQ(read->request.clientAddress, "10.0.0.1");
  EXPECT_EQ(read->request.gateway, "demo/egress");
  EXPECT_EQ(readExplainQuery("url=http://a")->request.method, "GET");
}

TEST(ExplainQuery, HoldsACaller) {
  const auto read = readExplainQuery("url=http://a&as=demo/web&principal=spiffe%3A%2F%2Fa%2Fb&assurance=Token");
  ASSERT_TRUE(read.ok()) << read.error().detail;
  EXPECT_EQ(read->request.caller.account, "demo/web");
  EXPECT_EQ(read->request.caller.principal, "spiffe://a/b");
  EXPECT_EQ(read->request.caller.assurance, "Token");
  EXPECT_FALSE(readExplainQuery("url=http://a")->request.caller.isTold());
}

TEST(ExplainQuery, ReadsWhatWasWritten) {
  ExplainQuery query;
  query.request = {
      "POST", "https://a.test/x?a=1&b=\u00e4 c", {"x-a: 1+1", "x-b: %"}, "demo/egress", "10.0.0.1", "b.test", {}};
  query.request.caller = {"demo/web", "CN=a b, O=c", "Token"};
  query.forPeople = true;
  query.resolve = true;
  const auto read = readExplainQuery(writeExplainQuery(query));
  ASSERT_TRUE(read.ok()) << read.error().detail;
  EXPECT_EQ(read->request.method, query.request.method);
  EXPECT_EQ(read->request.url, query.request.url);
  EXPECT_EQ(read->request.headers, query.request.headers);
  EXPECT_EQ(read->request.gateway, query.request.gateway);
  EXPECT_EQ(read->request.clientAddress, query.request.clientAddress);
  EXPECT_EQ(read->request.serverName, query.request.serverName);
  EXPECT_EQ(read->request.caller.account, query.request.caller.account);
  EXPECT_EQ(read->request.caller.principal, query.request.caller.principal);
  EXPECT_EQ(read->request.caller.assurance, query.request.caller.assurance);
  EXPECT_TRUE(read->forPeople);
  EXPECT_TRUE(read->resolve);
  EXPECT_FALSE(readExplainQuery("url=http://a&resolve=false")->resolve);
}

TEST(ExplainQuery, IsRefusedWithAReason) {
  EXPECT_EQ(refusalOfQuery(""), "url is missing");
  EXPECT_EQ(refusalOfQuery("method=GET"), "url is missing");
  EXPECT_THAT(refusalOfQuery("url=http://a&host=b"), HasSubstr("\"host\" is no parameter"));
  EXPECT_EQ(refusalOfQuery("url=http://a&output=xml"), "output is json or text");
  EXPECT_EQ(refusalOfQuery("url=http://a&resolve=1"), "resolve is true or false");
  EXPECT_THAT(refusalOfQuery("url=%zz"), HasSubstr("two hex digits"));
  EXPECT_THAT(refusalOfQuery("url=%"), HasSubstr("two hex digits"));
}

TEST(ExplainQuery, IsBounded) {
  const std::string url = "url=http://a/";
  EXPECT_EQ(refusalOfQuery(url + std::string(kMaxExplainQuery - url.size(), 'x')), "");
  EXPECT_THAT(refusalOfQuery(url + std::string(kMaxExplainQuery - url.size() + 1, 'x')), HasSubstr("longer than 8192"));
}

}  // namespace
}  // namespace sluice::server
