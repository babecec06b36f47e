// Tests explanations of requests to forward proxies: tunnels and URLs of other hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/control/explain/egress_world.h"

namespace sluice::control {
namespace {

using routing::EgressRuling;
using test::asking;
using test::explained;
using test::gatewayWith;
using test::policyOfGateway;
using test::refusedQuestion;
using test::World;
using testing::HasSubstr;

constexpr const char* kProxyPort = "{name: proxy, protocol: sluice.dev/HTTPPROXY, port: 3128}";
constexpr const char* kNames =
    "rules: [{name: names, to: {hostnames: [a.test], ports: [443, 80, 8443]}}, {name: posts, http: {methods: [POST]}}]";

World proxyWorld(const std::string& listeners = kProxyPort) {
  const std::string gateway = gatewayWith(listeners);
  const std::string policy = policyOfGateway("p", kNames);
  return World({test::kClass, gateway, policy});
}

const ExplainedBackend& only(const Explanation& explanation) { return explanation.backends.at(0); }

EgressRuling rulingOn(const World& world, const RequestInQuestion& question) {
  const Explanation explanation = explained(world, question);
  return only(explanation).egress.value().enforced.ruling;
}

TEST(ExplainedProxies, SendTunnelsToTheirDestination) {
  const World world = proxyWorld();
  const Explanation explanation = explained(world, "connect://a.test:443");
  EXPECT_EQ(explanation.listener->name, "proxy");
  EXPECT_EQ(explanation.method, "CONNECT");
  EXPECT_EQ(only(explanation).hostname, "a.test");
  EXPECT_EQ(only(explanation).port, 443);
  EXPECT_EQ(only(explanation).egress->enforced.rule, "names");
  EXPECT_EQ(rulingOn(world, asking("connect://b.test:443")), EgressRuling::kDenied);
}

TEST(ExplainedProxies, JudgeTunnelsByTheNameOfTls) {
  RequestInQuestion question = asking("connect://a.test:443");
  question.serverName = "b.test";
  EXPECT_EQ(rulingOn(proxyWorld(), question), EgressRuling::kDenied);
  question.serverName = "a.test";
  EXPECT_EQ(rulingOn(proxyWorld(), question), EgressRuling::kPassed);
}

TEST(ExplainedProxies, SendUrlsToTheHostThatTheyName) {
  const World world = proxyWorld();
  const Explanation plain = explained(world, "http://a.test/x");
  EXPECT_EQ(plain.listener->name, "proxy");
  EXPECT_EQ(plain.path, "/x");
  EXPECT_EQ(only(plain).hostname, "a.test");
  EXPECT_EQ(only(plain).port, 80);
  EXPECT_FALSE(only(plain).tls);
  const Explanation secure = explained(world, "https://a.test:8443/x");
  EXPECT_EQ(only(secure).port, 8443);
  EXPECT_TRUE(only(secure).tls);
  EXPECT_EQ(rulingOn(world, asking("http://b.test/x")), EgressRuling::kDenied);
  RequestInQuestion post = asking("http://b.test/x");
  post.method = "POST";
  EXPECT_EQ(rulingOn(world, post), EgressRuling::kPassed) << "a proxy sees the methods of http";
}

TEST(ExplainedProxies, AreMeantWhereNoListenerIsAtTheUrl) {
  const World world =
      proxyWorld(std::string(kProxyPort) + ", {name: web, protocol: HTTP, port: 80, hostname: '*.web.test'}");
  const auto sectionOf = [&](const std::string& url) { return explained(world, url).listener->name; };
  EXPECT_EQ(sectionOf("http://a.web.test/"), "web");
  EXPECT_EQ(sectionOf("https://a.test/"), "proxy") << "no other listener speaks https";
  EXPECT_EQ(sectionOf("http://a.test:8443/"), "proxy") << "no other listener has the port";
  EXPECT_EQ(sectionOf("connect://a.web.test:443"), "proxy");
  const World web({test::kClass, test::kGateway});
  EXPECT_THAT(refusedQuestion(web, asking("connect://a.test:443")), HasSubstr("no listener is a forward proxy"));
}

}  // namespace
}  // namespace sluice::control
