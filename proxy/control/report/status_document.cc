#include "proxy/control/report/status_document.h"

#include <algorithm>
#include <cstddef>

#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"
#include "proxy/content/output/output.h"
#include "proxy/control/report/configuration_problems.h"
#include "proxy/control/report/faulty_objects.h"

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

}  // namespace

std::string statusDocument(const CompiledConfiguration& configuration, const Revisions& revisions,
                           std::string_view zone, const ListedEndpoints& endpoints, CountedObjects counted) {
  const ObjectCounting counting(configuration.compiled, counted);
  const ListedFaults faults = listFaults(faultyObjects(configuration, problemsNow(configuration, revisions), counting));
  base::JsonWriter json;
  json.beginObject();
  json.member("desired", revisions.desired).member("published", revisions.published);
  json.member("served", revisions.served).member("state", configStateName(revisions.state()));
  json.key("degraded").json(faults.reasons);
  json.member("since", base::Timestamp().text(revisions.since));
  if (revisions.standing == Standing::kHeld) json.key("waits").json("true");
  if (!zone.empty()) json.member("zone", zone);
  writeProblems(json, *revisions.problems);
  json.key("faultyObjects").json(faults.faults);
  if (!faults.leftOut.empty()) json.key("faultyObjectsLeftOut").json(faults.leftOut);
  writeObjects(json, configuration);
  json.key("endpoints").json(endpoints.endpoints);
  if (!endpoints.leftOut.empty()) json.key("endpointsLeftOut").json(endpoints.leftOut);
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
