// Processors that are scripts in Lua, from the catalog to the wire.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"
#include "test/support/passwords.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kType = "acme.test/Script:v1";

/// Returns a catalog whose entry has this script, or refers to one, and the schema of its type. `more` are further
/// lines of the engine's settings.
std::string catalogOf(const std::string& script, const std::string& more = {}) {
  const std::string settings =
      "lua:\n" + more + (script.empty() ? "  scriptRef: {name: scripts}\n" : blockOf("script", script, "  "));
  return configMapOf("types", {{"script.yaml", entryOf(kType, "lua",
                                                       "request-headers, request-body, connect, response-headers, "
                                                       "response-body",
                                                       settings)}}) +
         configMapOf("schema", {{"schema.json", "{\"type\": \"object\"}"}});
}

std::string useOf(const std::string& more = {}) {
  return inlined("{name: own, type: '" + std::string(kType) + "'" + more + "}");
}

/// Returns a gateway with one rule whose requests and responses the script sees.
GatewaySpec specOf(std::uint16_t origin, const std::string& catalog, const std::string& more = {}) {
  return {.backends = {{.port = origin}},
          .settings = "processorCatalogs: [{namespace: test, name: types}]\n",
          .routes = routeOfRules("    - filters: [" + useOf(more) + "]\n" + backendRefs()) + catalog};
}

TEST(LuaScripts, ChangeRequestsAndResponses) {
  const RecordingOrigin origin([](std::size_t) { return saying("{\"answer\": 41}"); });
  const GatewayProcess gateway(specOf(origin.port(), catalogOf(R"(function request_headers(m)
  m.headers:set("x-of", m.config.name .. m.method)
  m.path = "/new"
  log.info("a line of the script")
  metric.add("requests")
end
function response_body(m)
  local document = m.body:json()
  document:set("/answer", document:get("/answer") + 1)
end
function response_headers(m) m.headers:set("x-seen", m.status) end)"),
                                      ", config: {name: one}"));
  const std::string answer = ask(gateway, "/old");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 200 "));
  EXPECT_THAT(answer, HasSubstr("x-seen: 200"));
  EXPECT_THAT(answer, HasSubstr("{\"answer\": 42}"));
  ASSERT_EQ(origin.heads().size(), 1U);
  EXPECT_THAT(origin.heads()[0], HasSubstr("GET /new HTTP/1.1"));
  EXPECT_THAT(origin.heads()[0], HasSubstr("x-of: oneGET"));
  EXPECT_EQ(gateway.metric("sluice_lua_requests_total{type=\"acme.test/Script:v1\"}"), 1);
}

TEST(LuaScripts, SeeTheNormalFormOfThePathAndForwardWhatTheySet) {
  const RecordingOrigin origin([](std::size_t) { return std::string(kOk); });
  const GatewayProcess gateway(specOf(origin.port(), catalogOf(R"(function request_headers(m)
  m.headers:set("x-path", m.path)
  if m.headers:get("x-set") then m.path = m.path .. "&%62" end
end)")));
  EXPECT_EQ(statusOf(gateway, "/%61%3a?q", {}), "200");
  EXPECT_EQ(statusOf(gateway, "/%61%3a?q", {"-H", "x-set: 1"}), "200");
  ASSERT_EQ(origin.heads().size(), 2U);
  for (const std::string& head : origin.heads()) EXPECT_THAT(head, HasSubstr("x-path: /a%3A?q\r\n"));
  EXPECT_THAT(origin.heads()[0], HasSubstr("GET /%61%3a?q HTTP/1.1\r\n"));
  EXPECT_THAT(origin.heads()[1], HasSubstr("GET /a%3A?q&%62 HTTP/1.1\r\n"));
}

TEST(LuaScripts, AreFoundInAnotherConfigMap) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const std::string script = configMapOf(
      "scripts",
      {{"processor.lua", "function request_headers(m)\n  m:respond(418, {[\"x-by\"] = \"script\"}, \"tea\")\nend\n"}});
  const GatewayProcess gateway(specOf(origin.port(), catalogOf("") + script));
  const std::string answer = ask(gateway, "/");
  EXPECT_THAT(answer, HasSubstr("HTTP/1.1 418 "));
  EXPECT_THAT(answer, HasSubstr("x-by: script"));
  EXPECT_THAT(answer, HasSubstr("\r\n\r\ntea"));
}

TEST(LuaScripts, FailAsTheirUseSaysAndAreNamedWithFileAndLine) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const std::string script = R"(function request_headers(m)
  if m.path == "/error" then
    error("no")
  end
  while m.path == "/loop" do end
end)";
  for (const bool open : {false, true}) {
    const GatewayProcess gateway(specOf(origin.port(), catalogOf(script), open ? ", failOpen: true" : ""));
    EXPECT_EQ(statusOf(gateway, "/"), "200");
    EXPECT_EQ(statusOf(gateway, "/error"), open ? "200" : "500");
    EXPECT_EQ(statusOf(gateway, "/loop"), open ? "200" : "500");
    EXPECT_EQ(statusOf(gateway, "/"), "200") << "the state was made anew";
    const auto failures = [&](const std::string& reason) {
      return gateway.metric(
          "sluice_processor_failures_total{type=\"acme.test/Script:v1\",phase=\"request-headers\",reason=\"" + reason +
          "\",outcome=\"" + (open ? "open" : "closed") + "\",namespace=\"\",serviceAccount=\"\"}");
    };
    EXPECT_EQ(failures("script_error"), 1);
    EXPECT_EQ(failures("budget"), 1);
  }
}

TEST(LuaScripts, CallTheBackendsOfTheirEntryAlone) {
  const RawOrigin origin(RawOrigin::answering(kOk));
  const RecordingOrigin judge([](std::size_t) { return saying("allowed"); });
  const std::string script = R"(function request_headers(m)
  local name = m.path:sub(2)
  local answer, reason = call(name, {method = "POST", path = "/judge", body = m.method})
  if answer then m:respond(answer.status, nil, answer.body) end
  m:respond(502, nil, reason)
end)";
  GatewaySpec spec = specOf(origin.port(), catalogOf(script, "  backends: [{name: judge}]\n"));
  spec.backends.push_back({.name = "judge", .hostname = "judge.test", .port = judge.port()});
  const GatewayProcess gateway(spec);
  EXPECT_THAT(ask(gateway, "/judge"), HasSubstr("\r\n\r\nallowed"));
  EXPECT_EQ(judge.bodies(), std::vector<std::string>{"GET"});
  EXPECT_EQ(statusOf(gateway, "/origin"), "500") << "the entry does not name it";
}

TEST(LuaScripts, SeeBodiesWholeOrInPieces) {
  const RecordingOrigin origin([](std::size_t) { return saying("a body"); });
  const GatewayProcess gateway(specOf(origin.port(), catalogOf(R"(function request_body(m)
  m.body:replace(string.gsub(m.body:text(), "secret", "***"))
end
function response_body(m)
  repeat
    local piece, last = m.body:chunk()
    m.body:replace(piece:upper())
  until last
end)")));
  EXPECT_THAT(ask(gateway, "/", {"--data", "a secret, and a secret"}), HasSubstr("\r\n\r\nA BODY"));
  EXPECT_EQ(origin.bodies(), std::vector<std::string>{"a ***, and a ***"});
}

/// The script runs before clients are authenticated, and its Backend alone gets the body that it has made.
TEST(LuaScripts, ChangeTheBodyOfTheirBackendBeforeAuthentication) {
  const RecordingOrigin origin([](std::size_t) { return saying("served"); });
  const RecordingOrigin copies([](std::size_t) { return saying("copied"); });
  GatewaySpec spec;
  spec.backends = {
      {.port = origin.port(),
       .extensions = "[{name: own, type: '" + std::string(kType) + "', phase: request-body, preAuth: true}]"},
      {.name = "copies", .hostname = "copies.test", .port = copies.port()}};
  spec.settings = "processorCatalogs: [{namespace: test, name: types}]\n";
  spec.routes =
      routeOfRules("    - filters: [{type: RequestMirror, requestMirror: {backendRef: " + backendRef("copies") +
                   "}}]\n" + backendRefs()) +
      catalogOf(R"(function request_body(m)
  if m.body:text():find("forbidden") then m:respond(403) end
  m.body:replace(string.gsub(m.body:text(), "secret", "***"))
end)") +
      secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\"") +
      egressPolicy("p", kGatewayTarget, "default: Allow, clientAuthentication: {basic: {secretRef: {name: users}}}");
  const GatewayProcess gateway(spec);
  for (const char* const version : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(statusOf(gateway, "/", {version, "--data", "forbidden"}), "403") << "nobody has asked for a password";
    EXPECT_EQ(statusOf(gateway, "/", {version, "--data", "a secret"}), "401");
    EXPECT_EQ(statusOf(gateway, "/", {version, "--data", "a secret", "--user", "ann:secret"}), "200");
  }
  EXPECT_TRUE(copies.hears(2));
  EXPECT_EQ(origin.bodies(), (std::vector<std::string>{"a ***", "a ***"}));
  EXPECT_EQ(copies.bodies(), (std::vector<std::string>{"a secret", "a secret"}));
}

}  // namespace
}  // namespace sluice::test
