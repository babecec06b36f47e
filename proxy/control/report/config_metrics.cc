#include "proxy/control/report/config_metrics.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "config/ground/problem.h"
#include "proxy/compile/processors/compile_processors.h"
#include "proxy/compile/served_objects.h"
#include "proxy/compile/status/use_conditions.h"
#include "proxy/control/report/certificate_watch.h"

namespace sluice::control {
namespace {

double secondsOf(base::WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

/// Decides which objects are counted.
class ScrapedObjects {
 public:
  ScrapedObjects(const compile::CompileResult& compiled, CountedObjects which) {
    if (which == CountedObjects::kAll) return;
    served_.emplace(compiled);
    for (const config::ObjectStatus& each : compiled.statuses) {
      config::ObjectMeta meta;
      meta.kind = each.kind;
      meta.nameSpace = each.nameSpace;
      meta.name = each.name;
      const bool isServed = served_->has(each);
      bool& anyIsServed = byTitle_[meta.title()];
      anyIsServed = anyIsServed || isServed;
      if (isServed) names_.insert(compile::objectName({each.group, each.kind, each.nameSpace}, each.name));
    }
  }

  bool has(const config::ObjectStatus& object) const { return !served_ || served_->has(object); }
  /// Also returns true for a problem without an object, and for the problem of an object without a status in the
  /// namespace of a served one.
  bool has(const config::Problem& problem) const {
    if (!served_) return true;
    if (const auto known = byTitle_.find(problem.object); known != byTitle_.end()) return known->second;
    const std::string_view nameSpace = config::namespaceOf(problem);
    return nameSpace.empty() || served_->hasNamespace(std::string(nameSpace));
  }
  bool has(const compile::AskedServer& server) const { return !served_ || names_.contains(server.writtenIn); }

 private:
  std::optional<compile::ServedObjects> served_;  // none: all are counted
  /// Records by the titles of objects with a status whether they are served. Objects of several groups may share a
  /// title.
  std::map<std::string, bool> byTitle_;
  std::set<std::string> names_;  // objectName() of the served ones
};

/// Counts each object once for each of its conditions and their statuses.
class ConditionCounts {
 public:
  ConditionCounts(const config::StatusList& statuses, const ScrapedObjects& counted) {
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

std::uint64_t countProblems(const config::Problems& problems, const ScrapedObjects& counted) {
  return static_cast<std::uint64_t>(
      std::count_if(problems.begin(), problems.end(), [&](const config::Problem& each) { return counted.has(each); }));
}

void writeServers(observe::Exposition& page, const std::vector<compile::AskedServer>& servers,
                  const ScrapedObjects& counted) {
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
  const auto& [revision, lastGood, problems, objects, servers, expiry] = kConfigFamilies;
  const compile::CompileResult nothing;
  const compile::CompileResult& compiled = configuration != nullptr ? configuration->compiled : nothing;
  const ScrapedObjects known(compiled, counted);
  observe::Exposition page(out);
  page.begin(revision);
  page.add({revisions.desired, revisions.published, revisions.served}, std::uint64_t{1});
  page.begin(lastGood);
  page.add({}, secondsOf(revisions.lastGood));
  page.begin(problems);
  page.add({}, countProblems(*revisions.problems, known));
  page.begin(objects);
  ConditionCounts(compiled.statuses, known).write(page);
  page.begin(servers);
  if (configuration != nullptr) writeServers(page, compiled.servers, known);
  page.begin(expiry);
  if (compiled.snapshot != nullptr) writeExpiries(page, *compiled.snapshot);
}

}  // namespace sluice::control
