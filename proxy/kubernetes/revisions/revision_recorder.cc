#include "proxy/kubernetes/revisions/revision_recorder.h"

#include <algorithm>
#include <utility>

#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

ApiObjectKey keyOfGateway(const std::string& gateway) {
  const std::size_t slash = gateway.find('/');
  return {gateway.substr(0, slash), gateway.substr(slash + 1)};
}

/// Returns the Gateway of that name, of either kind.
std::optional<RevisedGateway> findGateway(const ClusterObjects& objects, const ApiObjectKey& key) {
  for (const std::string_view kind : {config::Gateway::kKind, config::Gateway::kEgressKind}) {
    const FollowedCollection* collection = objects.collectionOf(kind, key);
    if (collection == nullptr) continue;
    return RevisedGateway{std::string(collection->kind().group) + "/" + std::string(collection->version()),
                          std::string(kind), key.first, key.second, collection->find(key)->uid};
  }
  return std::nullopt;
}

}  // namespace

RevisionRecorder::RevisionRecorder(ApiClient& client, const ClusterObjects& objects, const Names& names,
                                   RevisionRecorderUser& user)
    : client_(client),
      objects_(objects),
      gateway_(keyOfGateway(names.gateway)),
      replica_(names.replica),
      user_(user),
      watch_(client, gateway_.first, /*withData=*/true, *this),
      writer_(client, {.longestPause = kTryToCreateAgainAfter, .trouble = "an EgressRevision cannot be created"},
              *this) {}

void RevisionRecorder::want(WantedRevision wanted) {
  const bool isPinned =
      pinned_ != nullptr && wanted.objects != nullptr && wanted.objects->revision == pinned_->revision;
  const bool isOther =
      wanted_.objects == nullptr || wanted.objects == nullptr || wanted.objects->revision != wanted_.objects->revision;
  const bool wasServed = !wanted_.withCanary && !wanted_.isRefused;
  if (isOther && wasServed && (isPinned || wanted.withCanary || wanted.isRefused) && isMissing(wanted_)) {
    owed_ = wanted_;
  }
  wanted_ = std::move(wanted);
  createIfMissing();
  releaseIfDue();
}

bool RevisionRecorder::isMissing(const WantedRevision& wanted) const {
  return wanted.objects != nullptr && watch_.listed() && find(wanted.objects->revision) == nullptr;
}

bool RevisionRecorder::isUrgent() const {
  if (isMissing(owed_) || wanted_.withCanary || wanted_.isRefused) return true;
  const auto& all = watch_.revisions();
  return std::none_of(all.begin(), all.end(), [this](const auto& each) { return concerns(each.second); });
}

base::MonotonicTime RevisionRecorder::dueAt() const {
  const base::MonotonicTime now = client_.worker().now();
  return isUrgent() ? now : std::min(pace_.next(now), missingSince_.value_or(now) + kLongestDelay);
}

/// The pace is that of all replicas, so it counts the objects that the watch shows.
void RevisionRecorder::notePace() {
  std::set<std::string> exist;
  for (const auto& [key, each] : watch_.revisions()) {
    if (concerns(each)) exist.insert(each.name);
  }
  const bool isNew = !std::includes(existed_.begin(), existed_.end(), exist.begin(), exist.end());
  if (isNew && watch_.listed() && !existed_.empty()) pace_.take(client_.worker().now());
  existed_ = std::move(exist);
}

void RevisionRecorder::createIfMissing() {
  if (!isMissing(owed_)) owed_ = {};
  if (!isMissing(wanted_) && owed_.objects == nullptr) return missingSince_.reset();
  if (!missingSince_) missingSince_ = client_.worker().now();
  if (!packs_ && (writer_.size() == 0 || (isUrgent() && !dueSoon_))) schedule();
}

/// Replicas create at different times, so that most of them see the object of another one and need not try.
void RevisionRecorder::schedule() {
  constexpr std::uint64_t kParts = 1024;
  const base::Duration spread = kBeforeCreation * static_cast<base::Duration::rep>(client_.random() % kParts) / kParts;
  const base::MonotonicTime now = client_.worker().now();
  dueSoon_ = isUrgent();
  writer_.want(writeKey(), std::max(now + kBeforeCreation, dueAt()) + spread);
}

bool RevisionRecorder::mayServe(const std::string& revision) {
  const std::string held = isReleased(revision) ? std::string() : revision;
  if (std::exchange(held_, held) != held) cancel();
  releaseIfDue();
  return held_.empty();
}

bool RevisionRecorder::isReleased(const std::string& revision) const {
  // Without a readable or accepted EgressRevision, no canary is possible.
  if (watch_.isWithheld() || refused_ || revision == unasked_) return true;
  const EgressRevision* known = find(revision);
  if (known == nullptr) return false;
  if (known->canary == replica_) return true;
  const bool needsNone = known->canary.empty() && (!wanted_.withCanary || known->wasServed());
  return known->judged && (known->active || known->validated || needsNone);
}

bool RevisionRecorder::concerns(const EgressRevision& revision) const {
  if (revision.gateway != gateway_.second) return false;
  const auto gateway = findGateway(objects_, gateway_);
  return !gateway || gateway->kind == revision.gatewayKind;
}

const EgressRevision* RevisionRecorder::find(const std::string& revision) const {
  for (const auto& [key, each] : watch_.revisions()) {
    if (concerns(each) && each.revision == revision) return &each;
  }
  return nullptr;
}

/// If several revisions are active, the one that was created last is served.
void RevisionRecorder::onRevisions() {
  notePace();
  const EgressRevision* active = nullptr;
  for (const auto& [key, each] : watch_.revisions()) {
    if (!concerns(each) || !each.active) continue;
    if (active == nullptr || each.created >= active->created) active = &each;
  }
  const std::string now = pinned_ == nullptr ? "" : pinned_->revision;
  if (now != (active == nullptr ? "" : active->revision)) {
    pinned_ =
        active == nullptr
            ? nullptr
            : std::make_shared<const PinnedRevision>(PinnedRevision{active->name, active->revision, active->data});
    client_.log().info(pinned_ == nullptr ? "the newest objects are served again"
                                          : "an earlier revision is wanted in place of the newest objects",
                       {{"revision", pinned_ == nullptr ? now : pinned_->revision}});
    user_.onPin(pinned_);
  }
  tellEarlier();
  if (watch_.isSettled()) user_.onPinKnown();
  createIfMissing();
  releaseIfDue();
}

void RevisionRecorder::tellEarlier() {
  std::vector<const EgressRevision*> good;
  for (const auto& [key, each] : watch_.revisions()) {
    if (concerns(each) && each.isGood()) good.push_back(&each);
  }
  std::sort(good.begin(), good.end(), [](const auto* a, const auto* b) { return a->wasServedAfter(*b); });
  std::vector<EarlierRevision> now;
  for (const EgressRevision* each : good) now.push_back({each->nameSpace, each->name, each->revision});
  if (now == earlier_) return;
  earlier_ = now;
  user_.onEarlier(std::move(now));
}

void RevisionRecorder::releaseIfDue() {
  if (!held_.empty() && isReleased(held_)) {
    held_.clear();
    user_.onReleased();
  }
  if (held_.empty() || !hasNoCanary(held_)) return cancel();
  if (!isSet()) {
    client_.worker().timers().set(*this, client_.worker().now() + kTryToCreateAgainAfter);
  }
}

/// Returns true if the object of that name exists, and names no canary or belongs to another revision.
bool RevisionRecorder::hasNoCanary(const std::string& revision) const {
  const EgressRevision* known = find(revision);
  return known == nullptr ? revision == existing_ : known->canary.empty();
}

void RevisionRecorder::onTimer() {
  if (held_.empty() || !hasNoCanary(held_)) return;
  client_.log().warn(
      "a revision is served without a canary",
      {{"egressRevision", nameOfRevision(gateway_.second, held_)},
       {"reason", find(held_) == nullptr ? "the object of this name is not that of the revision" : "it names none"}});
  unasked_ = held_;
  releaseIfDue();
}

void RevisionRecorder::onRevisionDeleted(const EgressRevision& revision) {
  if (!concerns(revision)) return;
  if (revision.revision == existing_) existing_.clear();
  if (revision.revision == unasked_) unasked_.clear();
  user_.onForgotten(revision.revision);
  if (wanted_.objects == nullptr || wanted_.objects->revision != revision.revision || packs_ || writer_.isWriting()) {
    return;
  }
  // The controller deletes an object whose canary does not exist. If others create such objects, this one is created at
  // once, so as not to come too late; but only once, or a deletion and a creation could follow each other without end.
  const bool again = std::exchange(hurried_, revision.revision) == revision.revision;
  const bool isOurs = revision.canary.empty() || revision.canary == replica_;
  if (isOurs && !again) return;
  const base::Duration pause = again ? kTryToCreateAgainAfter : base::Duration::zero();
  writer_.clear();
  dueSoon_ = true;
  writer_.want(writeKey(), client_.worker().now() + pause);
}

/// What is recorded is chosen when it is due, and posted even if other objects have come since: or else objects that
/// change all the time would never be recorded.
std::optional<ApiRequest> RevisionRecorder::requestFor(const WriteKey& /*key*/) {
  if (packs_) return std::nullopt;
  const bool isDelayed = !std::exchange(dueSoon_, false) && dueAt() > client_.worker().now();
  if (!isMissing(recorded_)) {
    recorded_ = {};
    data_.reset();
    if (!isMissing(owed_) && !isMissing(wanted_)) return std::nullopt;
    if (isDelayed) {
      schedule();
      return std::nullopt;
    }
    recorded_ = isMissing(owed_) ? std::exchange(owed_, {}) : wanted_;
  }
  const auto gateway = findGateway(objects_, gateway_);
  if (!gateway) return std::nullopt;
  if (!data_) {
    packs_ = true;
    user_.onPack(recorded_.objects);
    return std::nullopt;
  }
  posted_ = recorded_.objects->revision;
  return createRequest(egressRevisionsPath(gateway_.first),
                       egressRevisionJson(*gateway, {.revision = posted_,
                                                     .canary = recorded_.withCanary ? replica_ : std::string(),
                                                     .data = *std::exchange(data_, std::nullopt)}));
}

void RevisionRecorder::packed(std::string data) {
  packs_ = false;
  data_ = std::move(data);
  dueSoon_ = true;
  writer_.want(writeKey());
}

void RevisionRecorder::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& /*answer*/) {
  const bool exists = outcome == WriteOutcome::kDone || outcome == WriteOutcome::kConflict;
  // A server that is busy or broken may take it later.
  refused_ = !exists && outcome != WriteOutcome::kBusy && outcome != WriteOutcome::kNoAnswer;
  recorded_ = {};
  if (exists) {
    missingSince_.reset();
    // The watch shows the object, whichever client has created it.
    existing_ = outcome == WriteOutcome::kDone ? std::string() : posted_;
    releaseIfDue();
    if (wanted_.objects != nullptr && wanted_.objects->revision != posted_) createIfMissing();
    return;
  }
  dueSoon_ = true;
  writer_.want(key, client_.worker().now() + kTryToCreateAgainAfter);
  releaseIfDue();
}

}  // namespace sluice::kubernetes
