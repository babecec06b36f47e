// Tests the reader of the prototype's XPayloadProcessor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kPrototypeVersion = "ainetworking.prototype.x-k8s.io/v0alpha0";
const std::string kServer = "backendRef: {name: guard, port: 9002}";

Configuration loadServer(const std::string& spec) {
  return loadText(object(kPrototypeVersion, "XPayloadProcessor", "guard-all", "spec: {" + spec + "}\n"));
}

ProcessorUse remoteUseOf(const std::string& spec) {
  const Configuration configuration = loadServer(spec);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << spec;
  const PayloadProcessingPipeline* pipeline = configuration.model.find<PayloadProcessingPipeline>(
      kPrototypeGroup, PayloadProcessingPipeline::kRemoteKind, "default", "guard-all");
  if (pipeline == nullptr || pipeline->processors.size() != 1) return {};
  return pipeline->processors.front();
}

std::string memberOf(const ProcessorUse& use, std::string_view map, std::string_view key) {
  const std::optional<Value> held = use.config ? use.config->find(map) : std::nullopt;
  const Value* found = held ? &*held : nullptr;
  if (found != nullptr && !found->items.empty()) found = &found->items.front();
  const Value* member = found == nullptr ? nullptr : found->find(key);
  return member == nullptr ? "" : member->text;
}

std::string modesOf(const ProcessorUse& use) {
  std::string text;
  for (const char* key : {"requestHeaders", "requestBody", "responseHeaders", "responseBody"}) {
    text += memberOf(use, "processingMode", key) + " ";
  }
  return text;
}

TEST(XPayloadProcessor, IsAUseOfItsServerWithTheDefaultsOfTheApi) {
  const ProcessorUse use = remoteUseOf(kServer + ", failureMode: Closed");
  EXPECT_EQ(use.name, "guard-all");
  EXPECT_EQ(use.type, processor_type::kExtProc);
  EXPECT_EQ(use.phase, "") << "it runs where its modes say";
  EXPECT_EQ(use.failOpen, false);
  EXPECT_EQ(use.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(modesOf(use), "Send Buffered Skip Skip ");
  EXPECT_EQ(memberOf(use, "backendRefs", "name"), "guard");
  EXPECT_EQ(memberOf(use, "backendRefs", "port"), "9002");
  EXPECT_EQ(use.configPath(), "spec");
}

TEST(XPayloadProcessor, HasModesATimeoutAndAFailureMode) {
  const ProcessorUse use = remoteUseOf(
      "backendRef: {kind: Service, name: guard, namespace: guards, port: 9002}, messageTimeout: 2s, failureMode: Open, "
      "processingMode: {requestHeaders: Skip, requestBody: Streamed, responseHeaders: Send, responseBody: Buffered}");
  EXPECT_EQ(use.failOpen, true);
  EXPECT_EQ(use.timeout, std::chrono::seconds(2));
  EXPECT_EQ(modesOf(use), "Skip Streamed Send Buffered ");
  EXPECT_EQ(memberOf(use, "backendRefs", "namespace"), "guards");
}

TEST(XPayloadProcessor, RequiresAServerAndAFailureMode) {
  EXPECT_THAT(rendered(loadServer(kServer).problems), ElementsAre(HasSubstr("spec.failureMode: is required")));
  EXPECT_THAT(rendered(loadServer("failureMode: Closed").problems),
              ElementsAre(HasSubstr("spec.backendRef: is required")));
  EXPECT_THAT(rendered(loadServer("backendRef: {port: 80}, failureMode: Closed").problems),
              ElementsAre(HasSubstr("spec.backendRef.name: is required")));
}

TEST(XPayloadProcessor, RefusesWordsOfOtherSpellings) {
  for (const char* wrong :
       {"failureMode: FailOpen", "failureMode: Open, processingMode: {requestBody: BufferedPartial}",
        "failureMode: Open, processingMode: {requestHeaders: Buffered}", "failureMode: Open, messageTimeout: 1",
        "failureMode: Open, config: {}"}) {
    const Configuration configuration = loadServer(kServer + ", " + wrong);
    EXPECT_TRUE(configuration.model.all<PayloadProcessingPipeline>().empty()) << wrong;
  }
}

}  // namespace
}  // namespace sluice::config
