// Tests paths in several spellings: "%2F" and "//", which object stores, GitLab and npm need, and encodings that
// signatures cover. Rules, steps and policies see one form of them, and the origin, which shows each request line, gets
// the bytes that came.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// Returns an HTTPRoute for a hostname, with one rule per match.
std::string routeOfPaths(const std::string& hostname, const std::vector<std::string>& matches) {
  std::string route =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + hostname +
      "}\nspec:\n  parentRefs: [{name: egress}]\n  hostnames: [" + hostname + "]\n  rules:\n";
  for (const std::string& match : matches) route += "    - matches: [" + match + "]\n" + backendRefs();
  return route;
}

/// Runs a gateway for two hosts: store.test, all of whose paths go to the origin, and api.test with rules for paths, of
/// which /closed has no Backend.
class Paths : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& settings = {}) const {
    return {.backends = {{.port = origin_.port()}},
            .settings = settings,
            .routes = routeOfPaths("store.test", {"{path: {value: /}}"}) +
                      routeOfPaths("api.test", {"{path: {value: /admin}, method: DELETE}", "{path: {value: /}}"}) +
                      "    - matches: [{path: {value: /closed}}]\n"};
  }

  /// Returns the path that the origin got, or the status of the gateway's answer.
  std::string forwarded(const GatewayProcess& gateway, const std::string& host, const std::string& path) {
    const std::size_t before = origin_.heads().size();
    const std::string status = statusOf(gateway, path, {"--path-as-is", "-H", "Host: " + host});
    const std::vector<std::string> heads = origin_.heads();
    if (heads.size() == before) return status;
    const std::string& head = heads.back();
    return head.substr(4, head.find(' ', 4) - 4);
  }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")};
};

TEST_F(Paths, UnusualSlashesReachAHostWithoutPathRules) {
  const GatewayProcess gateway(specOf());
  for (const std::string path : {"/bucket//key", "/bucket/key%2Fpart", "/api/v4/projects/group%2Fname/issues?x=%2f",
                                 "/@scope%2Fname", "//", "/a%2F"}) {
    EXPECT_EQ(forwarded(gateway, "store.test", path), path);
  }
  EXPECT_EQ(forwarded(gateway, "store.test", "/a%2fb%41"), "/a%2fb%41");
  for (const std::string path : {"/..%2fetc", "/a%2f..%2fb", "/a%5Cb", "//../.."}) {
    EXPECT_EQ(forwarded(gateway, "store.test", path), "400") << path;
  }
}

TEST_F(Paths, ARuleForAPathIsNotWalkedAround) {
  const GatewayProcess gateway(specOf());
  for (const std::string path : {"//closed", "/%63losed", "/a/..//closed/x"}) {
    EXPECT_EQ(forwarded(gateway, "api.test", path), "500") << path;
  }
  EXPECT_EQ(forwarded(gateway, "api.test", "//admin"), "//admin");
  EXPECT_EQ(forwarded(gateway, "api.test", "/a//b"), "/a//b");
  EXPECT_EQ(forwarded(gateway, "api.test", "/a/./%62//c"), "/a/b/c");
  for (const std::string path : {"/%2Fadmin", "/admin%2F", "/a%2Fb"}) {
    EXPECT_EQ(forwarded(gateway, "api.test", path), "400") << path;
  }
}

TEST_F(Paths, SettingsDecideForAllHosts) {
  GatewayProcess gateway(specOf("paths: {encodedSlash: Decode, mergeSlashes: true}\n"));
  for (const std::string host : {"store.test", "api.test"}) {
    EXPECT_EQ(forwarded(gateway, host, "/a%2F%2fb//c"), "/a/b/c") << host;
  }
  gateway.reload(specOf("paths: {encodedSlash: Keep, mergeSlashes: false}\n"));
  for (const std::string host : {"store.test", "api.test"}) {
    EXPECT_EQ(forwarded(gateway, host, "/a%2Fb//c"), "/a%2Fb//c") << host;
  }
  gateway.reload(specOf("paths: {encodedSlash: Reject}\n"));
  EXPECT_EQ(forwarded(gateway, "store.test", "/a%2Fb"), "400");
  EXPECT_EQ(forwarded(gateway, "store.test", "/a//b%41"), "/a//b%41");
  for (const char* settings : {"{mergeSlashes: true}", "{encodedSlash: Decode}"}) {
    gateway.reload(specOf("paths: " + std::string(settings) + "\n"));
    EXPECT_EQ(forwarded(gateway, "store.test", "/a%41%3a"), "/aA%3A") << settings;
  }
}

TEST_F(Paths, OfRewritesAndCopiesAreThoseOfTheRule) {
  const RawOrigin copies(RawOrigin::answering(kOk));
  const std::string copied = "{type: RequestMirror, requestMirror: {backendRef: " + backendRef("copy") + "}}";
  const std::string prefix =
      "{type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /new}}}";
  const GatewayProcess gateway(
      {.backends = {{.port = origin_.port()}, {.name = "copy", .hostname = "copy.test", .port = copies.port()}},
       .routes = routeOfRules("    - matches: [{path: {value: /old}}]\n      filters: [" + prefix + "]\n" +
                              backendRefs() + "    - filters: [" + copied + "]\n" + backendRefs())});
  EXPECT_EQ(forwarded(gateway, "a", "/%6fld/%61%3a?%61"), "/new/a%3A?%61");
  EXPECT_EQ(forwarded(gateway, "a", "//%61%3a?%61"), "//%61%3a?%61");
  EXPECT_TRUE(eventually([&] { return copies.heads().size() == 1; }));
  EXPECT_THAT(copies.heads().at(0), HasSubstr("GET //%61%3a?%61 HTTP/1.1\r\n"));
}

TEST_F(Paths, AreJudgedByPoliciesInTheirNormalForm) {
  GatewaySpec spec = specOf();
  spec.routes += egressPolicy("p", kGatewayTarget,
                              "default: Allow, rules: [" + denying("no", "http: {paths: [{value: /no}]}") + "]");
  GatewayProcess gateway(spec);
  for (const std::string path : {"/no", "/n%6f/x", "/a/%2e%2e/no"}) {
    EXPECT_EQ(forwarded(gateway, "store.test", path), "403") << path;
  }
  EXPECT_EQ(forwarded(gateway, "api.test", "//no"), "403");
  EXPECT_EQ(forwarded(gateway, "store.test", "/n%6fne"), "/n%6fne");
  EXPECT_THAT(gateway.accessLog(2).at(1), HasSubstr("\"url.path\":\"/no/x\""));
}

TEST_F(Paths, HaveTheSameFormInHttp2) {
  const GatewayProcess gateway(specOf());
  const auto status = [&](const std::string& host, const std::string& path) {
    return statusOf(gateway, path, {"--http2-prior-knowledge", "--path-as-is", "-H", "Host: " + host});
  };
  EXPECT_EQ(status("store.test", "/a%2fb//c"), "200");
  EXPECT_THAT(origin_.heads().back(), HasSubstr("GET /a%2fb//c HTTP/1.1\r\n"));
  EXPECT_EQ(status("api.test", "/a//b"), "200");
  EXPECT_THAT(origin_.heads().back(), HasSubstr("GET /a//b HTTP/1.1\r\n"));
  EXPECT_EQ(status("api.test", "/a%2fb"), "400");
}

}  // namespace
}  // namespace sluice::test
