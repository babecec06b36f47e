#include "proxy/server/kubernetes/replica_differences.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace sluice::server {
namespace {

using kubernetes::FailedObject;
using kubernetes::ReplicaReport;

/// The values of the fields that are compared, in the order in which they are shown.
using ComparedFields = std::vector<std::pair<std::string, std::vector<std::string>>>;

std::vector<std::string> ifThere(const std::string& text) {
  return text.empty() ? std::vector<std::string>() : std::vector{text};
}

std::vector<std::string> failedObjectsIn(const ReplicaReport& report) {
  std::vector<std::string> objects;
  for (const FailedObject& each : report.failed) {
    const std::string name = each.nameSpace.empty() ? each.name : each.nameSpace + "/" + each.name;
    objects.push_back(each.kind + " " + name + ": " + each.reason);
  }
  std::sort(objects.begin(), objects.end());
  if (const std::size_t more = report.failedInAll - report.failed.size(); more > 0) {
    objects.push_back("and " + std::to_string(more) + " more");
  }
  return objects;
}

ComparedFields comparedFields(const ReplicaReport& report) {
  return {{"desired", ifThere(report.desired)},
          {"served", ifThere(report.served)},
          {"state", {std::string(configStateName(report.state))}},
          {"failed", failedObjectsIn(report)}};
}

/// Returns the fields that most of the replicas have.
ComparedFields fieldsOfMost(const std::vector<const ReplicaReport*>& replicas) {
  // How many there are, whether they are in sync, and how few objects they fail to serve.
  std::map<ComparedFields, std::tuple<std::size_t, bool, std::ptrdiff_t>> all;
  for (const ReplicaReport* each : replicas) {
    auto& [count, inSync, fewness] = all[comparedFields(*each)];
    ++count;
    inSync = each->state == control::ConfigState::kInSync;
    fewness = -static_cast<std::ptrdiff_t>(each->failedInAll);
  }
  return std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

DifferingReplica differencesOf(const ReplicaReport& report, const ComparedFields& others) {
  DifferingReplica result{report.nameSpace + "/" + report.replica, {}};
  ComparedFields own = comparedFields(report);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != others[i]) {
      result.fields.push_back({std::move(own[i].first), std::move(own[i].second), others[i].second});
    }
  }
  return result;
}

}  // namespace

std::vector<DifferingGroup> differingGroups(const std::vector<const ReplicaReport*>& live) {
  std::map<std::pair<std::string, std::string>, std::vector<const ReplicaReport*>> groups;
  for (const ReplicaReport* each : live) groups[{each->replicaOf, each->gateway}].push_back(each);
  std::vector<DifferingGroup> result;
  for (const auto& [key, replicas] : groups) {
    DifferingGroup group{key.first, key.second, replicas.size(), {}};
    const ComparedFields others = fieldsOfMost(replicas);
    for (const ReplicaReport* each : replicas) {
      DifferingReplica differing = differencesOf(*each, others);
      if (!differing.fields.empty()) group.differing.push_back(std::move(differing));
    }
    if (!group.differing.empty()) result.push_back(std::move(group));
  }
  return result;
}

}  // namespace sluice::server
