// Tests the spellings in which other APIs attach external processors, each with a server on grpc-js that edits and
// refuses requests, and with no server at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/node/grpc_origin.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOriginsAnswer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nfine";

std::string documentWith(const std::string& apiVersion, const std::string& kind, const std::string& spec,
                         const std::string& name = "guarding") {
  return "---\napiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {namespace: test, name: " + name +
         "}\nspec: {" + spec + "}\n";
}

class ExternalSpellings : public testing::Test {
 protected:
  /// Returns the Service of the server in the form that users write.
  std::string service() const {
    return serviceOf("guard", server_->port(), "{name: grpc, port: 9002, appProtocol: kubernetes.io/h2c}");
  }
  /// Starts a gateway whose one rule has these filters, with these objects beside the server's Service.
  void start(const std::string& filters, const std::string& objects) {
    GatewaySpec spec;
    spec.backends = {{.port = origin_.port()}};
    spec.routes = routeOfRules("    - name: main\n" + filters + backendRefs()) + service() + objects;
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  std::string post(const std::string& what, const std::string& body = "hello") const {
    return ask(*gateway_, "/a", {"-H", "x-do: " + what, "--data-binary", body});
  }
  std::string heard() {
    const auto line = server_->process().waitForLine("heard ");
    return line ? line->substr(line->find("heard ") + 6) : "nothing";
  }
  void killServer() {
    server_->process().signal(SIGKILL);
    server_->process().wait();
  }
  /// Expects that the server, which gets the whole request, edits and refuses requests.
  void expectEditsAndRefusals() {
    EXPECT_THAT(post(""), StartsWith("HTTP/1.1 200"));
    ASSERT_FALSE(origin_.heads().empty());
    EXPECT_THAT(origin_.heads().back(), HasSubstr("x-guard: seen"));
    EXPECT_EQ(origin_.bodies().back(), "HELLO");
    const std::size_t before = origin_.heads().size();
    EXPECT_THAT(post("reject"), AllOf(StartsWith("HTTP/1.1 418"), EndsWith("short and stout")));
    EXPECT_EQ(origin_.heads().size(), before);
  }
  /// Expects that requests are refused, or served as they are, while there is no server.
  void expectWithoutServer(bool open) {
    killServer();
    const std::string answer = post("");
    EXPECT_THAT(answer, StartsWith(open ? "HTTP/1.1 200" : "HTTP/1.1 500"));
    EXPECT_EQ(origin_.bodies().size(), open ? 1U : 0U);
    if (open) {
      EXPECT_EQ(origin_.bodies().back(), "hello");
    }
  }
  std::unique_ptr<GrpcOrigin> server_ = std::make_unique<GrpcOrigin>(std::nullopt, "ext_proc_server.mjs");
  RecordingOrigin origin_{[](std::size_t) { return kOriginsAnswer; }};
  std::unique_ptr<GatewayProcess> gateway_;
};

constexpr const char* kExternalRef =
    "      filters: [{type: ExtensionRef, extensionRef: {group: ainetworking.prototype.x-k8s.io, kind: "
    "XPayloadProcessor, "
    "name: guarding}}]\n";

std::string xPayloadProcessor(const std::string& failureMode, const std::string& more = {}) {
  return documentWith("ainetworking.prototype.x-k8s.io/v0alpha0", "XPayloadProcessor",
                      "backendRef: {name: guard, port: 9002}, messageTimeout: 5s, failureMode: " + failureMode + more);
}

TEST_F(ExternalSpellings, XPayloadProcessorEditsAndRefuses) {
  start(kExternalRef, xPayloadProcessor("Closed"));
  expectEditsAndRefusals();
  EXPECT_EQ(heard(), "request_headers (backend=test/origin gateway=test/egress route=test/all) request_body$")
      << "the response is not sent by default";
}

TEST_F(ExternalSpellings, XPayloadProcessorSeesThePartsOfItsModes) {
  start(kExternalRef, xPayloadProcessor("Closed",
                                        ", processingMode: {requestHeaders: Send, requestBody: Skip, responseHeaders: "
                                        "Send, responseBody: Buffered}"));
  EXPECT_THAT(post(""), AllOf(HasSubstr("x-guard: seen"), EndsWith("FINE")));
  EXPECT_EQ(origin_.bodies().back(), "hello");
  EXPECT_THAT(heard(), EndsWith(") response_headers response_body$"));
}

TEST_F(ExternalSpellings, XPayloadProcessorFailsClosedWithoutItsServer) {
  start(kExternalRef, xPayloadProcessor("Closed"));
  expectWithoutServer(false);
}

TEST_F(ExternalSpellings, XPayloadProcessorFailsOpenWithoutItsServer) {
  start(kExternalRef, xPayloadProcessor("Open"));
  expectWithoutServer(true);
}

std::string envoyExtensions(const std::string& target, const std::string& more = {}) {
  return documentWith(
      "gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy",
      "targetRefs: [{group: gateway.networking.k8s.io, " + target +
          "}], extProc: [{backendRefs: [{name: guard, port: 9002}], messageTimeout: 5s, processingMode: "
          "{request: {body: Buffered}}" +
          more + "}]");
}

TEST_F(ExternalSpellings, EnvoyExtensionPolicyEditsAndRefusesWhatItTargets) {
  for (const char* target : {"kind: HTTPRoute, name: all", "kind: HTTPRoute, name: all, sectionName: main",
                             "kind: Gateway, name: egress", "kind: Gateway, name: egress, sectionName: http"}) {
    SCOPED_TRACE(target);
    start("", envoyExtensions(target));
    expectEditsAndRefusals();
    EXPECT_THAT(heard(), EndsWith(") request_body$"));
  }
}

TEST_F(ExternalSpellings, EnvoyExtensionPolicyOfARouteTakesThatOfTheGatewayNotAway) {
  start("", envoyExtensions("kind: Gateway, name: egress") +
                documentWith("gateway.envoyproxy.io/v1alpha1", "EnvoyExtensionPolicy",
                             "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: all}]", "none"));
  expectEditsAndRefusals();
}

TEST_F(ExternalSpellings, EnvoyExtensionPolicyFailsClosedWithoutItsServer) {
  start("", envoyExtensions("kind: Gateway, name: egress"));
  expectWithoutServer(false);
}

TEST_F(ExternalSpellings, EnvoyExtensionPolicyFailsOpenWithoutItsServer) {
  start("", envoyExtensions("kind: Gateway, name: egress", ", failOpen: true"));
  expectWithoutServer(true);
}

std::string networkingProcessor(const std::string& target, const std::string& processors) {
  return documentWith("ainetworking.x-k8s.io/v0alpha0", "PayloadProcessor",
                      "targetRef: {group: gateway.networking.k8s.io, " + target +
                          "}, phase: PostRouting, processors: [" + processors + "]");
}

std::string remoteProcessor(const std::string& failureMode) {
  return "{name: guard, type: ExtProcess, timeout: 5s, failureMode: " + failureMode +
         ", extProcess: {backendRef: {name: guard, port: 9002}}}";
}

TEST_F(ExternalSpellings, NetworkingProcessorEditsAndRefuses) {
  start("", networkingProcessor("kind: HTTPRoute, name: all", remoteProcessor("FailClosed")));
  expectEditsAndRefusals();
}

TEST_F(ExternalSpellings, NetworkingProcessorEditsHeadersInProcess) {
  start("", networkingProcessor("kind: Gateway, name: egress",
                                "{name: model, type: InProcess, inProcess: {request: {set: [{name: x-model, value: "
                                "'json(request.body).model'}], add: [{name: x-do, value: '\"added\"'}], remove: "
                                "[user-agent]}, response: {set: [{name: x-served, value: 'string(response.code)'}], "
                                "remove: [content-type]}}}"));
  const std::string answer = post("sent", R"({"model": "m-1"})");
  EXPECT_THAT(answer, AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("x-served: 200"), Not(HasSubstr("ext/plain"))));
  ASSERT_FALSE(origin_.heads().empty());
  EXPECT_THAT(origin_.heads().back(), AllOf(HasSubstr("x-model: m-1\r\n"), HasSubstr("x-do: sent\r\n"),
                                            HasSubstr("x-do: added\r\n"), Not(HasSubstr("curl/"))));
  EXPECT_THAT(post("sent", "no JSON"), StartsWith("HTTP/1.1 4"));
}

TEST_F(ExternalSpellings, NetworkingProcessorFailsClosedWithoutItsServer) {
  start("", networkingProcessor("kind: Gateway, name: egress", remoteProcessor("FailClosed")));
  expectWithoutServer(false);
}

TEST_F(ExternalSpellings, NetworkingProcessorFailsOpenWithoutItsServer) {
  start("", networkingProcessor("kind: Gateway, name: egress", remoteProcessor("FailOpen")));
  expectWithoutServer(true);
}

constexpr const char* kTwoWays =
    "request_headers \\(backend=test/origin gateway=test/egress route=test/all tier=gold\\) "
    "request_body\\$ response_headers response_body.*";

/// Returns the processor of the proposal's inline filter. Its context may stand beside the config or in it.
std::string proposalsProcessor(const std::string& failureMode, bool contextIsBeside,
                               const std::string& timeout = "5s") {
  const std::string context = "context: {tier: gold}";
  return "{name: guard, backendRefs: [{name: guard, port: 9002}], config: {timeout: \"" + timeout +
         "\", failureMode: " + failureMode + (contextIsBeside ? "}, " + context : ", " + context + "}") + "}";
}

std::string filtersOf(const std::string& filter) { return "      filters: [" + filter + "]\n"; }

std::string inlineFilter(const std::string& processors) {
  return filtersOf("{type: PayloadProcessing, payloadProcessing: [" + processors + "]}");
}

TEST_F(ExternalSpellings, InlineFilterEditsAndRefuses) {
  for (const bool contextIsBeside : {true, false}) {
    start(inlineFilter(proposalsProcessor("closed", contextIsBeside)), "");
    expectEditsAndRefusals();
    EXPECT_THAT(heard(), MatchesRegex(kTwoWays));
  }
}

TEST_F(ExternalSpellings, InlineFilterRunsItsProcessorsInTheirOrder) {
  start(
      inlineFilter(
          "{name: first, type: InProcess, inProcess: {request: {setHeaders: [{name: x-do, value: \"'reject'\"}]}}}, " +
          proposalsProcessor("closed", true)),
      "");
  EXPECT_THAT(post(""), StartsWith("HTTP/1.1 418"));
  start(inlineFilter(
            proposalsProcessor("closed", true) +
            ", {name: last, type: InProcess, inProcess: {request: {setHeaders: [{name: x-do, value: \"'reject'\"}]}}}"),
        "");
  EXPECT_THAT(post(""), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(origin_.heads().back(), HasSubstr("x-do: reject"));
}

TEST_F(ExternalSpellings, InlineFilterFailsAsItsModeSays) {
  for (const bool isOpen : {true, false}) {
    server_ = std::make_unique<GrpcOrigin>(std::nullopt, "ext_proc_server.mjs");
    const std::size_t before = origin_.bodies().size();
    start(inlineFilter(proposalsProcessor(isOpen ? "open" : "closed", true, "500ms")), "");
    EXPECT_THAT(post("hang"), StartsWith(isOpen ? "HTTP/1.1 200" : "HTTP/1.1 504")) << "its own timeout";
    killServer();
    start(inlineFilter(proposalsProcessor(isOpen ? "open" : "closed", true)), "");
    EXPECT_THAT(post(""), StartsWith(isOpen ? "HTTP/1.1 200" : "HTTP/1.1 500"));
    EXPECT_EQ(origin_.bodies().size() - before, isOpen ? 2U : 0U);
  }
}

/// Returns the proposal's pipeline, in one of the groups that have the kind.
std::string proposalsPipeline(const std::string& group, const std::string& processors) {
  return documentWith(group + "/v1alpha1", "PayloadProcessingPipeline", "processors: [" + processors + "]", "line");
}

TEST_F(ExternalSpellings, PipelineEditsAndRefusesByEitherFilter) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"gateway.networking.k8s.io", "{type: PayloadProcessingRef, payloadProcessingRef: {name: line}}"},
      {"gateway.networking.k8s.io",
       "{type: PayloadProcessingRef, payloadProcessingRef: {group: gateway.networking.k8s.io, kind: "
       "PayloadProcessingPipeline, name: line}}"},
      {"sluice.dev",
       "{type: PayloadProcessingRef, payloadProcessingRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: "
       "line}}"},
      {"gateway.networking.k8s.io",
       "{type: ExtensionRef, extensionRef: {group: gateway.networking.k8s.io, kind: PayloadProcessingPipeline, name: "
       "line}}"},
      {"sluice.dev",
       "{type: ExtensionRef, extensionRef: {group: sluice.dev, kind: PayloadProcessingPipeline, name: line}}"}};
  for (const auto& [group, filter] : cases) {
    SCOPED_TRACE(filter);
    start(filtersOf(filter), proposalsPipeline(group, proposalsProcessor("closed", false)));
    expectEditsAndRefusals();
    EXPECT_THAT(heard(), MatchesRegex(kTwoWays));
  }
}

TEST_F(ExternalSpellings, PipelineRefusesTheRequestsOfItsRuleUntilItIsThere) {
  const std::string filter = filtersOf("{type: PayloadProcessingRef, payloadProcessingRef: {name: line}}");
  start(filter, "");
  EXPECT_THAT(post(""), AllOf(StartsWith("HTTP/1.1 500"), HasSubstr("proxy_configuration_error")));
  start(filter, proposalsPipeline("sluice.dev", proposalsProcessor("closed", true)));
  EXPECT_THAT(post(""), StartsWith("HTTP/1.1 500")) << "one of the other group";
  start(filter, proposalsPipeline("gateway.networking.k8s.io", "{name: guard, backendRefs: [], config: {}}"));
  EXPECT_THAT(post(""), StartsWith("HTTP/1.1 500")) << "one that is not valid";
  EXPECT_TRUE(origin_.heads().empty());
  start(filter, proposalsPipeline("gateway.networking.k8s.io", proposalsProcessor("closed", true)));
  expectEditsAndRefusals();
}

TEST_F(ExternalSpellings, PipelineFailsOpenWithoutItsServer) {
  start(filtersOf("{type: PayloadProcessingRef, payloadProcessingRef: {name: line}}"),
        proposalsPipeline("gateway.networking.k8s.io", proposalsProcessor("open", false)));
  expectWithoutServer(true);
}

}  // namespace
}  // namespace sluice::test
