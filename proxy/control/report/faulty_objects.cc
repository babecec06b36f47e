#include "proxy/control/report/faulty_objects.h"

#include <cstdint>
#include <map>
#include <set>

#include "config/ground/finding.h"
#include "config/status/object_fault.h"
#include "proxy/base/json_writer.h"

namespace sluice::control {
namespace {

FaultyObject faultyBy(const config::ObjectStatus& object, const config::Condition& fault) {
  return {object.group, object.kind, object.nameSpace, object.name, fault.type, fault.reason, {}, fault.message};
}

FaultyObject faultyBy(const config::Problem& problem) {
  FaultyObject faulty;
  // The title is "ConfigMap demo/types", or "GatewayClass egress".
  const std::string_view title = problem.object;
  faulty.kind = title.substr(0, title.find(' '));
  faulty.nameSpace = config::namespaceOf(problem);
  if (faulty.kind.size() < title.size()) faulty.name = title.substr(faulty.kind.size() + 1);
  if (!faulty.nameSpace.empty()) faulty.name.remove_prefix(faulty.nameSpace.size() + 1);
  faulty.reason = config::reason::kInvalid;
  faulty.field = problem.field;
  faulty.message = problem.message;
  return faulty;
}

void writeFault(base::JsonWriter& json, const FaultyObject& each) {
  const std::string message = config::Finding{std::string(each.field), std::string(each.message)}.text();
  const std::array<std::string_view, kFaultMembers.size()> values = {
      each.group, each.kind, each.nameSpace, each.name, each.condition, each.reason, message};
  json.beginObject();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values[i].empty()) json.member(kFaultMembers[i], values[i]);
  }
  json.endObject();
}

std::string listReasons(const std::set<std::string_view>& reasons) {
  base::JsonWriter list;
  list.beginList();
  for (const std::string_view each : reasons) list.text(each);
  return list.endList().take();
}

}  // namespace

std::vector<FaultyObject> faultyObjects(const CompiledConfiguration& configuration, const config::Problems& problems,
                                        const ObjectCounting& counted) {
  std::vector<FaultyObject> faulty;
  std::set<std::string> titles;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    const config::Condition* fault = counted.has(object) ? config::mainFault(object) : nullptr;
    if (fault == nullptr) continue;
    titles.insert(config::objectName(object));
    faulty.push_back(faultyBy(object, *fault));
  }
  for (const config::Problem& problem : problems) {
    if (problem.severity != config::Severity::kError || !counted.has(problem)) continue;
    if (problem.object.empty() || titles.insert(problem.object).second) faulty.push_back(faultyBy(problem));
  }
  return faulty;
}

const config::Problems& problemsNow(const CompiledConfiguration& known, const Revisions& revisions) {
  return revisions.standing == Standing::kServed ? *revisions.problems : known.problems;
}

ListedFaults listFaults(const std::vector<FaultyObject>& objects) {
  std::set<std::string_view> reasons;
  std::map<std::string_view, std::size_t> listed;
  std::map<std::string_view, std::int64_t> others;
  std::size_t all = 0;
  base::JsonWriter faults;
  faults.beginList();
  for (const FaultyObject& each : objects) {
    reasons.insert(each.reason);
    std::size_t& ofNamespace = listed[each.nameSpace];
    if (all == ListedFaults::kMost || ofNamespace == ListedFaults::kMostOfNamespace) {
      ++others[each.nameSpace];
      continue;
    }
    ++ofNamespace;
    ++all;
    writeFault(faults, each);
  }
  ListedFaults result{listReasons(reasons), faults.endList().take()};
  if (others.empty()) return result;
  base::JsonWriter leftOut;
  leftOut.beginList();
  for (const auto& [nameSpace, count] : others) {
    leftOut.beginObject().member("namespace", nameSpace).member("count", count).endObject();
  }
  result.leftOut = leftOut.endList().take();
  return result;
}

}  // namespace sluice::control
