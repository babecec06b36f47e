#include "proxy/kubernetes/revisions/revision_watch.h"

#include <utility>
#include <vector>

namespace sluice::kubernetes {

RevisionWatch::RevisionWatch(ApiClient& client, const std::string& nameSpace, bool withData, RevisionWatchUser& user)
    : client_(client),
      withData_(withData),
      user_(user),
      follow_(client, *this, {.path = egressRevisionsPath(nameSpace)}) {}

void RevisionWatch::onObject(ListWatch&, content::Value&& object) {
  if (listing_) listing_->insert(keyOf(object));
  auto read = readEgressRevision(object, withData_);
  if (!read) {
    // Pods that may create objects must not fill the log with them.
    if (unread_.size() >= kMostTold || !unread_.insert(keyOf(object).first).second) return;
    client_.log().warn("an EgressRevision cannot be read",
                       {{"object", keyOf(object).first + "/" + keyOf(object).second}, {"reason", read.error().detail}});
    return;
  }
  const ApiObjectKey key = read->key();
  const auto known = revisions_.find(key);
  if (known != revisions_.end() && known->second.uid != read->uid) remove(key);
  revisions_.insert_or_assign(key, *std::move(read));
  user_.onRevisions();
}

void RevisionWatch::onListed(ListWatch&) {
  const std::optional<std::set<ApiObjectKey>> listed = std::exchange(listing_, std::nullopt);
  listedOnce_ = true;
  withheld_ = false;
  std::vector<ApiObjectKey> gone;
  for (const auto& [key, revision] : revisions_) {
    if (listed && !listed->contains(key)) gone.push_back(key);
  }
  for (const ApiObjectKey& key : gone) remove(key);
  user_.onRevisions();
}

void RevisionWatch::remove(const ApiObjectKey& key) {
  const auto removed = revisions_.extract(key);
  if (removed.empty()) return;
  user_.onRevisionDeleted(removed.mapped());
  user_.onRevisions();
}

void RevisionWatch::onTrouble(ListWatch&, ListTrouble trouble, const std::string& message) {
  withheld_ = trouble != ListTrouble::kUnavailable;
  troubled_ = true;
  user_.onRevisions();
  if (trouble == ListTrouble::kAbsent) {
    client_.worker().timers().set(*this, client_.worker().now() + kLookForKindAgainAfter);
    return;
  }
  // The collections of the configuration report whether the server answers at all.
  if (trouble != ListTrouble::kForbidden || std::exchange(told_, message) == message) return;
  client_.log().warn("EgressRevisions cannot be watched", {{"reason", message}});
}

}  // namespace sluice::kubernetes
