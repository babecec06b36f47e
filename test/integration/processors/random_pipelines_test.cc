// Tests random pipelines of steps of every engine, in every phase and at every place, with the real binary against the
// reference interpreter: the origin and the client get the fields and the bodies that the order of steps promises.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/processors/random_pipeline.h"
#include "test/integration/support/faults/whole_peers.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/route.h"
#include "test/support/seeds.h"

namespace sluice::test {
namespace {

constexpr std::size_t kPipelines = 12;  // of a gateway
constexpr std::uint32_t kFixedSeeds = 3;
constexpr std::uint32_t kDailySeeds = 3;

/// A server that edits what it gets, and its port.
struct EditingServer {
  explicit EditingServer(const std::vector<std::string>& options) {
    std::vector<std::string> argv = {programPath("sluice-ext-proc")};
    argv.insert(argv.end(), options.begin(), options.end());
    process = std::make_unique<ChildProcess>(argv);
    const auto line = process->waitForLine("listening on ");
    EXPECT_TRUE(line) << process->errors();
    if (line) port = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(' ') + 1)));
  }
  std::unique_ptr<ChildProcess> process;
  std::uint16_t port = 0;
};

class RandomPipelines : public testing::TestWithParam<std::uint32_t> {
 protected:
  /// Starts a gateway with a listener, a route and a Backend for each pipeline.
  void start(const std::vector<RandomPipeline>& pipelines) {
    GatewaySpec spec;
    spec.workers = 2;
    spec.options = {"--library-dir", SLUICE_PROGRAMS "/libraries"};
    spec.settings = "processorCatalogs: [{namespace: test, name: types}]\n";
    spec.backends = {{.name = "setting", .hostname = "setting.test", .port = setting_.port},
                     {.name = "raising", .hostname = "raising.test", .port = raising_.port}};
    spec.routes = catalog();
    ports_.clear();
    for (std::size_t i = 0; i < pipelines.size(); ++i) {
      const std::string name = "p" + std::to_string(i);
      ports_.push_back(freePort());
      spec.listeners += "    - {name: " + name + ", protocol: HTTP, port: " + std::to_string(ports_[i]) + "}\n";
      spec.backends.push_back({.name = name,
                               .hostname = name + ".test",
                               .port = origin_.port(),
                               .extensions = "[" + pipelines[i].usesOf(StepPlace::kBackend) + "]"});
      spec.routes += "---\n" + routeOf(name, pipelines[i]);
      const std::string uses = pipelines[i].usesOf(StepPlace::kGateway);
      if (uses.empty()) continue;
      spec.routes +=
          "---\napiVersion: sluice.dev/v1alpha1\nkind: PayloadProcessor\nmetadata: {namespace: test, name: " + name +
          "}\nspec: {targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: " + name +
          "}, processors: [" + uses + "]}\n";
    }
    gateway_ = std::make_unique<GatewayProcess>(spec);
  }
  static std::string routeOf(const std::string& name, const RandomPipeline& pipeline) {
    const auto rule = [&](const std::string& match, StepPlace place, const std::string& filter) {
      const std::string uses = pipeline.usesOf(place);
      std::string filters = uses.empty() ? "" : inlined(uses);
      if (pipeline.hasFilter()) {
        filters += (filters.empty() ? "" : ", ") +
                   std::string("{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x-b, value: ") +
                   filter + "}]}}";
      }
      return "    - " + match + "filters: [" + filters + "]\n      backendRefs: [" + backendRef(name) + "]\n";
    };
    std::string route = routeOfRules(
        rule("matches: [{headers: [{name: x-route, value: other}]}]\n      ", StepPlace::kOtherRule, "other-filter") +
            rule("", StepPlace::kRule, "filter"),
        name);
    const std::string parent = "{name: egress";
    return route.insert(route.find(parent) + parent.size(), ", sectionName: " + name);
  }
  static std::string catalog() {
    std::string phases;
    for (const std::string phase : kDrawnPhases) phases += (phases.empty() ? "" : ", ") + phase;
    std::vector<std::pair<std::string, std::string>> entries = {
        {"library.yaml", entryOf("acme.test/Library:v1", "library", phases, "library: {file: edits.so}\n")}};
    for (const std::string form : {"none", "whole", "chunks"}) {
      entries.emplace_back(form + ".yaml", entryOf("acme.test/" + form + ":v1", "lua", phases,
                                                   "lua:\n" + blockOf("script", editingScript(form), "  ")));
    }
    return configMapOf("types", entries) + configMapOf("schema", {{"schema.json", R"({"type": "object"})"}});
  }

  /// Sends a request of that kind through a pipeline, and compares all that comes of it.
  void check(const RandomPipeline& pipeline, std::uint16_t port, std::uint32_t kind) {
    static constexpr std::size_t kSizes[] = {0, 3, 5000, 150'000};
    PeerRequest request;
    request.number = ++number_;
    request.path = "/";
    request.body = patternOf(kSizes[kind % 4]);
    request.answerSize = kSizes[kind / 4 % 4];
    // A body without a byte is one only if its length is not stated.
    const auto framingOf = [&](std::size_t size) {
      return size == 0 || kind % 3 == 0 ? PeerFraming::kChunked : PeerFraming::kLength;
    };
    request.framing = framingOf(request.body.size());
    request.answerFraming = framingOf(request.answerSize);
    request.fields = {{"x-a", "client"}};
    if (kind % 5 == 0) request.fields.emplace_back("x-route", "other");
    if (kind % 2 == 0) request.fields.emplace_back("x-stop", "v" + std::to_string(kind / 2 % 8));
    DrawnMessage asked{200, {}, request.body};
    for (const auto& [name, value] : request.fields) asked.fields[name] = {value};
    const DrawnOutcome expected = pipeline.outcomeOf(asked, patternOf(request.answerSize));
    const PeerMessage answer = WholeClient(port, kind / 3 % 2 == 0).ask(request);
    SCOPED_TRACE("request of kind " + std::to_string(kind));
    EXPECT_EQ(answer.status, expected.answer.status) << answer.body.substr(0, 300);
    EXPECT_TRUE(answer.isWhole);
    EXPECT_TRUE(answer.body == expected.answer.body)
        << beginOf(answer.body) << ", not " << beginOf(expected.answer.body);
    const auto heard = origin_.heard(request.number);
    ASSERT_EQ(heard.has_value(), expected.reachesOrigin);
    expectFields(answer.fields, expected.answer.fields, "of the answer");
    if (!heard) return;
    expectFields(heard->fields, expected.sent.fields, "of the request");
    EXPECT_TRUE(heard->isWhole);
    EXPECT_TRUE(heard->body == expected.sent.body) << beginOf(heard->body) << ", not " << beginOf(expected.sent.body);
  }
  static void expectFields(const DrawnFields& got, const DrawnFields& expected, const std::string& what) {
    for (const std::string name : kDrawnNames) {
      const auto valuesIn = [&](const DrawnFields& fields) {
        const auto found = fields.find(name);
        return found == fields.end() ? std::vector<std::string>() : found->second;
      };
      EXPECT_EQ(valuesIn(got), valuesIn(expected)) << name << " " << what;
    }
  }
  static std::string beginOf(const std::string& body) {
    return std::to_string(body.size()) + " bytes, " + body.substr(0, 20) + ".." +
           body.substr(body.size() - std::min<std::size_t>(body.size(), 20));
  }

  const EditingServer setting_{{"--set", "x-c=external"}};
  const EditingServer raising_{{"--upper"}};
  WholeOrigin origin_;
  std::vector<std::uint16_t> ports_;
  std::unique_ptr<GatewayProcess> gateway_;
  int number_ = 0;
};

TEST_P(RandomPipelines, DoWhatTheReferenceInterpreterDoes) {
  const std::vector<std::uint32_t> all = seeds(kFixedSeeds, kDailySeeds);
  if (GetParam() >= all.size()) GTEST_SKIP() << "SLUICE_SEED asks for one seed";
  const std::uint32_t seed = all[GetParam()];
  std::vector<RandomPipeline> pipelines;
  for (std::uint32_t i = 0; i < kPipelines; ++i) pipelines.emplace_back(seed * kPipelines + i);
  start(pipelines);
  for (std::size_t i = 0; i < kPipelines; ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", pipeline " + std::to_string(i) + ":\n" + pipelines[i].text());
    for (std::uint32_t kind = 0; kind < 24; ++kind) {
      check(pipelines[i], ports_[i], kind * 7 + seed + static_cast<std::uint32_t>(i));
      ASSERT_FALSE(HasFailure());  // or an answer that does not come would be awaited once for each kind
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPipelines, testing::Range(0u, kFixedSeeds + kDailySeeds));

}  // namespace
}  // namespace sluice::test
