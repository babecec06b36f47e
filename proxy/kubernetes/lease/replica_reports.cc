#include "proxy/kubernetes/lease/replica_reports.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {

void ReplicaReports::trust(Reporters reporters) {
  if (reporters == reporters_) return;
  ++version_;
  reporters_ = std::move(reporters);
  countedInAll_ = 0;
  bytesInAll_ = 0;
  for (auto& [nameSpace, seen] : std::exchange(counted_, {})) {
    for (auto& [lease, each] : seen.reports) put(lease, std::move(each));
  }
}

base::Status ReplicaReports::see(const content::Value& lease, base::MonotonicTime now) {
  const content::Value* metadata = valueIn(&lease, "metadata");
  const std::string nameSpace(textIn(metadata, "namespace"));
  if (!mayTrust(nameSpace)) return base::Done{};
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
  if (!reporters_.trusts(seen.report)) return;
  const std::string nameSpace = seen.report.nameSpace;
  const std::size_t bytes = seen.report.bytes();
  SeenOfNamespace& own = counted_[nameSpace];
  for (auto each = own.reports.begin(); own.reports.size() >= kMost && each != own.reports.end();) {
    const auto next = std::next(each);
    if (each->second.forgotten) take(own, each);
    each = next;
  }
  if (own.reports.size() >= kMost || !makeRoom(own, bytes)) {
    ++dropped_;
    if (own.reports.empty()) counted_.erase(nameSpace);
    return;
  }
  ++version_;
  own.reports.insert_or_assign(lease, std::move(seen));
  own.bytes += bytes;
  bytesInAll_ += bytes;
  ++countedInAll_;
}

/// Makes room for one more report of a namespace that has `own` reports. The namespace with most reports loses some, if
/// it would still have more than this one. Returns false if there is none.
bool ReplicaReports::makeRoom(const SeenOfNamespace& own, std::size_t bytes) {
  const auto largest = [this](auto&& sizeOf) -> SeenOfNamespace& {
    return std::max_element(counted_.begin(), counted_.end(),
                            [&](const auto& a, const auto& b) { return sizeOf(a.second) < sizeOf(b.second); })
        ->second;
  };
  if (countedInAll_ >= kMostInAll) {
    SeenOfNamespace& most = largest([](const SeenOfNamespace& each) { return each.reports.size(); });
    if (most.reports.size() < own.reports.size() + 2) return false;
    evict(most);
  }
  while (bytesInAll_ + bytes > kMostBytesInAll) {
    SeenOfNamespace& most = largest([](const SeenOfNamespace& each) { return each.bytes; });
    if (&most == &own || most.bytes <= own.bytes + bytes) return false;
    evict(most);
  }
  return true;
}

/// Drops a report, if possible of a replica that is forgotten.
void ReplicaReports::evict(SeenOfNamespace& from) {
  const auto forgotten =
      std::find_if(from.reports.begin(), from.reports.end(), [](const auto& entry) { return entry.second.forgotten; });
  take(from, forgotten != from.reports.end() ? forgotten : std::prev(from.reports.end()));
  ++dropped_;
}

void ReplicaReports::take(SeenOfNamespace& from, Seen::iterator report) {
  ++version_;
  const std::size_t bytes = report->second.report.bytes();
  from.bytes -= bytes;
  bytesInAll_ -= bytes;
  --countedInAll_;
  from.reports.erase(report);
}

bool ReplicaReports::remove(std::string_view nameSpace, std::string_view lease) {
  const bool counted = find(nameSpace, lease) != nullptr;
  const auto inNamespace = counted_.find(nameSpace);
  if (inNamespace == counted_.end()) return false;
  SeenOfNamespace& seen = inNamespace->second;
  const auto found = seen.reports.find(lease);
  if (found == seen.reports.end()) return false;
  take(seen, found);
  if (seen.reports.empty()) counted_.erase(inNamespace);
  return counted;
}

std::vector<std::string> ReplicaReports::forget(base::MonotonicTime now) {
  std::vector<std::string> gone;
  for (auto& [nameSpace, seen] : counted_) {
    for (auto& [lease, each] : seen.reports) {
      if (each.forgotten || !each.isGone(now)) continue;
      each.forgotten = true;
      ++version_;
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
    for (const auto& [lease, each] : seen.reports) {
      if (!each.forgotten) next = std::min(next, each.end());
    }
  }
  return next;
}

const SeenReport* ReplicaReports::at(std::string_view nameSpace, std::string_view lease) const {
  const auto inNamespace = counted_.find(nameSpace);
  if (inNamespace == counted_.end()) return nullptr;
  const Seen& seen = inNamespace->second.reports;
  const auto found = seen.find(lease);
  return found == seen.end() ? nullptr : &found->second;
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
    for (const auto& [lease, each] : seen.reports) leases.emplace_back(nameSpace, lease);
  }
  return leases;
}

std::vector<const SeenReport*> ReplicaReports::of(const std::string& gateway) const {
  std::vector<const SeenReport*> reports;
  const auto add = [&](const Seen& seen) {
    for (const auto& [lease, each] : seen) {
      const bool counts = gateway.empty() || reporters_.trusts(each.report, gateway);
      if (!each.forgotten && counts) reports.push_back(&each);
    }
  };
  if (gateway.empty()) {
    for (const auto& [nameSpace, seen] : counted_) add(seen.reports);
    return reports;
  }
  const std::string_view own = std::string_view(gateway).substr(0, gateway.find('/'));
  if (const auto found = counted_.find(own); found != counted_.end()) add(found->second.reports);
  if (own == reporters_.home) return reports;
  if (const auto found = counted_.find(reporters_.home); found != counted_.end()) add(found->second.reports);
  return reports;
}

}  // namespace sluice::kubernetes
