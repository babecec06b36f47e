#include "proxy/control/kubernetes/status/replica_watch.h"

#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/control/kubernetes/client/api_path.h"

namespace sluice::control {

ReplicaWatch::ReplicaWatch(ApiClient& client, std::function<void()> changed)
    : client_(client),
      changed_(std::move(changed)),
      follow_(
          client, *this,
          {.path = "/apis/coordination.k8s.io/v1/leases", .selector = "labelSelector=" + queryValue(kReplicaOfLabel)}) {
}

void ReplicaWatch::seeOwn(const ReplicaReport& report) {
  const auto lease = content::parseJson(replicaLease(report, client_.worker().clock().wallNow()));
  if (lease.ok()) see(*lease);
}

void ReplicaWatch::see(const content::Value& lease) {
  const base::MonotonicTime now = client_.worker().now();
  if (const base::Status seen = reports_.see(lease, now); !seen.ok()) {
    if (std::exchange(told_, seen.error().detail) != seen.error().detail) {
      client_.log().warn("the report of a replica cannot be read",
                         {{"lease", keyOf(lease).second}, {"reason", seen.error().detail}});
    }
    return;
  }
  const auto report = readReplicaReport(lease);
  if (!report.ok()) return;
  const auto known = known_.find(keyOf(lease));
  const bool isNews = known == known_.end() || !(known->second == *report);
  known_.insert_or_assign(keyOf(lease), *report);
  client_.worker().timers().set(*this, reports_.nextEnd());
  if (isNews) changed_();
}

void ReplicaWatch::remove(const ApiObjectKey& key) {
  reports_.remove(key.first, key.second);
  if (known_.erase(key) > 0) changed_();
}

void ReplicaWatch::onObject(ListWatch&, content::Value&& lease) {
  if (listed_) listed_->insert(keyOf(lease));
  see(lease);
}

void ReplicaWatch::onListed(ListWatch&) {
  std::vector<ApiObjectKey> gone;
  for (const auto& [key, report] : known_) {
    if (listed_ && !listed_->contains(key)) gone.push_back(key);
  }
  listed_.reset();
  for (const ApiObjectKey& key : gone) remove(key);
}

void ReplicaWatch::onDeleted(ListWatch&, const content::Value& lease) { remove(keyOf(lease)); }

void ReplicaWatch::onTrouble(ListWatch&, ListTrouble, const std::string& message) {
  if (std::exchange(told_, message) == message) return;
  client_.log().warn("the reports of replicas cannot be read", {{"reason", message}});
}

void ReplicaWatch::onTimer() {
  if (!reports_.forget(client_.worker().now()).empty()) changed_();
  if (const base::MonotonicTime next = reports_.nextEnd(); next != base::MonotonicTime::max()) {
    client_.worker().timers().set(*this, next);
  }
}

}  // namespace sluice::control
