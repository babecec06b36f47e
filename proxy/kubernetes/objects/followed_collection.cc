#include "proxy/kubernetes/objects/followed_collection.h"

#include <charconv>
#include <utility>

#include "proxy/kubernetes/client/api_path.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

std::uint64_t versionNumber(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::uint64_t FollowedCollection::seen() const {
  return follow_ == nullptr ? 0 : versionNumber(follow_->resourceVersion());
}

FollowedCollection::FollowedCollection(ApiClient& client, CollectionOwner& owner, const config::ObjectKind& kind,
                                       Scope scope)
    : client_(client), owner_(owner), kind_(kind), scope_(std::move(scope)) {}

void FollowedCollection::start() { follow(); }

void FollowedCollection::follow() {
  ApiCollection collection{collectionPath(kind_, version(), scope_.nameSpace)};
  if (!scope_.name.empty())
    collection.selector = "fieldSelector=" + processing::encodeQuery("metadata.name=" + scope_.name);
  follow_ = std::make_unique<ListWatch>(client_, static_cast<ListWatchUser&>(*this), std::move(collection));
  follow_->list();
}

void FollowedCollection::settle() {
  if (!std::exchange(lacksVersion_, false)) return;
  if (version_ + 1 < kind_.versions.size()) {
    ++version_;
    return follow();
  }
  version_ = 0;
  if (state_ == State::kFollowed && owner_.isInstalled(kind_)) {
    doubtsAbsence_ = true;
    trouble_ = "the API server does not find kind " + std::string(kind_.kind) + ", which is installed";
    listing_ = false;
    return tell();
  }
  trouble_.clear();
  doubtsAbsence_ = false;
  const bool had = !objects_.empty();
  objects_.clear();
  changed_ = changed_ || had;
  state_ = State::kAbsent;
  listing_ = false;
  tell();
}

void FollowedCollection::retry() {
  if (state_ != State::kAbsent && !doubtsAbsence_) return;
  version_ = 0;
  lacksVersion_ = false;
  follow();
}

void FollowedCollection::listAgain() {
  if (state_ == State::kAbsent || doubtsAbsence_) return retry();
  if (state_ == State::kForbidden) return;  // the next attempt lists
  listing_ = true;
  follow_->list();
}

void FollowedCollection::prune(const std::function<bool(const ApiObjectKey& key, const ApiObject& object)>& wanted) {
  const std::size_t gone = std::erase_if(objects_, [&](const auto& each) { return !wanted(each.first, each.second); });
  changed_ = changed_ || gone > 0;
}

const ApiObject* FollowedCollection::find(const ApiObjectKey& key) const {
  const auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : &found->second;
}

void FollowedCollection::take(content::Value&& object, std::set<ApiObjectKey>* listed) {
  const ApiObjectKey key = keyOf(object);
  if (fetches_ > 0) shown_.insert(key);
  if (!owner_.wants(kind_, object)) return remove(key);
  if (listed) listed->insert(key);
  ApiObject made = makeApiObject(kind_, version(), std::move(object), scope_.withStatus);
  if (scope_.withStatus) touched_.push_back(key);
  ApiObject& kept = objects_[key];
  const bool same = kept.text != nullptr && kept.text->text.reveal() == made.text->text.reveal();
  if (same) made.text = kept.text;
  made.changedAt = same ? kept.changedAt : versionNumber(made.resourceVersion);
  changed_ = changed_ || !same;
  kept = std::move(made);
}

void FollowedCollection::remove(const ApiObjectKey& key) {
  if (fetches_ > 0) shown_.insert(key);
  if (objects_.erase(key) > 0) changed_ = true;
}

void FollowedCollection::endFetch() {
  if (--fetches_ == 0) shown_.clear();
}

void FollowedCollection::put(content::Value&& object) {
  if (shown_.contains(keyOf(object))) return;
  take(std::move(object), nullptr);
  tell();
}

// --- answers of the server -------------------------------------------------------------------------------------------

void FollowedCollection::onListing(ListWatch& /*from*/) { listed_.emplace(); }

void FollowedCollection::onObject(ListWatch& /*from*/, content::Value&& object) {
  take(std::move(object), listed_ ? &*listed_ : nullptr);
  tell();
}

void FollowedCollection::onListed(ListWatch& /*from*/) {
  std::erase_if(objects_, [this](const auto& each) {
    const bool gone = listed_ && !listed_->contains(each.first);
    changed_ = changed_ || gone;
    return gone;
  });
  listed_.reset();
  changed_ = changed_ || state_ == State::kForbidden;
  state_ = State::kFollowed;
  doubtsAbsence_ = false;
  listing_ = false;
  trouble_.clear();
  tell();
}

void FollowedCollection::onDeleted(ListWatch& /*from*/, const content::Value& object) {
  if (listed_) listed_->erase(keyOf(object));
  remove(keyOf(object));
  tell();
}

void FollowedCollection::onTrouble(ListWatch& /*from*/, ListTrouble trouble, const std::string& message) {
  switch (trouble) {
    case ListTrouble::kAbsent:
      lacksVersion_ = true;
      break;
    case ListTrouble::kForbidden:
      trouble_ = message;
      if (state_ != State::kFollowed && std::exchange(state_, State::kForbidden) != State::kForbidden) changed_ = true;
      listing_ = false;
      break;
    case ListTrouble::kUnavailable:
      trouble_ = message;
      break;
  }
  tell();
}

void FollowedCollection::onRecovered(ListWatch& /*from*/) {
  if (!doubtsAbsence_) trouble_.clear();
  tell();
}

}  // namespace sluice::kubernetes
