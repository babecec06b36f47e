#include "proxy/control/config_metrics.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "proxy/control/certificate_watch.h"
#include "proxy/control/compile/status/served_objects.h"
#include "proxy/control/compile/status/use_conditions.h"

namespace sluice::control {
namespace {

double secondsOf(base::WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

/// Counts each object once for each of its conditions and their statuses.
class ConditionCounts {
 public:
  ConditionCounts(const CompiledConfiguration& configuration, CountedObjects counted) {
    const ServedObjects served(configuration.compiled);
    for (const config::ObjectStatus& object : configuration.compiled.statuses) {
      if (counted == CountedObjects::kServed && !served.has(object)) continue;
      std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
      for (const auto& [part, conditions] : config::conditionsOf(object)) {
        for (const config::Condition& each : *conditions) {
          // Users name their uses, and those that run are counted by the state of their servers.
          const bool runs = each.type.starts_with(kUseConditionPrefix) && each.status == config::ConditionStatus::kTrue;
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

void writeServers(observe::Exposition& page, const std::vector<AskedServer>& servers) {
  using processing::ServerReach;
  for (const ServerReach reach : {ServerReach::kPending, ServerReach::kActive, ServerReach::kDegraded}) {
    const auto ofState = [&](const AskedServer& each) { return each.state.reach == reach; };
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
  observe::Exposition page(out);
  page.begin(revision);
  page.add({revisions.desired, revisions.published, revisions.served}, std::uint64_t{1});
  page.begin(lastGood);
  page.add({}, secondsOf(revisions.lastGood));
  page.begin(problems);
  page.add({}, std::uint64_t{revisions.problems->size()});
  page.begin(objects);
  if (configuration != nullptr) ConditionCounts(*configuration, counted).write(page);
  page.begin(servers);
  if (configuration != nullptr) writeServers(page, configuration->compiled.servers);
  page.begin(expiry);
  if (configuration != nullptr && configuration->compiled.snapshot != nullptr) {
    writeExpiries(page, *configuration->compiled.snapshot);
  }
}

}  // namespace sluice::control
