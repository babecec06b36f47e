#include "proxy/control/kubernetes/lease/replica_reports.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "proxy/control/kubernetes/client/api_forms.h"

namespace sluice::control {

void ReplicaReports::believe(Reporters reporters) {
  if (reporters == reporters_) return;
  reporters_ = std::move(reporters);
  countedInAll_ = 0;
  for (auto& [nameSpace, seen] : std::exchange(counted_, {})) {
    for (auto& [lease, each] : seen) put(lease, std::move(each));
  }
}

base::Status ReplicaReports::see(const content::Value& lease, base::MonotonicTime now) {
  const content::Value* metadata = valueIn(&lease, "metadata");
  const std::string nameSpace(textIn(metadata, "namespace"));
  if (!hears(nameSpace)) return base::Done{};
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
  if (!reporters_.believes(seen.report)) return;
  Seen& counted = counted_[seen.report.nameSpace];
  if (counted.size() >= kMost) {
    countedInAll_ -= std::erase_if(counted, [](const auto& entry) { return entry.second.forgotten; });
  }
  if (counted.size() >= kMost || !makeRoom(counted.size())) {
    ++dropped_;
    return;
  }
  if (counted.insert_or_assign(lease, std::move(seen)).second) ++countedInAll_;
}

/// Makes room for one more report of a namespace that has `own`: another one loses one if it has more then all the
/// same. Returns false if none does.
bool ReplicaReports::makeRoom(std::size_t own) {
  if (countedInAll_ < kMostInAll) return true;
  const auto most = std::max_element(counted_.begin(), counted_.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  Seen& seen = most->second;
  if (seen.size() < own + 2) return false;
  const auto forgotten =
      std::find_if(seen.begin(), seen.end(), [](const auto& entry) { return entry.second.forgotten; });
  seen.erase(forgotten != seen.end() ? forgotten : std::prev(seen.end()));
  --countedInAll_;
  ++dropped_;
  return true;
}

bool ReplicaReports::remove(std::string_view nameSpace, std::string_view lease) {
  const bool counted = find(nameSpace, lease) != nullptr;
  const auto inNamespace = counted_.find(nameSpace);
  if (inNamespace == counted_.end()) return false;
  const auto found = inNamespace->second.find(lease);
  if (found == inNamespace->second.end()) return false;
  inNamespace->second.erase(found);
  --countedInAll_;
  if (inNamespace->second.empty()) counted_.erase(inNamespace);
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
  const auto inNamespace = counted_.find(nameSpace);
  if (inNamespace == counted_.end()) return nullptr;
  const auto found = inNamespace->second.find(lease);
  return found == inNamespace->second.end() ? nullptr : &found->second;
}

bool ReplicaReports::counts(std::string_view nameSpace, std::string_view lease) const {
  return at(nameSpace, lease) != nullptr;
}

const ReplicaReport* ReplicaReports::find(std::string_view nameSpace, std::string_view lease) const {
  const SeenReport* seen = at(nameSpace, lease);
  return seen == nullptr || seen->forgotten ? nullptr : &seen->report;
}

std::vector<std::pair<std::string, std::string>> ReplicaReports::leases() const {
  std::vector<std::pair<std::string, std::string>> leases;
  for (const auto& [nameSpace, seen] : counted_) {
    for (const auto& [lease, each] : seen) leases.emplace_back(nameSpace, lease);
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
