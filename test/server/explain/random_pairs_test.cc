// Compares explanations with the behaviour of the data plane, on 10,000 random pairs of a configuration and a request.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proxy/control/explain/explain.h"
#include "test/compile/compile_world.h"
#include "test/compile/processor_types.h"
#include "test/server/explain/pairs_rig.h"
#include "test/server/explain/random_routes.h"

namespace sluice::test {
namespace {

using control::ExplainedBackend;
using control::ExplainedFilter;
using control::Explanation;
using control::RequestInQuestion;

processing::BuiltinTypes stepTypes() {
  std::vector<processing::Phase> all;
  for (std::size_t i = 0; i < processing::kPhases; ++i) all.push_back(static_cast<processing::Phase>(i));
  return {{"sluice.dev/Step:v1", all, true, "{}", compile::test::makeNoopProcessor}};
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& each : texts) all += each + " ";
  return all;
}

/// Returns the text that follows `word` in the effect of a filter; empty if the word is not there.
std::string wordBehind(const std::string& effect, const std::string& word) {
  const std::size_t at = effect.find(word);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + word.size();
  return effect.substr(begin, effect.find(',', begin) - begin);
}

/// Compares one explanation with one record, and collects the differences.
class PairComparison {
 public:
  PairComparison(const Explanation& explanation, const RecordedPair& pair) : explained_(explanation), pair_(pair) {}

  std::string differences() {
    const bool ruled = explained_.rule.has_value();
    differ("route", ruled ? explained_.rule->route : "", pair_.route);
    const bool heard = explained_.listener.has_value();
    differ("gateway", heard ? explained_.listener->gateway : "", pair_.gateway);
    differ("listener", heard ? explained_.listener->name : "", pair_.listener);
    const std::vector<const ExplainedBackend*> possible = possibleBackends();
    if (explained_.backends.empty()) {
      compareAnswer(explained_.answer, explained_.filters, explained_.steps);
    } else if (possible.empty()) {
      differences_ += "no backend of the explanation was recorded: " + pair_.backend + "\n";
    } else {
      compareBackends(possible);
    }
    return differences_;
  }

 private:
  void differ(const char* what, const std::string& explained, const std::string& recorded) {
    if (explained != recorded) differences_ += std::string(what) + ": " + explained + ", but " + recorded + "\n";
  }

  /// Returns the backends of the explanation that may have been chosen: several references may lead to one.
  std::vector<const ExplainedBackend*> possibleBackends() const {
    std::vector<const ExplainedBackend*> possible;
    for (const ExplainedBackend& each : explained_.backends) {
      if (each.weight > 0 && each.name == pair_.backend) possible.push_back(&each);
    }
    return possible;
  }

  /// One of the references is the one that was chosen, and then everything is as explained.
  void compareBackends(const std::vector<const ExplainedBackend*>& possible) {
    const std::string before = differences_;
    std::string first;
    for (const ExplainedBackend* each : possible) {
      differences_ = before;
      compareBackend(*each);
      if (differences_ == before) return;
      if (first.empty()) first = differences_;
    }
    differences_ = first;
  }

  void compareBackend(const ExplainedBackend& backend) {
    if (backend.answer) return compareAnswer(backend.answer, backend.filters, backend.steps);
    differ("status", "200", pair_.status);
    differ("reached", "1", std::to_string(pair_.reached));
    compareRequest(backend);
    compareSteps(backend.steps);
    differ("response trail", trailOf(backend.filters, true, backend), responseTrail());
  }

  void compareRequest(const ExplainedBackend& backend) {
    differ("request trail", trailOf(backend.filters, false, backend), joined(pair_.requestTrail));
    std::string authority = backend.hostname + ":" + std::to_string(backend.port);
    std::string path = explained_.path;
    for (const std::string& note : explained_.notes) {
      if (const std::string sent = wordBehind(note, "as it was sent: "); !sent.empty()) path = sent;
    }
    for (const ExplainedFilter& each : backend.filters) {
      if (each.type != "URLRewrite") continue;
      if (const std::string found = wordBehind(each.effect, "hostname "); !found.empty()) authority = found;
      if (const std::string found = wordBehind(each.effect, "path /"); !found.empty()) path = "/" + found;
    }
    differ("authority", authority, pair_.authority);
    differ("path", path, pair_.path);
  }

  void compareAnswer(const std::optional<control::ExplainedAnswer>& answer, const std::vector<ExplainedFilter>& filters,
                     const std::vector<control::ExplainedStep>& steps) {
    if (!answer) {
      differences_ += "no answer and no backend are explained\n";
      return;
    }
    differ("status", std::to_string(answer->status), pair_.status);
    differ("error.type", answer->code, pair_.errorType);
    differ("reached", "0", std::to_string(pair_.reached));
    const std::size_t at = pair_.answered.find("location: ");
    const std::string location = at == std::string::npos ? "" : pair_.answered.substr(at + 10);
    differ("location", answer->location, location.substr(0, location.find_first_of("?\r")));
    const bool cors = std::any_of(filters.begin(), filters.end(), [](const auto& each) { return each.type == "CORS"; });
    const bool varies = pair_.answered.find("vary: ") != std::string::npos;
    differ("cors", std::to_string(cors), std::to_string(varies));
    compareSteps(steps);
  }

  void compareSteps(const std::vector<control::ExplainedStep>& steps) {
    std::vector<std::string> names;
    for (const control::ExplainedStep& each : steps) names.push_back(each.name);
    differ("steps", joined(names), joined(pair_.steps));
  }

  /// Returns the traces of the filters that edit one side's fields: the rule leaves its name, and a reference that with
  /// its place.
  std::string trailOf(const std::vector<ExplainedFilter>& filters, bool ofResponse,
                      const ExplainedBackend& backend) const {
    const char* const type = ofResponse ? "ResponseHeaderModifier" : "RequestHeaderModifier";
    const auto place = static_cast<std::size_t>(&backend - explained_.backends.data());
    std::vector<std::string> trail;
    for (const ExplainedFilter& each : filters) {
      if (each.type != type) continue;
      trail.push_back(each.scope == "rule" ? explained_.rule->name
                                           : explained_.rule->name + "-" + std::to_string(place));
    }
    return joined(trail);
  }

  std::string responseTrail() const {
    constexpr std::string_view kName = "\r\nx-trail: ";
    std::vector<std::string> trail;
    for (std::size_t at = pair_.answered.find(kName); at != std::string::npos;
         at = pair_.answered.find(kName, at + 1)) {
      const std::size_t begin = at + kName.size();
      trail.push_back(pair_.answered.substr(begin, pair_.answered.find('\r', begin) - begin));
    }
    return joined(trail);
  }

  const Explanation& explained_;
  const RecordedPair& pair_;
  std::string differences_;
};

struct PairsOutcome {
  std::size_t pairs = 0;
  std::size_t different = 0;
  std::string first;                           // the first difference
  std::map<std::string, std::size_t> covered;  // how many pairs showed each feature
};

/// Counts the features of a pair, so that a test knows that none was left out.
void cover(const Explanation& explanation, const RecordedPair& pair, PairsOutcome& outcome) {
  ++outcome.covered["status " + pair.status];
  if (pair.reached) ++outcome.covered["forwarded"];
  if (pair.requestTrail.size() > 1) ++outcome.covered["filters of rule and reference"];
  if (pair.reached && pair.path != explanation.path) ++outcome.covered["rewritten"];
  if (pair.steps.size() > 3) ++outcome.covered["many steps"];
  if (pair.steps.size() == 1 && pair.status == "500") ++outcome.covered["broken steps"];
  if (explanation.backends.size() > 1) ++outcome.covered["weights"];
  if (!explanation.others.empty()) ++outcome.covered["passed over"];
  if (explanation.rule && explanation.rule->kind == "GRPCRoute" && pair.reached) ++outcome.covered["calls"];
  if (explanation.answer && explanation.answer->grpcStatus) ++outcome.covered["calls refused"];
}

/// Changes the request that is explained, but not the one that is sent.
using MutantOfExplain = void (*)(RequestInQuestion&);

/// Compares `count` requests with one configuration.
void comparePairs(std::uint64_t seed, std::size_t count, MutantOfExplain mutate, PairsOutcome& outcome) {
  RandomRoutes random(seed);
  const std::string withSettings =
      compile::test::with(compile::test::kClass, "controllerName: sluice.dev/egress-gateway",
                          "controllerName: sluice.dev/egress-gateway, parametersRef: {group: '', kind: ConfigMap, "
                          "namespace: default, name: settings}");
  const std::string settings = compile::test::configMap("settings", "settings.yaml", random.settings());
  const std::vector<std::string> documents = random.documents();
  std::vector<std::string_view> all = {withSettings, settings};
  all.insert(all.end(), documents.begin(), documents.end());
  const compile::test::World world(all, nullptr, stepTypes());
  PairsRig rig(world.snapshot(), RandomRoutes::kBackends);
  for (std::size_t i = 0; i < count; ++i) {
    const RequestInQuestion asked = random.request();
    const RecordedPair pair = rig.ask(asked);
    RequestInQuestion mutated = asked;
    if (mutate != nullptr) mutate(mutated);
    const auto explanation = control::explain(world.snapshot(), world.model(), mutated);
    ASSERT_TRUE(explanation.ok()) << explanation.error().detail;
    const std::string differences = PairComparison(*explanation, pair).differences();
    ++outcome.pairs;
    cover(*explanation, pair, outcome);
    if (differences.empty()) continue;
    if (outcome.different++ > 0) continue;
    outcome.first = "seed " + std::to_string(seed) + ", " + asked.method + " " + asked.url + "\n" +
                    joined(asked.headers) + "\n" + differences + pair.answered;
  }
}

TEST(ExplainRandomPairs, SayWhatTheDataPlaneDoes) {
  PairsOutcome outcome;
  for (std::uint64_t seed = 1; seed <= 20 && !HasFatalFailure(); ++seed) comparePairs(seed, 500, nullptr, outcome);
  EXPECT_EQ(outcome.pairs, 10'000U);
  EXPECT_EQ(outcome.different, 0U) << outcome.first;
  for (const char* each :
       {"status 200", "status 204", "status 301", "status 307", "status 400", "status 404", "status 415", "status 417",
        "status 500", "status 501", "forwarded", "filters of rule and reference", "rewritten", "many steps",
        "broken steps", "weights", "passed over", "calls", "calls refused"}) {
    EXPECT_GT(outcome.covered[each], 20U) << each;
  }
}

TEST(ExplainRandomPairs, CatchAMutantThatIgnoresHeaders) {
  PairsOutcome outcome;
  comparePairs(
      1, 500, [](RequestInQuestion& asked) { asked.headers.clear(); }, outcome);
  EXPECT_GT(outcome.different, 0U);
}

TEST(ExplainRandomPairs, CatchAMutantThatIgnoresTheMethodOrTheQuery) {
  PairsOutcome method;
  comparePairs(
      1, 500, [](RequestInQuestion& asked) { asked.method = "GET"; }, method);
  EXPECT_GT(method.different, 0U);
  PairsOutcome query;
  comparePairs(
      1, 500, [](RequestInQuestion& asked) { asked.url = asked.url.substr(0, asked.url.find('?')); }, query);
  EXPECT_GT(query.different, 0U);
}

}  // namespace
}  // namespace sluice::test
