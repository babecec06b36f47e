#include "proxy/control/kubernetes/lease/replica_reports.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proxy/control/kubernetes/client/api_forms.h"

namespace sluice::control {

void ReplicaReports::believe(Reporters reporters) {
  if (reporters == reporters_) return;
  reporters_ = std::move(reporters);
  SeenByNamespace all = std::exchange(counted_, {});
  all.merge(others_);
  // A namespace that is in both has others that count.
  for (auto& [nameSpace, seen] : std::exchange(others_, {})) all[nameSpace].merge(seen);
  othersInAll_ = 0;
  for (auto& [nameSpace, seen] : all) {
    for (auto& [lease, each] : seen) put(lease, std::move(each));
  }
}

base::Status ReplicaReports::see(const content::Value& lease, base::MonotonicTime now) {
  const content::Value* metadata = valueIn(&lease, "metadata");
  const std::string nameSpace(textIn(metadata, "namespace"));
  const std::string name(textIn(metadata, "name"));
  LeaseRecord record = readLeaseRecord(lease);
  const SeenReport* before = at(nameSpace, name);
  if (before != nullptr && before->lease == record) return base::Done{};
  base::Result<ReplicaReport> report = readReplicaReport(lease);
  if (!report) return std::move(report).error();
  remove(nameSpace, name);
  put(name, SeenReport{*std::move(report), std::move(record), now});
  return base::Done{};
}

void ReplicaReports::put(const std::string& lease, SeenReport&& seen) {
  const std::string nameSpace = seen.report.nameSpace;
  if (!reporters_.believes(seen.report)) {
    if (othersInAll_ >= kMostOthers) {
      ++dropped_;
      return;
    }
    ++othersInAll_;
    others_[nameSpace].insert_or_assign(lease, std::move(seen));
    return;
  }
  Seen& counted = counted_[nameSpace];
  if (counted.size() >= kMost) std::erase_if(counted, [](const auto& entry) { return entry.second.forgotten; });
  if (counted.size() >= kMost) {
    ++dropped_;
    return;
  }
  counted.insert_or_assign(lease, std::move(seen));
}

bool ReplicaReports::remove(std::string_view nameSpace, std::string_view lease) {
  const bool counted = find(nameSpace, lease) != nullptr;
  for (SeenByNamespace* all : {&counted_, &others_}) {
    const auto inNamespace = all->find(nameSpace);
    if (inNamespace == all->end()) continue;
    const auto found = inNamespace->second.find(lease);
    if (found == inNamespace->second.end()) continue;
    if (all == &others_) --othersInAll_;
    inNamespace->second.erase(found);
    if (inNamespace->second.empty()) all->erase(inNamespace);
  }
  return counted;
}

std::vector<std::string> ReplicaReports::forget(base::MonotonicTime now) {
  std::vector<std::string> gone;
  for (auto& [nameSpace, seen] : counted_) {
    for (auto& [lease, each] : seen) {
      if (each.forgotten || !each.isGone(now)) continue;
      each.forgotten = true;
      gone.push_back(nameSpace + "/" + each.report.replica);
    }
  }
  for (auto& [nameSpace, seen] : others_) {
    othersInAll_ -= std::erase_if(seen, [&](const auto& entry) { return entry.second.isGone(now); });
  }
  std::erase_if(others_, [](const auto& entry) { return entry.second.empty(); });
  return gone;
}

FleetVerdict ReplicaReports::verdict(const FleetQuestion& question, base::MonotonicTime now) const {
  return aggregate(of(question.gateway), question, now);
}

base::MonotonicTime ReplicaReports::nextEnd() const {
  base::MonotonicTime next = base::MonotonicTime::max();
  for (const auto& [nameSpace, seen] : counted_) {
    for (const auto& [lease, each] : seen) {
      if (!each.forgotten) next = std::min(next, each.end());
    }
  }
  return next;
}

const SeenReport* ReplicaReports::at(std::string_view nameSpace, std::string_view lease) const {
  for (const SeenByNamespace* all : {&counted_, &others_}) {
    const auto inNamespace = all->find(nameSpace);
    if (inNamespace == all->end()) continue;
    const auto found = inNamespace->second.find(lease);
    if (found != inNamespace->second.end()) return &found->second;
  }
  return nullptr;
}

bool ReplicaReports::counts(std::string_view nameSpace, std::string_view lease) const {
  const auto inNamespace = counted_.find(nameSpace);
  return inNamespace != counted_.end() && inNamespace->second.contains(lease);
}

const ReplicaReport* ReplicaReports::find(std::string_view nameSpace, std::string_view lease) const {
  if (!counts(nameSpace, lease)) return nullptr;
  const SeenReport* seen = at(nameSpace, lease);
  return seen->forgotten ? nullptr : &seen->report;
}

std::vector<std::pair<std::string, std::string>> ReplicaReports::leases() const {
  std::vector<std::pair<std::string, std::string>> leases;
  for (const SeenByNamespace* all : {&counted_, &others_}) {
    for (const auto& [nameSpace, seen] : *all) {
      for (const auto& [lease, each] : seen) leases.emplace_back(nameSpace, lease);
    }
  }
  return leases;
}

std::vector<const SeenReport*> ReplicaReports::of(const std::string& gateway) const {
  std::vector<const SeenReport*> reports;
  const auto add = [&](const Seen& seen) {
    for (const auto& [lease, each] : seen) {
      const bool counts = gateway.empty() || reporters_.believes(each.report, gateway);
      if (!each.forgotten && counts) reports.push_back(&each);
    }
  };
  for (const std::string& nameSpace : std::set{reporters_.home, gateway.substr(0, gateway.find('/'))}) {
    const auto found = counted_.find(nameSpace);
    if (!gateway.empty() && found != counted_.end()) add(found->second);
  }
  if (gateway.empty()) {
    for (const auto& [nameSpace, seen] : counted_) add(seen);
  }
  return reports;
}

}  // namespace sluice::control
