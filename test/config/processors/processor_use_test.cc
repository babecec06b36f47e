#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load/load.h"
#include "test/config/test_support.h"

namespace sluice::config {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Configuration loadUses(const std::string& uses) {
  return loadText(
      object("sluice.dev/v1alpha1", "PayloadProcessingPipeline", "p", "spec:\n  processors: [" + uses + "]\n"));
}
std::vector<std::string> problemsOfUses(const std::string& uses) { return rendered(loadUses(uses).problems); }

/// Returns the only use of a pipeline. If the pipeline is not valid, fails the test and returns an empty use.
ProcessorUse useOf(const std::string& text) {
  const Configuration configuration = loadUses(text);
  EXPECT_THAT(rendered(configuration.problems), IsEmpty()) << text;
  if (configuration.model.all<PayloadProcessingPipeline>().empty()) return {};
  return configuration.model.all<PayloadProcessingPipeline>()[0].processors.at(0);
}

std::string own(const std::string& fields) { return "{name: a, type: a.b/K:v1, " + fields + "}"; }
std::string inProcess(const std::string& request, const std::string& rest = "") {
  return "{name: a, type: InProcess, inProcess: {request: {" + request + "}" + rest + "}}";
}

TEST(ProcessorUse, HasOneMeaningForEverySpellingOfItsFailureMode) {
  const std::pair<const char*, bool> spellings[] = {
      {"failOpen: true", true},           {"failOpen: false", false},      {"failureMode: FailOpen", true},
      {"failureMode: FailClosed", false}, {"failureMode: open", true},     {"failureMode: closed", false},
      {"failurePolicy: Ignore", true},    {"failurePolicy: Fail", false},  {"failureMode: Open", true},
      {"failureMode: failopen", true},    {"failurePolicy: ignore", true}, {"failureMode: CLOSED", false},
  };
  for (const auto& [text, open] : spellings) {
    EXPECT_EQ(useOf(own(text)).failOpen.value_or(false), open) << text;
    EXPECT_EQ(useOf("{name: a, type: InProcess, inProcess: {request: {}}, " + std::string(text) + "}")
                  .failOpen.value_or(false),
              open)
        << text;
    EXPECT_EQ(useOf("{name: a, type: ExtProcess, extProcess: {backendRef: {name: s}}, " + std::string(text) + "}")
                  .failOpen.value_or(false),
              open)
        << text;
    EXPECT_EQ(
        useOf("{name: a, backendRefs: [{name: s}], config: {" + std::string(text) + "}}").failOpen.value_or(false),
        open)
        << text;
  }
}

TEST(ProcessorUse, MayRepeatItsFailureModeButNotContradictIt) {
  EXPECT_EQ(useOf(own("failOpen: true, failureMode: open, failurePolicy: Ignore")).failOpen, true);
  EXPECT_EQ(useOf(own("failOpen: false, failureMode: FailClosed")).failOpen, false);
  EXPECT_THAT(problemsOfUses(own("failOpen: true, failureMode: FailClosed")),
              ElementsAre(EndsWith("spec.processors[0].failureMode: contradicts failOpen")));
  EXPECT_THAT(problemsOfUses(own("failOpen: false, failureMode: open")),
              ElementsAre(EndsWith("failureMode: contradicts failOpen")));
  EXPECT_THAT(problemsOfUses(own("failureMode: open, failurePolicy: Fail")),
              ElementsAre(EndsWith("failurePolicy: contradicts failureMode")));
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: [{name: s}], failOpen: true, config: {failureMode: closed}}"),
              ElementsAre(HasSubstr("processors[0].config: says something else about failures")));
  EXPECT_EQ(useOf("{name: a, backendRefs: [{name: s}], failOpen: true, config: {failureMode: open}}").failOpen, true);
}

TEST(ProcessorUse, RefusesAnyOtherWordForItsFailureMode) {
  EXPECT_THAT(problemsOfUses(own("failureMode: 'true'")),
              ElementsAre(HasSubstr("failureMode: must be FailOpen, FailClosed, open or closed")));
  EXPECT_THAT(problemsOfUses(own("failOpen: open")),
              ElementsAre(EndsWith("failOpen: must be true or false, but is a string")));
  EXPECT_THAT(problemsOfUses(own("failurePolicy: open")),
              ElementsAre(HasSubstr("failurePolicy: must be Ignore or Fail")));
  EXPECT_THAT(problemsOfUses(own("failOpen: 1, failureMode: open")), SizeIs(1)) << "what is wrong contradicts nothing";
}

TEST(ProcessorUse, ReadsThisProjectsSpelling) {
  const ProcessorUse use = useOf(
      own("phase: response-body, priority: -5, failOpen: true, preAuth: true, timeout: 1s, rawConfig: {set: [1]}"));
  EXPECT_EQ(use.name, "a");
  EXPECT_EQ(use.type, "a.b/K:v1");
  EXPECT_EQ(use.phase, "response-body");
  EXPECT_EQ(use.priority, -5);
  EXPECT_EQ(use.preAuth, true);
  EXPECT_EQ(use.timeout, std::chrono::seconds(1));
  ASSERT_TRUE(use.config);
  EXPECT_EQ(use.config->find("set")->items.at(0).text, "1");
  EXPECT_EQ(use.path, "spec.processors[0]");
  EXPECT_THAT(use.unsupported, IsEmpty());
}

TEST(ProcessorUse, RequiresATypeOrBackendRefs) {
  EXPECT_THAT(problemsOfUses("{name: a}"), ElementsAre(EndsWith("processors[0].type: is required")));
  EXPECT_THAT(problemsOfUses("{name: a, type: ext}"), ElementsAre(HasSubstr("type: must be a processor type")));
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: []}"),
              ElementsAre(EndsWith("backendRefs: must have at least one item")));
  EXPECT_THAT(problemsOfUses("{name: a, type: a.b/K:v1, backendRefs: [{name: s}]}"),
              ElementsAre(HasSubstr("backendRefs: unknown field")));
}

TEST(ProcessorUse, WithBackendRefsIsAnExternalProcessor) {
  const ProcessorUse use = useOf(
      "{name: scan, backendRefs: [{kind: Service, name: scanner, port: 9000}], "
      "config: {timeout: 250ms, failureMode: open, context: {tenant_id: customer-a}}}");
  EXPECT_EQ(use.type, processor_type::kExtProc);
  EXPECT_EQ(use.phase, "");
  EXPECT_EQ(use.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(use.failOpen, true);
  ASSERT_TRUE(use.config);
  ASSERT_TRUE(use.config->isMap());
  EXPECT_EQ(use.config->find("backendRefs")->items.at(0).find("name")->text, "scanner");
  EXPECT_EQ(use.config->find("context")->find("tenant_id")->text, "customer-a");
  EXPECT_FALSE(use.config->find("timeout")) << "the chain's, not the processor's";
  EXPECT_GT(use.config->position().line, 0u);

  EXPECT_EQ(useOf("{name: a, backendRefs: [{name: s}]}").failOpen, false);
  EXPECT_EQ(useOf("{name: a, backendRefs: [{name: s}], context: {k: v}}").config->find("context")->find("k")->text,
            "v");
}

TEST(ProcessorUse, WithBackendRefsRefusesContradictions) {
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: [{name: s}], context: {k: v}, config: {context: {k: v}}}"),
              ElementsAre(EndsWith("context: must not be given in both places")));
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: [{name: s}], timeout: 1s, config: {timeout: 2s}}"),
              ElementsAre(EndsWith("config.timeout: contradicts timeout")));
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: [{name: s}], timeout: 1s, config: {timeout: 1000ms}}"), IsEmpty());
  EXPECT_THAT(problemsOfUses("{name: a, backendRefs: [{nam: s}], config: {modus: x, context: {k: 1}}}"),
              ElementsAre(EndsWith("backendRefs[0].name: is required"), HasSubstr("backendRefs[0].nam: unknown field"),
                          HasSubstr("context[\"k\"]: must be a string"), HasSubstr("config.modus: unknown field")));
}

TEST(ProcessorUse, WithTypeExtProcessIsAnExternalProcessor) {
  const ProcessorUse use = useOf(
      "{name: a, type: ExtProcess, timeout: 500ms, extProcess: {backendRef: {group: gateway.networking.k8s.io, kind: "
      "Backend, name: b}}}");
  EXPECT_EQ(use.type, processor_type::kExtProc);
  EXPECT_EQ(use.timeout, std::chrono::milliseconds(500));
  EXPECT_EQ(use.failOpen, false);
  ASSERT_EQ(use.config->find("backendRefs")->items.size(), 1u);
  EXPECT_EQ(use.config->find("backendRefs")->items[0].find("kind")->text, "Backend");
}

TEST(ProcessorUse, RequiresExactlyTheFieldOfItsType) {
  EXPECT_THAT(problemsOfUses("{name: a, type: ExtProcess}"), ElementsAre(EndsWith("extProcess: is required")));
  EXPECT_THAT(problemsOfUses("{name: a, type: InProcess}"), ElementsAre(EndsWith("inProcess: is required")));
  EXPECT_THAT(problemsOfUses("{name: a, type: InProcess, inProcess: {}}"),
              ElementsAre(EndsWith("request: is required")));
  EXPECT_THAT(problemsOfUses("{name: a, type: ExtProcess, extProcess: {}}"),
              ElementsAre(EndsWith("extProcess.backendRef: is required")));
  const std::string both = "inProcess: {request: {}}, extProcess: {backendRef: {name: s}}}";
  EXPECT_THAT(problemsOfUses("{name: a, type: InProcess, " + both),
              ElementsAre(EndsWith("extProcess: must not be given when type is InProcess")));
  EXPECT_THAT(problemsOfUses("{name: a, type: ExtProcess, " + both),
              ElementsAre(EndsWith("inProcess: must not be given when type is ExtProcess")));
}

TEST(ProcessorUse, WithTypeInProcessIsAHeaderModifierIfItsValuesAreLiterals) {
  const ProcessorUse use =
      useOf(inProcess("setHeaders: [{name: X-A, value: '\"my-custom-value\"'}, {name: X-B, value: \"'b'\"}], "
                      "removeHeaders: [x-c, {name: x-d}], setBodyFields: [], removeBodyFields: []"));
  EXPECT_EQ(use.type, processor_type::kHeaderModifier);
  EXPECT_EQ(use.phase, "request-headers");
  EXPECT_EQ(use.failOpen, false);
  EXPECT_THAT(use.unsupported, IsEmpty());
  const std::optional<Value> set = use.config->find("set");
  ASSERT_TRUE(set);
  ASSERT_EQ(set->items.size(), 2u);
  EXPECT_EQ(set->items[0].find("name")->text, "X-A");
  EXPECT_EQ(set->items[0].find("value")->text, "my-custom-value");
  EXPECT_EQ(set->items[1].find("value")->text, "b");
  const std::optional<Value> remove = use.config->find("remove");
  ASSERT_TRUE(remove);
  EXPECT_EQ(remove->items.at(0).text, "x-c");
  EXPECT_EQ(remove->items.at(1).text, "x-d");
  EXPECT_TRUE(remove->items[1].isString());
  EXPECT_THAT(useOf(inProcess("")).config->unpacked().members, IsEmpty());
}

TEST(ProcessorUse, WithTypeInProcessIsKeptAsItIsWrittenForOtherEdits) {
  for (const char* request :
       {"setHeaders: [{name: a, value: 'json(request.body).model'}]", "setHeaders: [{name: a, value: '\"b\" + \"c\"'}]",
        "setHeaders: [{name: a, value: '\"\\n\"'}]", "setHeaders: [{name: a, value: plain}]",
        "setHeaders: [{name: a, value: ''}]", "setHeaders: [{name: a, value: '\"'}]",
        "setBodyFields: [{name: '$.stream', value: 'true'}]", "removeBodyFields: [{name: '$.user_email'}]"}) {
    const ProcessorUse use = useOf(inProcess(request));
    EXPECT_EQ(use.type, processor_type::kInProcess) << request;
    EXPECT_EQ(use.phase, "") << "its processor says in which phases it runs";
    EXPECT_THAT(use.unsupported, IsEmpty()) << request;
    EXPECT_TRUE(use.config->find("request")) << request;
  }
  const ProcessorUse both = useOf(inProcess("", ", response: {removeHeaders: [server]}"));
  EXPECT_EQ(both.type, processor_type::kInProcess);
  EXPECT_TRUE(both.config->find("response"));
  EXPECT_EQ(useOf("{name: a, type: InProcess, inProcess: {response: {}}}").type, processor_type::kInProcess);
}

TEST(ProcessorUse, HasAFallback) {
  const ProcessorUse use = useOf(own("fallback: {response: {status: 429, detail: later}}"));
  ASSERT_TRUE(use.fallback);
  EXPECT_EQ(use.fallback->status, 429);
  EXPECT_EQ(use.fallback->detail, "later");
  EXPECT_EQ(useOf(own("fallback: {response: {}}")).fallback->status, 503);
  EXPECT_EQ(useOf(own("fallback: {use: b}") + ", {name: b, type: a.b/K:v1}").fallback->use, "b");
}

TEST(ProcessorUse, HasAFallbackThatLeadsToAnotherUse) {
  EXPECT_THAT(problemsOfUses(own("fallback: {}")), ElementsAre(HasSubstr("fallback.use: must be given, or response")));
  EXPECT_THAT(problemsOfUses(own("fallback: {use: b, response: {}}") + ", {name: b, type: a.b/K:v1}"),
              ElementsAre(HasSubstr("fallback.use: must be given, or response, but not both")));
  EXPECT_THAT(problemsOfUses(own("fallback: {use: b}")),
              ElementsAre(HasSubstr("processors[0].fallback.use: names no other use of the list")));
  EXPECT_THAT(problemsOfUses(own("fallback: {use: a}")), ElementsAre(HasSubstr("leads back to this use")));
  EXPECT_THAT(
      problemsOfUses(own("fallback: {use: b}") + ", {name: b, type: a.b/K:v1, fallback: {use: a}}"),
      ElementsAre(HasSubstr("processors[0].fallback.use: leads back"), HasSubstr("processors[1].fallback.use")));
  EXPECT_THAT(problemsOfUses(own("fallback: {response: {status: 200}}")), SizeIs(1));
  EXPECT_THAT(problemsOfUses(own("fallback: {response: {detail: ''}}")), SizeIs(1));
}

TEST(ProcessorUse, WithTypeInProcessIsChecked) {
  EXPECT_THAT(problemsOfUses(inProcess("setHeaders: [{name: 'a b', value: '\"c\"'}]")),
              ElementsAre(HasSubstr("setHeaders[0].name: must be a header name")));
  EXPECT_THAT(problemsOfUses(inProcess("setHeaders: [{name: a}]")),
              ElementsAre(EndsWith("setHeaders[0].value: is required")));
  EXPECT_THAT(problemsOfUses(inProcess("setHeaders: [{name: a, value: '\" b\"'}]")),
              ElementsAre(HasSubstr("setHeaders[0].value: must be a header value")));
  EXPECT_THAT(problemsOfUses(inProcess("removeHeaders: [{nam: a}], set: 1")),
              ElementsAre(HasSubstr("removeHeaders[0].name: is required"),
                          HasSubstr("removeHeaders[0].nam: unknown field"), HasSubstr("request.set: unknown field")));
  EXPECT_THAT(problemsOfUses(inProcess("removeBodyFields: [{name: 1}], setBodyFields: [{name: x}]")), SizeIs(2));
}

}  // namespace
}  // namespace sluice::config
