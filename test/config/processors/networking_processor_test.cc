// Tests the reader of the AI gateway working group's PayloadProcessor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kNetworkingVersion = "ainetworking.x-k8s.io/v0alpha0";

Configuration loadNetworking(const std::string& spec) {
  return loadText(
      object(kNetworkingVersion, "PayloadProcessor", "p",
             "spec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}, " + spec + "}\n"));
}

std::vector<std::string> problemsOfNetworking(const std::string& processors) {
  return rendered(loadNetworking("processors: [" + processors + "]").problems);
}

constexpr const char* kModel =
    "{name: model, type: InProcess, failureMode: FailOpen, timeout: 1s, inProcess: {request: {set: [{name: X-Model, "
    "value: 'json(request.body).model'}], add: [{name: x-more, value: '\"a\"'}], remove: [X-Old]}, response: {remove: "
    "[server]}}}";
constexpr const char* kRemote =
    "{name: guard, type: ExtProcess, extProcess: {backendRef: {name: guard, namespace: guards, port: 9002}}}";

TEST(NetworkingProcessor, EditsHeadersByExpressions) {
  const Configuration configuration = loadNetworking("phase: PostRouting, processors: [" + std::string(kModel) + "]");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const PayloadProcessor* processor =
      configuration.model.find<PayloadProcessor>(kNetworkingGroup, PayloadProcessor::kKind, "default", "p");
  ASSERT_NE(processor, nullptr);
  EXPECT_EQ(processor->phase, RoutingPhase::kPostRouting);
  const ProcessorUse& use = processor->processors.at(0);
  EXPECT_EQ(use.type, processor_type::kInProcess);
  EXPECT_EQ(use.failOpen, true);
  EXPECT_EQ(use.timeout, std::chrono::seconds(1));
  const std::optional<Value> request = use.config->find("request");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->find("setHeaders")->items.at(0).find("name")->text, "X-Model");
  EXPECT_EQ(request->find("setHeaders")->items.at(0).find("value")->text, "json(request.body).model");
  EXPECT_EQ(request->find("addHeaders")->items.at(0).find("value")->text, "\"a\"");
  EXPECT_EQ(request->find("removeHeaders")->items.at(0).text, "X-Old");
  EXPECT_EQ(use.config->find("response")->find("removeHeaders")->items.at(0).text, "server");
}

TEST(NetworkingProcessor, AsksServersInTheOrderOfItsList) {
  const Configuration configuration = loadNetworking("processors: [" + std::string(kModel) + ", " + kRemote + "]");
  ASSERT_THAT(rendered(configuration.problems), IsEmpty());
  const auto& uses = configuration.model.all<PayloadProcessor>().at(0).processors;
  ASSERT_EQ(uses.size(), 2U);
  EXPECT_EQ(uses[1].type, processor_type::kExtProc);
  EXPECT_EQ(uses[1].failOpen, false) << "the default of the API";
  EXPECT_EQ(uses[1].config->find("backendRefs")->items.at(0).find("namespace")->text, "guards");
}

TEST(NetworkingProcessor, EditsNoResponsesBeforeRouting) {
  const Configuration configuration = loadNetworking("phase: PreRouting, processors: [" + std::string(kModel) + "]");
  const auto& uses = configuration.model.all<PayloadProcessor>().at(0).processors;
  ASSERT_EQ(uses.at(0).unsupported.size(), 1U);
  EXPECT_EQ(uses[0].unsupported[0].path, "spec.processors[0].inProcess.response");
}

TEST(NetworkingProcessor, RefusesWordsOfOtherSpellings) {
  for (const auto& [processor, message] :
       {std::pair("{name: a, type: InProcess, inProcess: {request: {setHeaders: []}}}", "inProcess.request.setHeaders"),
        std::pair("{name: a, type: InProcess, inProcess: {}}", "inProcess.request: is required"),
        std::pair("{name: a, type: InProcess}", "inProcess: is required"),
        std::pair("{name: a, type: 'a.b/K:v1'}", "type: must be"),
        std::pair("{name: a, type: ExtProcess}", "extProcess: is required"),
        std::pair("{name: a, type: ExtProcess, failureMode: Open, extProcess: {backendRef: {name: b}}}", "failureMode"),
        std::pair("{name: a, type: InProcess, extProcess: {backendRef: {name: b}}, inProcess: {request: {}}}",
                  "extProcess: must not be given"),
        std::pair("{name: a, type: InProcess, inProcess: {request: {set: [{name: b}]}}}", "value: is required")}) {
    EXPECT_THAT(problemsOfNetworking(processor), Contains(HasSubstr(message))) << processor;
  }
  EXPECT_THAT(problemsOfNetworking(std::string(kRemote) + ", " + kRemote), Contains(HasSubstr("repeats \"guard\"")));
  EXPECT_THAT(problemsOfNetworking(""), Contains(HasSubstr("must have at least one item")));
}

TEST(NetworkingProcessor, HasAtMostSixteenProcessorsAndEdits) {
  const auto many = [](std::size_t count, const auto& item) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += item(std::to_string(i)) + ", ";
    return text;
  };
  const auto processors = [&](std::size_t count) {
    return problemsOfNetworking(many(count, [](const std::string& number) {
      return "{name: p" + number + ", type: ExtProcess, extProcess: {backendRef: {name: b, port: 1}}}";
    }));
  };
  EXPECT_THAT(processors(16), IsEmpty());
  EXPECT_THAT(processors(17), Contains(HasSubstr("spec.processors")));
  const auto edits = [&](std::size_t count) {
    return problemsOfNetworking(
        "{name: a, type: InProcess, inProcess: {request: {add: [" +
        many(count, [](const std::string& number) { return "{name: x-" + number + ", value: '1'}"; }) + "]}}}");
  };
  EXPECT_THAT(edits(16), IsEmpty());
  EXPECT_THAT(edits(17), Contains(HasSubstr("add")));
}

}  // namespace
}  // namespace sluice::config
