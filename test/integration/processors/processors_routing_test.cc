// Tests routing by content: BodyRouter before and after the match, by field and by hint, with real clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/recording_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kLarge = R"({"messages": [], "model": "large"})";
const std::string kSmall = R"({"model": "small"})";

/// Returns a rule for each model, and one for all others.
std::string rules(const std::string& field, const std::string& filters = {}) {
  const auto to = [](const std::string& name) { return "      backendRefs: [" + backendRef(name) + "]\n"; };
  return "    - matches: [{headers: [{name: " + field + ", value: large}]}]\n" + to("large") +
         "    - matches: [{headers: [{name: " + field + ", value: small}]}]\n" + to("small") + "    - filters: [" +
         filters + "]\n" + to("origin");
}

std::string router(const std::string& config) {
  return "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, config: {" + config + "}}";
}

std::string atGateway(const std::string& use) {
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: model}\n"
         "spec: {phase: PreRouting, targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress}, "
         "processors: [" +
         use + "]}\n";
}

/// Returns a text in which all places differ from each other.
std::string numbers(std::size_t size) {
  std::string text;
  for (int i = 0; text.size() < size; ++i) text += std::to_string(i) + ' ';
  return text;
}

class ProcessorRouting : public testing::Test {
 protected:
  GatewaySpec specOf(const std::string& routes) const {
    return {.backends = {{.port = other_.port()},
                         {.name = "large", .hostname = "large.test", .port = large_.port()},
                         {.name = "small", .hostname = "small.test", .port = small_.port()}},
            .routes = routes};
  }
  static std::string post(const GatewayProcess& gateway, const std::string& body,
                          const std::vector<std::string>& more = {}) {
    std::vector<std::string> options = {"-H", "content-type: application/json", "--data-binary", body};
    options.insert(options.end(), more.begin(), more.end());
    return statusOf(gateway, "/v1/chat/completions", options);
  }

  TempDir folder_;
  RecordingOrigin large_{[](std::size_t) { return kOk; }};
  RecordingOrigin small_{[](std::size_t) { return kOk; }};
  RecordingOrigin other_{[](std::size_t) { return kOk; }};
};

TEST_F(ProcessorRouting, TheModelOfABodyChoosesTheBackendBeforeAndAfterTheMatch) {
  const std::string inlined = "{type: PayloadProcessing, payloadProcessing: [" + router("") + "]}";
  for (const std::string& routes : {routeOfRules(rules("x-gateway-model-name", inlined)),
                                    routeOfRules(rules("x-gateway-model-name")) + atGateway(router(""))}) {
    const GatewayProcess gateway(specOf(routes));
    for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
      EXPECT_EQ(post(gateway, kLarge, {version}), "200");
      EXPECT_EQ(post(gateway, kSmall, {version}), "200");
      EXPECT_EQ(post(gateway, R"({"model": "none of them"})", {version}), "200");
    }
  }
  EXPECT_THAT(large_.bodies(), ElementsAre(kLarge, kLarge, kLarge, kLarge));
  EXPECT_THAT(small_.bodies(), ElementsAre(kSmall, kSmall, kSmall, kSmall));
  EXPECT_EQ(other_.bodies().size(), 4U);
  EXPECT_THAT(large_.heads().back(), HasSubstr("x-gateway-model-name: large"));
}

TEST_F(ProcessorRouting, AClientsFieldDoesNotOverrideTheBodyRouter) {
  const GatewayProcess gateway(specOf(routeOfRules(rules("x-gateway-model-name")) + atGateway(router(""))));
  EXPECT_EQ(post(gateway, kSmall, {"-H", "x-gateway-model-name: large"}), "200");
  EXPECT_EQ(post(gateway, "{}", {"-H", "X_Gateway_Model_Name: large", "-H", "x-gateway-model-name: large"}), "200");
  EXPECT_TRUE(large_.bodies().empty());
  EXPECT_EQ(small_.bodies().size(), 1U);
  EXPECT_EQ(other_.bodies().size(), 1U);
  EXPECT_EQ(countOf(other_.heads().back(), "model"), 0U);
}

TEST_F(ProcessorRouting, AHintChoosesTheRouteAndIsRemoved) {
  const GatewayProcess gateway(specOf(routeOfRules(rules("x-model")) + atGateway(router("routeHint: x-model"))));
  EXPECT_EQ(post(gateway, kLarge), "200");
  ASSERT_EQ(large_.bodies().size(), 1U);
  EXPECT_EQ(countOf(large_.heads().back(), "x-model"), 0U);
}

TEST_F(ProcessorRouting, TheModelOfAFormChoosesTheBackend) {
  GatewaySpec spec = specOf(routeOfRules(rules("x-gateway-model-name")) + atGateway(router("")));
  spec.settings = "limits: {processorBuffer: 16Ki}\n";
  const GatewayProcess gateway(spec);
  const auto send = [&](const std::vector<std::string>& form) { return statusOf(gateway, "/v1/audio", form); };
  const std::string shortFile = "file=@" + folder_.write("short.mp3", std::string(9000, '\xff'));
  const std::string longFile = "file=@" + folder_.write("long.mp3", numbers(100'000));
  for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
    EXPECT_EQ(send({version, "-F", "model=large", "-F", shortFile}), "200");
    EXPECT_EQ(send({version, "-F", shortFile, "-F", "model=large"}), "200");
    EXPECT_EQ(send({version, "-F", "model=small", "-F", longFile}), "200");
    EXPECT_EQ(send({version, "-F", longFile, "-F", "model=large"}), "200") << "behind the part that is searched";
    EXPECT_EQ(send({version, "-F", longFile}), "200");
  }
  EXPECT_EQ(large_.bodies().size(), 4U);
  ASSERT_EQ(small_.bodies().size(), 2U);
  EXPECT_THAT(small_.bodies(), testing::Each(HasSubstr(numbers(100'000)))) << "the rest has followed";
  EXPECT_EQ(other_.bodies().size(), 4U);
  EXPECT_EQ(send({"-F", "model=small", "-F", "model=large"}), "400");
  EXPECT_EQ(send({"-H", "content-type: multipart/form-data; boundary=X", "--data-binary", "--X\n"}), "400");
}

TEST_F(ProcessorRouting, BodiesOtherThanJsonPassAtAnyLength) {
  GatewaySpec spec = specOf(routeOfRules(rules("x-gateway-model-name")) + atGateway(router("")));
  spec.settings = "limits: {processorBuffer: 1Ki}\n";
  const GatewayProcess gateway(spec);
  const std::string upload(100'000, 'x');
  EXPECT_EQ(statusOf(gateway, "/", {"-H", "content-type: application/octet-stream", "--data-binary", upload}), "200");
  ASSERT_EQ(other_.bodies().size(), 1U);
  EXPECT_EQ(other_.bodies()[0], upload);
  EXPECT_EQ(post(gateway, "{\"model\": \"" + std::string(2000, 'x') + "\"}"), "413");
  EXPECT_EQ(post(gateway, "{\"model\": "), "400");
}

TEST_F(ProcessorRouting, ABodyThatTurnsOutTooLongArrivesWholeWithoutItsRouter) {
  const EchoOrigin origin{std::nullopt};
  const std::string open = "{name: model, type: 'sluice.dev/BodyRouter:v1', phase: request-body, failOpen: true}";
  for (const bool ofGateway : {false, true}) {
    const std::string inRule = "    - filters: [" + inlined(open) + "]\n" + backendRefs();
    const GatewayProcess gateway(
        {.backends = {{.port = origin.port()}},
         .routes = ofGateway ? routeOfRules("    -\n" + backendRefs()) + atGateway(open) : routeOfRules(inRule)});
    // The bodies exceed the bound by less, and by more, than a pipeline holds.
    for (const std::size_t size : {std::size_t{2'100'000}, std::size_t{2'600'000}}) {
      const std::string body = R"({"text": ")" + numbers(size) + R"(", "model": "large"})";
      const std::string file = folder_.write("body", body);
      for (const char* version : {"--http1.1", "--http2-prior-knowledge"}) {
        // Of a length that is not stated.
        const ProgramOutcome answer =
            run({"curl", "-sS", "--max-time", "60", version, "-H", "content-type: application/json", "-H",
                 "transfer-encoding: chunked", "--data-binary", "@" + file, gateway.url("/echo")});
        EXPECT_EQ(answer.output.size(), body.size()) << version;
        EXPECT_TRUE(answer.output == body) << version;
      }
    }
  }
}

TEST_F(ProcessorRouting, OnlyStepsOfTheMatchedRouteRun) {
  const auto marks = [](const std::string& value) {
    return "{type: PayloadProcessing, payloadProcessing: [" + adding(value, "request-headers", "x-step", value, 9) +
           "]}";
  };
  const std::string found =
      "    - matches: [{headers: [{name: x-gateway-model-name, value: large}]}]\n      filters: [" + marks("found") +
      "]\n      backendRefs: [" + backendRef("large") + "]\n";
  const std::string first = "    - filters: [{type: PayloadProcessing, payloadProcessing: [" + router("") + ", " +
                            adding("late", "backend-request", "x-step", "late", 9) + "]}]\n" + backendRefs();
  const GatewayProcess gateway(specOf(routeOfRules(found + first)));
  EXPECT_EQ(post(gateway, kLarge), "200");
  ASSERT_EQ(large_.heads().size(), 1U);
  EXPECT_THAT(large_.heads()[0], HasSubstr("x-step: found"));
  EXPECT_EQ(countOf(large_.heads()[0], "late"), 0U);
}

}  // namespace
}  // namespace sluice::test
