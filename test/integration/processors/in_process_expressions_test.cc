// Tests GEP-5091's InProcess with real requests: values that are expressions, edits of bodies, and how it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/child_process.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEdits =
    "request: {setHeaders: [{name: x-model, value: 'json(request.body).model'}], setBodyFields: [{name: $.stream, "
    "value: 'request.headers[\"x-tier\"] == \"gold\"'}, {name: $.model, value: '\"prefix/\" + "
    "json(request.body).model'}], removeBodyFields: [$.user_email]}";

std::string expressions(const std::string& edits, const std::string& mode) {
  return "{name: edit, type: InProcess, failureMode: " + mode + ", inProcess: {" + edits + "}}";
}

class InProcessExpressions : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& routes) const {
    return {.backends = {{.port = origin_.port()}}, .routes = routes};
  }
  static std::string post(const GatewayProcess& gateway, const std::string& target, const std::string& body,
                          std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"curl", "-sS", "-i", "-H", "x-tier: gold", "--data-binary", body,
                               "http://127.0.0.1:" + std::to_string(gateway.port()) + target});
    return run(more).output;
  }

  RecordingOrigin origin_{[](std::size_t) {
    return std::string(
        "HTTP/1.1 200 OK\r\nserver: origin\r\ncontent-type: application/json\r\ncontent-length: "
        "25\r\n\r\n{\"id\": \"r1\", \"usage\": 12}");
  }};
};

TEST_F(InProcessExpressions, SetHeadersAndFieldsOfBodies) {
  const GatewayProcess gateway(
      specOf(routeOfRules("    - filters: [" + inlined(expressions(kEdits, "FailClosed")) + "]\n" + backendRefs())));
  const std::string body = R"({ "model":"m", "t": 1.50e0, "user_email":"a@b", "n":10000000000000000000000 })";
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_THAT(post(gateway, "/", body, {version}), HasSubstr(" 200"));
  }
  const std::string edited = R"({ "model":"prefix/m", "t": 1.50e0, "n":10000000000000000000000,"stream":true })";
  // Added members come right behind the last member.
  EXPECT_THAT(origin_.bodies(), testing::Each(edited));
  EXPECT_EQ(origin_.bodies().size(), 2U);
  EXPECT_THAT(origin_.heads().back(), HasSubstr("x-model: m\r\n"));
  EXPECT_THAT(origin_.heads().back(), HasSubstr("content-length: " + std::to_string(edited.size()) + "\r\n"));
}

TEST_F(InProcessExpressions, EditRequestAndResponseInOneUse) {
  const std::string both =
      "request: {setHeaders: [{name: x-path, value: request.path}]}, response: {setHeaders: [{name: x-id, value: "
      "'json(response.body).id + \"-\" + string(response.code)'}], removeHeaders: [server], setBodyFields: [{name: "
      "usage, value: 'json(response.body).usage + 1'}]}";
  const GatewayProcess gateway(
      specOf(routeOfRules("    - filters: [" + inlined(expressions(both, "FailClosed")) + "]\n" + backendRefs())));
  const std::string answer = post(gateway, "/a?b=c", "x");
  EXPECT_THAT(answer, HasSubstr("x-id: r1-200\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("server: ")));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\n{\"id\": \"r1\", \"usage\": 13}"));
  EXPECT_THAT(origin_.heads().back(), HasSubstr("x-path: /a?b=c\r\n"));
}

TEST_F(InProcessExpressions, ReadAndEditTheTextOfCompressedBodies) {
  const std::string reads = "request: {setHeaders: [{name: x-model, value: 'json(request.body).model'}]}";
  const auto rule = [](const std::string& path, const std::string& edits) {
    return "    - matches: [{path: {value: " + path + "}}]\n      filters: [" +
           inlined(expressions(edits, "FailClosed")) + "]\n" + backendRefs();
  };
  const GatewayProcess gateway(specOf(routeOfRules(rule("/read", reads) + rule("/edit", kEdits))));
  const TempDir folder;
  const std::string file = folder.write("body.json", R"({"model": "m"})");
  run({"gzip", file});
  const std::vector<std::string> gzip = {"-H", "content-encoding: gzip"};
  EXPECT_THAT(post(gateway, "/read", "@" + file + ".gz", gzip), HasSubstr(" 200"));
  EXPECT_THAT(origin_.heads().back(), HasSubstr("x-model: m\r\n"));
  EXPECT_THAT(origin_.heads().back(), HasSubstr("content-encoding: gzip\r\n"));
  EXPECT_EQ(origin_.bodies().back(), readFile(file + ".gz"));
  EXPECT_THAT(post(gateway, "/edit", "@" + file + ".gz", gzip), HasSubstr(" 200"));
  EXPECT_EQ(origin_.bodies().back(), R"({"model": "prefix/m","stream":true})");
  EXPECT_THAT(origin_.heads().back(), Not(HasSubstr("content-encoding")));
}

TEST_F(InProcessExpressions, RunBeforeRouting) {
  const std::string rules = "    - matches: [{headers: [{name: x-model, value: m}]}]\n" + backendRefs();
  const GatewayProcess gateway(
      specOf(routeOfRules(rules) +
             "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: model}\n"
             "spec: {phase: PreRouting, targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}, "
             "processors: [" +
             expressions(kEdits, "FailClosed") + "]}\n"));
  EXPECT_THAT(post(gateway, "/", R"({"model": "m"})"), HasSubstr(" 200"));
  EXPECT_THAT(post(gateway, "/", R"({"model": "other"})"), HasSubstr(" 404"));
}

TEST_F(InProcessExpressions, FailClosedOrOpen) {
  const auto rule = [](const std::string& path, const std::string& use) {
    return "    - matches: [{path: {value: " + path + "}}]\n      filters: [" + inlined(use) + "]\n" + backendRefs();
  };
  GatewaySpec spec = specOf(routeOfRules(rule("/closed", expressions(kEdits, "FailClosed")) +
                                         rule("/open", expressions(kEdits, "FailOpen")) +
                                         rule("/unknown", expressions("request: {setHeaders: [{name: a, value: "
                                                                      "'b.all(c, c)'}]}",
                                                                      "FailClosed"))));
  const GatewayProcess gateway(spec);
  const std::string large = "{\"model\": \"m\", \"pad\": \"" + std::string(2 * 1024 * 1024, 'a') + "\"}";
  EXPECT_THAT(post(gateway, "/closed", "no JSON"), HasSubstr(" 400"));
  EXPECT_THAT(post(gateway, "/closed", R"({"no": "model"})"), HasSubstr("\"code\":\"processor_failed\""));
  EXPECT_THAT(post(gateway, "/unknown", "{}"), HasSubstr("\"code\":\"proxy_configuration_error\""));
  EXPECT_THAT(gateway.adminGet("/status"),
              HasSubstr("inProcess: request.setHeaders[0].value: at character 3: all() is not supported"));
  EXPECT_EQ(origin_.bodies().size(), 0U);
  EXPECT_THAT(post(gateway, "/open", "no JSON"), HasSubstr(" 200"));
  EXPECT_THAT(post(gateway, "/open", R"({"no": "model"})"), HasSubstr(" 200"));
  EXPECT_THAT(origin_.bodies(), ElementsAre("no JSON", R"({"no": "model"})"));
  EXPECT_THAT(origin_.heads().back(), Not(HasSubstr("x-model")));
  const TempDir folder;
  const std::string file = folder.write("large.json", large);
  EXPECT_THAT(post(gateway, "/closed", "@" + file), HasSubstr(" 413"));
  EXPECT_THAT(post(gateway, "/open", "@" + file), HasSubstr(" 200"));
  EXPECT_EQ(origin_.bodies().back(), large);
}

}  // namespace
}  // namespace sluice::test
