#include "proxy/control/report/config_metrics.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "config/ground/problem.h"
#include "proxy/compile/status/use_conditions.h"
#include "proxy/control/report/certificate_watch.h"
#include "proxy/control/report/faulty_objects.h"

namespace sluice::control {
namespace {

double secondsOf(base::WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

/// Counts each object once for each of its conditions and their statuses.
class ConditionCounts {
 public:
  ConditionCounts(const config::StatusList& statuses, const ObjectCounting& counted) {
    for (const config::ObjectStatus& object : statuses) {
      if (!counted.has(object)) continue;
      std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
      for (const auto& [part, conditions] : config::conditionsOf(object)) {
        for (const config::Condition& each : *conditions) {
          // Users name their uses, and those that run are counted by the state of their servers.
          const bool runs =
              each.type.starts_with(compile::kUseConditionPrefix) && each.status == config::ConditionStatus::kTrue;
          if (runs) continue;
          seen.emplace(object.kind, each.type, config::conditionStatusName(each.status));
        }
      }
      for (const auto& key : seen) ++counts_[key];
    }
  }
  void write(observe::Exposition& page) const {
    for (const auto& [key, count] : counts_) {
      const auto& [kind, condition, status] = key;
      page.add({kind, condition, status}, count);
    }
  }

 private:
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::uint64_t> counts_;
};

std::uint64_t countProblems(const config::Problems& problems, const ObjectCounting& counted) {
  return static_cast<std::uint64_t>(
      std::count_if(problems.begin(), problems.end(), [&](const config::Problem& each) { return counted.has(each); }));
}

/// Counts the objects with faults by their kinds. Each kind of object that is there has a count, so that the end of its
/// faults shows too.
std::map<std::string_view, std::uint64_t> countFaulty(const CompiledConfiguration& configuration,
                                                      const config::Problems& problems, const ObjectCounting& counted) {
  std::map<std::string_view, std::uint64_t> byKind;
  for (const config::ObjectStatus& object : configuration.compiled.statuses) {
    if (counted.has(object)) byKind.emplace(object.kind, 0);
  }
  for (const FaultyObject& each : faultyObjects(configuration, problems, counted)) ++byKind[each.kind];
  return byKind;
}

void writeServers(observe::Exposition& page, const std::vector<compile::AskedServer>& servers,
                  const ObjectCounting& counted) {
  using processing::ServerReach;
  for (const ServerReach reach : {ServerReach::kPending, ServerReach::kActive, ServerReach::kDegraded}) {
    const auto ofState = [&](const compile::AskedServer& each) {
      return each.state.reach == reach && counted.has(each);
    };
    page.add({processing::reachName(reach)},
             static_cast<std::uint64_t>(std::count_if(servers.begin(), servers.end(), ofState)));
  }
}

void writeExpiries(observe::Exposition& page, const routing::Snapshot& snapshot) {
  std::map<std::string, base::WallTime> first;
  const auto take = [&first](const std::string& object, base::WallTime end) {
    const auto known = first.emplace(object, end).first;
    known->second = std::min(known->second, end);
  };
  for (const routing::Bind& bind : snapshot.binds) {
    for (const routing::ListenerIdentity& each : bind.identities) take(bindName(bind), each.certificate->notAfter());
  }
  for (const auto& backend : snapshot.backends) {
    if (!backend->tls || backend->tls->clientCertificate == nullptr) continue;
    take("Backend " + backend->name, backend->tls->clientCertificate->notAfter());
  }
  for (const auto& [object, end] : first) page.add({object}, secondsOf(end));
}

}  // namespace

void appendConfigMetrics(std::string& out, const CompiledConfiguration* configuration, const Revisions& revisions,
                         CountedObjects counted) {
  const auto& [revision, lastGood, problems, objects, degraded, faulty, servers, expiry] = kConfigFamilies;
  static const CompiledConfiguration kNone;
  const CompiledConfiguration& known = configuration != nullptr ? *configuration : kNone;
  const compile::CompileResult& compiled = known.compiled;
  const ObjectCounting counting(compiled, counted);
  observe::Exposition page(out);
  page.begin(revision);
  page.add({revisions.desired, revisions.published, revisions.served}, std::uint64_t{1});
  page.begin(lastGood);
  page.add({}, secondsOf(revisions.lastGood));
  page.begin(problems);
  page.add({}, countProblems(*revisions.problems, counting));
  page.begin(objects);
  ConditionCounts(compiled.statuses, counting).write(page);
  const std::map<std::string_view, std::uint64_t> faults = countFaulty(known, problemsNow(known, revisions), counting);
  page.begin(degraded);
  const bool any = std::any_of(faults.begin(), faults.end(), [](const auto& each) { return each.second > 0; });
  page.add({}, std::uint64_t{any});
  page.begin(faulty);
  for (const auto& [kind, count] : faults) page.add({kind}, count);
  page.begin(servers);
  if (configuration != nullptr) writeServers(page, compiled.servers, counting);
  page.begin(expiry);
  if (compiled.snapshot != nullptr) writeExpiries(page, *compiled.snapshot);
}

}  // namespace sluice::control
