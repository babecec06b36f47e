#include "proxy/control/report/status_document.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"
#include "proxy/content/output/output.h"
#include "proxy/control/report/configuration_problems.h"

namespace sluice::control {
namespace {

constexpr std::size_t kMostProblems = 1000;

void writeProblems(base::JsonWriter& json, const config::Problems& problems) {
  json.key("problems").beginList();
  const std::size_t shown = std::min(problems.size(), kMostProblems);
  for (std::size_t i = 0; i < shown; ++i) json.json(content::outputJson(config::problemValue(problems[i])));
  if (shown < problems.size()) {
    config::Problem rest;
    rest.message = std::to_string(problems.size() - shown) + " more problems: `sluice validate` lists them";
    json.json(content::outputJson(config::problemValue(rest)));
  }
  json.endList();
}

void writeObjects(base::JsonWriter& json, const CompiledConfiguration& configuration) {
  json.key("objects").beginList();
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    json.json(config::objectStatusJson(object));
  }
  json.endList();
}

/// Writes one entry for each Backend and port. It is healthy if all its checks pass.
void writeEndpoints(base::JsonWriter& json, const compile::BackendHealths& healths) {
  struct EndpointStates {
    std::optional<bool> reachable;
    std::optional<bool> healthy;
  };
  std::map<std::pair<std::string_view, std::string_view>, EndpointStates> endpoints;
  for (const compile::BackendHealth& each : healths) {
    EndpointStates& states = endpoints[{each.object, each.endpoint}];
    std::optional<bool>& state = each.reach != nullptr ? states.reachable : states.healthy;
    state = state.value_or(true) && each.serves;
  }
  json.key("endpoints").beginList();
  for (const auto& [name, states] : endpoints) {
    json.beginObject().member("object", name.first).member("endpoint", name.second);
    if (states.reachable) json.key("reachable").json(*states.reachable ? "true" : "false");
    if (states.healthy) json.key("healthy").json(*states.healthy ? "true" : "false");
    json.endObject();
  }
  json.endList();
}

}  // namespace

std::string statusDocument(const CompiledConfiguration& configuration, const Revisions& revisions) {
  base::JsonWriter json;
  json.beginObject();
  json.member("desired", revisions.desired).member("published", revisions.published);
  json.member("served", revisions.served).member("state", configStateName(revisions.state()));
  json.member("since", base::Timestamp().text(revisions.since));
  if (revisions.standing == Standing::kHeld) json.key("waits").json("true");
  writeProblems(json, *revisions.problems);
  writeObjects(json, configuration);
  writeEndpoints(json, configuration.compiled.health);
  json.endObject();
  return json.take() + "\n";
}

std::string verdictDocument(const CompiledConfiguration& configuration, const std::string& refusal) {
  const bool served = configuration.usable() && refusal.empty();
  config::Problems problems = allProblems(configuration);
  if (!refusal.empty()) problems.insert(problems.begin(), {config::Severity::kError, {}, "", "", refusal});
  base::JsonWriter json;
  json.beginObject().key("valid").json(served && configuration.flawless() ? "true" : "false");
  json.member("state", configStateName(served ? ConfigState::kInSync : ConfigState::kRollback));
  json.member("desired", configuration.revision);
  if (served) json.member("served", configuration.servedRevision);
  writeProblems(json, problems);
  writeObjects(json, configuration);
  json.endObject();
  return json.take() + "\n";
}

}  // namespace sluice::control
