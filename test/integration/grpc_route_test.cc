// Tests GRPCRoutes with grpc-js on both sides, and with curl for requests that are not gRPC.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/h2_client.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/raw_origin.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns a GRPCRoute with these rules, given as lines of YAML, for all hosts or one.
std::string grpcRouteOf(const std::string& rules, const std::string& name = "calls", const std::string& more = {}) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  parentRefs: [{name: egress}]\n" + more + "  rules:\n" + rules;
}

std::string to(const std::string& backend, const std::string& more = {}) {
  return "      backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: " + backend + more + "}]\n";
}

/// Returns "CODE DETAILS" for each call.
std::vector<std::string> callAll(const GatewayProcess& gateway, std::vector<std::string> calls) {
  calls.insert(calls.begin(), "127.0.0.1:" + std::to_string(gateway.port()));
  const ProgramOutcome got = runNode("grpc_call.mjs", calls);
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = got.output.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(got.output.substr(begin, end - begin));
  }
  return lines;
}

TEST(GrpcRoutes, CarryCallsOfEveryKindToAPlaintextBackend) {
  const GrpcOrigin origin;
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = grpcRouteOf("    -\n" + to("origin"))});
  const ProgramOutcome got = runNode("grpc.mjs", {"127.0.0.1:" + std::to_string(gateway.port())});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(GrpcRoutes, CarryCallsOfEveryKindToABackendWithTls) {
  const CertifiedKey authority = makeAuthority();
  const GrpcOrigin origin(issueServer(authority, "origin.test"));
  const GatewayProcess gateway({.backends = {{.port = origin.port(), .ca = authority.certificate}},
                                .routes = grpcRouteOf("    - name: all\n" + to("origin"))});
  const ProgramOutcome got = runNode("grpc.mjs", {"127.0.0.1:" + std::to_string(gateway.port())});
  EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
}

TEST(GrpcRoutes, FindTheirRuleByServiceMethodAndHeader) {
  const GrpcOrigin origin;
  const auto marked = [](const std::string& mark) {
    return "      filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-leading, value: " +
           mark + "}]}}]\n" + to("origin");
  };
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}},
       .routes = grpcRouteOf(
           "    - name: service\n      matches: [{method: {service: sluice.test.Echo}}]\n" + marked("service") +
           "    - name: method\n      matches: [{method: {service: sluice.test.Echo, method: Unary}}]\n" +
           marked("method") +
           "    - name: header\n      matches: [{method: {service: sluice.test.Echo, method: Unary}, headers: [{name: "
           "x-kind, value: special}]}]\n" +
           marked("header") +
           "    - name: expression\n      matches: [{method: {type: RegularExpression, service: 'other\\..*'}}]\n" +
           marked("expression"))});
  const auto got =
      callAll(gateway, {"/sluice.test.Echo/Collect", "/sluice.test.Echo/Unary,x-client=a",
                        "/sluice.test.Echo/Unary,x-client=a,x-kind=special", "/other.Thing/Do", "/unknown.Thing/Do"});
  ASSERT_EQ(got.size(), 5U);
  EXPECT_EQ(got[0], "0 OK service");
  EXPECT_EQ(got[1], "0 OK method");
  EXPECT_EQ(got[2], "0 OK header");
  EXPECT_THAT(got[3], HasSubstr("12 The server does not implement")) << "the origin's own answer";
  EXPECT_THAT(got[4], HasSubstr("12 destination_not_found")) << "the gateway's";
}

TEST(GrpcRoutes, AnswerWithGrpcStatusesIfTheyCannotServe) {
  const GrpcOrigin origin;
  const auto forMethod = [](const std::string& method) {
    return "    - matches: [{method: {method: " + method + "}}]\n";
  };
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}, {.name = "down", .hostname = "down.test", .port = freePort()}},
       .routes = grpcRouteOf(forMethod("Missing") + to("nowhere") + forMethod("Nothing") + forMethod("NoWeight") +
                             to("origin", ", weight: 0") + forMethod("Down") + to("down") + forMethod("Filtered") +
                             "      filters: [{type: ExtensionRef, extensionRef: {group: a.b, kind: C, "
                             "name: d}}]\n" +
                             to("origin") + forMethod("Fail") + to("origin"))});
  const auto got = callAll(gateway, {"/a/Missing", "/a/Nothing", "/a/NoWeight", "/a/Down", "/a/Filtered",
                                     "/sluice.test.Echo/Fail", "/a/Other"});
  ASSERT_EQ(got.size(), 7U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_THAT(got[i], testing::StartsWith("14 ")) << i;
  EXPECT_THAT(got[0], HasSubstr("BackendNotFound"));
  EXPECT_THAT(got[3], HasSubstr("connection_refused"));
  EXPECT_THAT(got[5], testing::StartsWith("7 not for you")) << "errors of the origin are its own";
  EXPECT_THAT(got[6], testing::StartsWith("12 "));
}

// The clients map the status to a code (doc/http-grpc-status-mapping.md of gRPC); the gateway passes it on.
TEST(GrpcRoutes, LeaveErrorsOfBackendsThatAreNoGrpcServersToTheClient) {
  Changing<std::string> status;
  RawOrigin origin(RawOrigin::answeringOverHttp2([&](std::uint32_t stream) {
    return h2::headers(stream, {{":status", status.get()}, {"content-type", "text/html"}}, false) +
           h2::data(stream, "<p>no</p>", true);
  }));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = grpcRouteOf("    -\n" + to("origin"))});
  for (const auto& [sent, code] : {std::pair("503", "14 "), {"429", "14 "}, {"401", "16 "}, {"404", "12 "}}) {
    status.set(sent);
    EXPECT_THAT(callAll(gateway, {"/a/b"}).at(0), testing::StartsWith(code)) << sent;
  }
}

TEST(GrpcRoutes, PassOnAStatusThatStandsInHeadAndTrailers) {
  RawOrigin origin(RawOrigin::answeringOverHttp2([](std::uint32_t stream) {
    return h2::headers(stream, {{":status", "200"}, {"content-type", "application/grpc"}, {"grpc-status", "0"}},
                       false) +
           h2::headers(stream, {{"grpc-status", "7"}, {"host", "other.test"}, {"te", "trailers"}}, true);
  }));
  const GatewayProcess gateway(
      {.backends = {{.port = origin.port()}}, .routes = grpcRouteOf("    -\n" + to("origin"))});
  H2Client client(gateway.port());
  H2Lines lines = h2::post("/a/b");
  lines.insert(lines.end(), {{"content-type", "application/grpc"}, {"te", "trailers"}});
  client.send(h2::headers(1, lines, true));
  ASSERT_TRUE(client.readStream(1));
  const std::vector<H2Frame>& frames = client.seen().frames();
  std::vector<const H2Frame*> sections;
  for (const H2Frame& frame : frames) {
    if (frame.type == H2Type::kHeaders) sections.push_back(&frame);
  }
  ASSERT_EQ(sections.size(), 2U);
  EXPECT_EQ(sections[0]->value("grpc-status"), "0");
  EXPECT_EQ(sections[1]->lines, (H2Lines{{"grpc-status", "7"}})) << "without fields that frame a message";
}

TEST(GrpcRoutes, RefuseRequestsThatAreNotGrpc) {
  const GrpcOrigin origin;
  const GatewayProcess gateway({.backends = {{.port = origin.port()}},
                                .routes = grpcRouteOf("    - matches: [{method: {service: a}}]\n" + to("origin"))});
  const auto ask = [&](const std::string& path, const std::string& type, const std::string& version) {
    // The request has no body: HTTP/2 allows an answer before the end of a body, but this version of curl loses it.
    const ProgramOutcome got =
        run({"curl", "-sS", "-i", "-X", "POST", version, "-H", "content-type: " + type, gateway.url(path)});
    EXPECT_EQ(got.exitCode, 0) << got.errors;
    return got.output;
  };
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    for (const char* type : {"application/json", "application/grpc-web", "application/grpcx"}) {
      const std::string got = ask("/a/b", type, version);
      EXPECT_THAT(got, HasSubstr(" 415")) << version << " " << type;
      EXPECT_THAT(got, HasSubstr("application/problem+json")) << version << " " << type;
    }
  }
  const std::string oldVersion = ask("/a/b", "application/grpc", "--http1.1");
  EXPECT_THAT(oldVersion, HasSubstr("HTTP/1.1 415 Unsupported Media Type\r\n"));
  EXPECT_THAT(oldVersion, Not(HasSubstr("grpc-status")));
  EXPECT_THAT(ask("/b/c", "application/json", "--http2-prior-knowledge"), HasSubstr("HTTP/2 404"));
}

TEST(GrpcRoutes, KeepTheirHostnameFromNewerHttpRoutesAlone) {
  const GrpcOrigin origin;
  const std::string http =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: web}\nspec:\n "
      " "
      "parentRefs: [{name: egress}]\n  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: "
      "origin}]}]\n";
  const auto routesWith = [&](const std::string& name) { return grpcRouteOf("    -\n" + to("origin"), name) + http; };
  const GatewayProcess older({.backends = {{.port = origin.port()}},
                              .routes = routesWith("calls, creationTimestamp: '2024-01-01T00:00:00Z'")});
  EXPECT_THAT(older.adminGet("/status"), HasSubstr("\"reason\":\"HostnameConflict\""));
  EXPECT_THAT(run({"curl", "-sS", "-i", older.url("/")}).output, HasSubstr("415"));
  EXPECT_EQ(callAll(older, {"/sluice.test.Echo/Collect"}).at(0), "0 OK");
  // Without times, requests of the HTTPRoute must not become 404 or 415 because somebody adds a GRPCRoute.
  const GatewayProcess undated({.backends = {{.port = origin.port()}}, .routes = routesWith("calls")});
  EXPECT_THAT(undated.adminGet("/status"), HasSubstr("HTTPRoute test/web has all hostnames"));
  EXPECT_THAT(run({"curl", "-sS", "-i", undated.url("/")}).output, Not(HasSubstr(" 415")));
}

}  // namespace
}  // namespace sluice::test
