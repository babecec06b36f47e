#include "proxy/kubernetes/status/replica_watch.h"

#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {

ReplicaWatch::ReplicaWatch(ApiClient& client, ReplicaWatchUser& user)
    : client_(client),
      user_(user),
      follow_(client, *this,
              {.path = "/apis/coordination.k8s.io/v1/leases",
               .selector = "labelSelector=" + processing::encodeQuery(kReplicaOfLabel)}) {}

void ReplicaWatch::trust(Reporters reporters) {
  reports_.trust(std::move(reporters));
  if (!std::exchange(started_, true)) follow_.list();
  wake();
}

void ReplicaWatch::seeOwn(const ReplicaReport& report) {
  const auto lease = content::parseJson(replicaLease(report, client_.worker().clock().wallNow()));
  if (!lease.ok()) return;
  own_ = keyOf(*lease);
  see(*lease);
}

void ReplicaWatch::see(const content::Value& lease) {
  const ApiObjectKey key = keyOf(lease);
  const ReplicaReport* known = reports_.find(key.first, key.second);
  const std::optional<ReplicaReport> before = known == nullptr ? std::nullopt : std::optional(*known);
  const std::size_t dropped = reports_.dropped();
  if (const base::Status seen = reports_.see(lease, client_.worker().now()); !seen.ok()) {
    return tellUnread(key, seen.error().detail);
  }
  const bool drops = reports_.dropped() != dropped;
  drops ? tellDropped(key) : tellIfIgnored(key);
  wake();
  // A renewal alone changes nothing, but another report may have been dropped for this one.
  const ReplicaReport* report = reports_.find(key.first, key.second);
  if (drops || (report == nullptr ? before.has_value() : before != *report)) user_.onReports();
}

void ReplicaWatch::tellUnread(const ApiObjectKey& key, const std::string& reason) {
  if (!reports_.mayTrust(key.first)) return;  // its reports would not be trusted
  if (unread_.size() >= kMostTold || !unread_.insert(key.first).second) return;
  client_.log().warn("the report of a replica cannot be read",
                     {{"lease", key.first + "/" + key.second}, {"reason", reason}});
}

void ReplicaWatch::tellDropped(const ApiObjectKey& key) {
  if (std::exchange(toldDropped_, true)) return;
  client_.log().warn("there are too many reports of replicas, so some are dropped",
                     {{"lease", key.first + "/" + key.second},
                      {"mostOfNamespace", ReplicaReports::kMost},
                      {"most", ReplicaReports::kMostInAll},
                      {"mostBytes", ReplicaReports::kMostBytesInAll}});
}

void ReplicaWatch::tellIfIgnored(const ApiObjectKey& key) {
  if (reports_.counts(key.first, key.second) || ignored_.size() >= kMostTold) return;
  if (!ignored_.insert(key.first).second) return;
  client_.log().info("reports of replicas in a namespace are ignored, because they are not for a Gateway there",
                     {{"namespace", key.first}, {"lease", key.second}});
}

void ReplicaWatch::remove(const ApiObjectKey& key) {
  if (reports_.remove(key.first, key.second)) user_.onReports();
}

void ReplicaWatch::wake() {
  const base::MonotonicTime next = reports_.nextEnd();
  if (next != base::MonotonicTime::max()) client_.worker().timers().set(*this, next);
}

void ReplicaWatch::onObject(ListWatch&, content::Value&& lease) {
  if (listed_) listed_->insert(keyOf(lease));
  see(lease);
}

void ReplicaWatch::onListed(ListWatch&) {
  const std::optional<std::set<ApiObjectKey>> listed = std::exchange(listed_, std::nullopt);
  if (!listed) return;
  for (const ApiObjectKey& key : reports_.leases()) {
    if (!listed->contains(key) && key != own_) remove(key);
  }
}

void ReplicaWatch::onDeleted(ListWatch&, const content::Value& lease) { remove(keyOf(lease)); }

void ReplicaWatch::onTrouble(ListWatch&, ListTrouble, const std::string& message) {
  if (std::exchange(told_, message) == message) return;
  client_.log().warn("the reports of replicas cannot be read", {{"reason", message}});
}

void ReplicaWatch::onTimer() {
  if (!reports_.forget(client_.worker().now()).empty()) user_.onReports();
  wake();
}

}  // namespace sluice::kubernetes
