#include "proxy/kubernetes/source/kubernetes_source.h"

#include <set>
#include <tuple>
#include <utility>

#include "config/load/revision.h"
#include "config/read/object_kinds.h"
#include "proxy/kubernetes/objects/reported_addresses.h"
#include "proxy/kubernetes/revisions/refreshed_objects.h"

namespace sluice::kubernetes {
namespace {

using ReadIdentity = std::tuple<std::string, std::string, std::string, std::string>;

ReadIdentity identityIn(const config::ObjectReading& reading) {
  const config::ObjectIdentity& identity = reading.identity;
  return {identity.group, identity.kind, identity.nameSpace, identity.name};
}

std::set<ReadIdentity> identitiesIn(const config::ObjectSet& set) {
  std::set<ReadIdentity> known;
  for (const auto& readings : set.readings) {
    for (const config::ObjectReading& each : *readings) known.insert(identityIn(each));
  }
  return known;
}

/// Appends the objects of `others` that `set` does not have.
void appendOthers(const config::ObjectSet& others, config::ObjectSet& set) {
  const std::set<ReadIdentity> known = identitiesIn(set);
  for (std::size_t i = 0; i < others.readings.size(); ++i) {
    auto kept = std::make_shared<std::vector<config::ObjectReading>>();
    for (const config::ObjectReading& each : *others.readings[i]) {
      if (each.identity.name.empty() || !known.contains(identityIn(each))) kept->push_back(each);
    }
    set.readings.push_back(kept->size() == others.readings[i]->size()
                               ? others.readings[i]
                               : std::shared_ptr<const std::vector<config::ObjectReading>>(std::move(kept)));
    set.texts.push_back(others.texts[i]);
  }
  set.problems.insert(set.problems.end(), others.problems.begin(), others.problems.end());
  set.unavailable = set.unavailable || others.unavailable;
  if (!others.refused.empty()) set.refused = others.refused;
}

/// An object that may not be read is treated like one that its schema refuses: objects that name it report the reason,
/// and its last good version, if there is one, stays in service.
std::shared_ptr<const std::vector<config::ObjectReading>> readingOf(const ClusterObjects::ForbiddenObject& object) {
  config::ObjectReading reading;
  reading.kind = config::findObjectKind("", object.kind);
  reading.identity = {"", "v1", std::string(object.kind), object.key.first, object.key.second};
  auto rejected = std::make_shared<config::Rejected>();
  rejected->kind = object.kind;
  rejected->nameSpace = object.key.first;
  rejected->name = object.key.second;
  rejected->message = "the API server does not let it be read: " + object.message;
  config::Problem problem;
  problem.object = std::string(object.kind) + " " + object.key.first + "/" + object.key.second;
  problem.message = rejected->message;
  reading.problems.push_back(std::move(problem));
  reading.rejected = std::move(rejected);
  return std::make_shared<const std::vector<config::ObjectReading>>(1, std::move(reading));
}

}  // namespace

KubernetesSource::KubernetesSource(ApiClient& client, net::Worker& main, ClusterScope scope,
                                   std::unique_ptr<control::Source> beside)
    : client_(client),
      main_(main),
      beside_(std::move(beside)),
      // Nothing is left out if statuses are written to all objects, or if files may refer to any object.
      narrows_(!scope.gateways.empty() && !scope.withStatus && beside_ == nullptr),
      objects_(client, std::move(scope)),
      earlier_(client, main) {
  objects_.addUser(*this);
}

void KubernetesSource::watch(control::Reloadable& reader) {
  reader_ = &reader;
  server_ = client_.url();
  if (beside_ != nullptr) beside_->watch(reader);
  objects_.start();
}

config::ObjectSet KubernetesSource::refreshed(const config::ObjectSet& served, const config::ObjectSet& newest) const {
  return refreshedObjects(served, newest);
}

// --- main thread -----------------------------------------------------------------------------------------------------

void KubernetesSource::onChanged() {
  const bool complete = isComplete();
  bool changed = objects_.takeChanged();
  {
    const std::lock_guard lock(mutex_);
    if (changed || shared_.texts.empty()) shared_.texts = objects_.texts();
    shared_.serial = serial_ += changed ? 1 : 0;
    shared_.forbidden = objects_.forbidden();
    shared_.gatewayApi = objects_.gatewayApi();
    if (objects_.knowsNeeds()) shared_.needed = objects_.needed();
    shared_.listed = objects_.listed();
    if (shared_.listed && shared_.addresses == nullptr) {
      shared_.addresses = std::make_shared<const config::ReportedAddresses>(reportedAddresses(objects_));
    }
    shared_.complete = complete;
    shared_.awaited = objects_.complete() && !complete ? "the list of kind EgressRevision" : objects_.awaited();
    if (complete && std::exchange(missed_, false)) changed = true;
  }
  news_.notify_one();
  changedSince_ = changedSince_ || changed;
  // An incomplete set would be refused; a reader that waits is notified when it is complete.
  if (complete && changedSince_) changedNow();
}

void KubernetesSource::pin(std::shared_ptr<const PinnedRevision> pinned) {
  pins_ = pinned != nullptr;
  {
    const std::lock_guard lock(mutex_);
    shared_.pinned = std::move(pinned);
    shared_.serial = ++serial_;
  }
  changedSince_ = true;
  if (isComplete()) changedNow();
}

bool KubernetesSource::isComplete() const { return objects_.complete() && (pinKnown_ || !revises_); }

void KubernetesSource::knowPin() {
  if (!std::exchange(pinKnown_, true)) onChanged();
}

std::shared_ptr<const RevisedObjects> KubernetesSource::revised(std::uint64_t serial) {
  const std::lock_guard lock(mutex_);
  return revised_.first == serial ? revised_.second : nullptr;
}

void KubernetesSource::changedNow() {
  if (isSet()) return;
  if (main_.now() >= lastChange_ + kBetweenChanges) return onTimer();
  main_.timers().set(*this, lastChange_ + kBetweenChanges);
}

void KubernetesSource::onTimer() {
  changedSince_ = false;
  lastChange_ = main_.now();
  reader_->reload();
}

void KubernetesSource::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  news_.notify_one();
  earlier_.close();
  if (beside_ != nullptr) beside_->close();
}

// --- loading thread --------------------------------------------------------------------------------------------------

// Each round reads the existing texts and reports the names in them. The names are known only when all kinds are
// listed, and named objects that have come may name further ones.
config::ObjectSet KubernetesSource::read(const base::Secret& key) {
  return readInPlaceOf(nullptr, key, main_.clock().now() + kLongestWait);
}

config::ObjectSet KubernetesSource::readEarlier(std::size_t which, const base::Secret& key) {
  const auto until = main_.clock().now() + kLongestWait;
  const auto fetched = earlier_.fetch(which, until);
  if (!fetched) {
    config::Problem problem;
    problem.message = fetched.error().detail;
    config::ObjectSet set;
    set.problems.push_back(std::move(problem));
    set.unavailable = true;
    set.refused = config::digestOfUnreadable({}, set.problems, key);
    return set;
  }
  return readInPlaceOf(*fetched, key, until);
}

/// Reads the newest objects, or if there is an `earlier` revision, its objects in their place.
config::ObjectSet KubernetesSource::readInPlaceOf(const std::shared_ptr<const PinnedRevision>& earlier,
                                                  const base::Secret& key, base::MonotonicTime until) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto listed = [this] { return closed_ || shared_.listed; };
    bool came = news_.wait_until(lock, until, listed) && shared_.listed;
    Told told = shared_;
    lock.unlock();
    if (earlier != nullptr) told.pinned = earlier;
    config::ObjectSet set = readTold(told, key);
    const NamedObjects names = namedObjects(set);
    if (came && told.complete && names == told.needed) {
      if (revises_ && earlier == nullptr && set.refused.empty()) keepRevised(set);
      return set;
    }
    if (came && names != told.needed) main_.post([this, names] { objects_.need(names); });
    lock.lock();
    const auto complete = [&] { return closed_ || (shared_.complete && shared_.needed == names); };
    came = came && news_.wait_until(lock, until, complete) && shared_.complete;
    if (!came || closed_) {
      missed_ = true;
      return unavailable(std::move(set), shared_.awaited, key);
    }
  }
}

config::ObjectSet KubernetesSource::readTold(const Told& told, const base::Secret& key) {
  if (told.pinned == nullptr && std::exchange(unpackedFrom_, nullptr) != nullptr) unpacked_ = config::KeptTexts();
  config::ObjectSet set =
      told.pinned == nullptr ? config::readTexts(told.texts, {}, key, texts_) : readPinned(told, key);
  // A pinned revision was narrowed when it was kept.
  if (narrows_ && told.pinned == nullptr) set = reached_.of(set);
  set.serial = told.serial;
  set.addresses = told.addresses;
  set.gatewayApi = told.gatewayApi;
  set.keeping = keeping_;
  if (beside_ != nullptr) appendOthers(beside_->read(key), set);
  if (told.forbidden.empty()) return set;
  const std::set<ReadIdentity> known = identitiesIn(set);
  for (const ClusterObjects::ForbiddenObject& each : told.forbidden) {
    auto readings = readingOf(each);
    if (known.contains(identityIn(readings->front()))) continue;  // the other source has it
    set.readings.push_back(std::move(readings));
    set.texts.push_back(std::make_shared<const config::KeptText>());
  }
  return set;
}

/// Returns the pinned texts. The error has the reason why they are not those of the revision.
base::Result<config::KeptTexts> KubernetesSource::pinnedTexts(const PinnedRevision& pinned, const base::Secret& key) {
  auto unpacked = unpackObjects(pinned);
  if (!unpacked) return unpacked;
  // Others may have written the EgressRevision, so its objects must have the digest that it claims.
  config::TextCache cache;
  const config::ObjectSet set = config::readTexts(*unpacked, {}, key, cache);
  for (std::size_t i = 0; i < set.texts.size(); ++i) {
    if (!isRevised(*set.texts[i], *set.readings[i])) return base::Error::config("has objects that no revision keeps");
  }
  if (revisionOfObjects(set) == pinned.revision) return unpacked;
  return base::Error::config("has another digest than spec.revision");
}

/// Reads the pinned objects together with the current texts of the kinds that no revision keeps.
config::ObjectSet KubernetesSource::readPinned(const Told& told, const base::Secret& key) {
  if (std::exchange(unpackedFrom_, told.pinned) != told.pinned) unpacked_ = pinnedTexts(*told.pinned, key);
  const base::Result<config::KeptTexts>& pinned = unpacked_;
  config::KeptTexts texts = pinned ? *pinned : config::KeptTexts();
  // texts_ would forget the texts of the pinned objects.
  const config::ObjectSet now = config::readTexts(told.texts, {}, key, textsOfNow_);
  for (std::size_t i = 0; i < now.texts.size(); ++i) {
    if (!isRevised(*now.texts[i], *now.readings[i])) texts.push_back(now.texts[i]);
  }
  config::ObjectSet set = config::readTexts(texts, {}, key, texts_);
  if (pinned) return set;
  config::Problem problem;
  problem.object = "EgressRevision " + told.pinned->name;
  problem.field = "spec.data";
  problem.message = pinned.error().detail;
  set.problems.insert(set.problems.begin(), std::move(problem));
  set.refused = config::digestOfUnreadable({}, set.problems, key);
  return set;
}

void KubernetesSource::keepRevised(const config::ObjectSet& set) {
  std::string revision = revisionOfObjects(set);
  std::shared_ptr<const RevisedObjects> last = revised_.second;  // only this thread changes it
  if (last == nullptr || last->revision != revision) {
    last = std::make_shared<const RevisedObjects>(RevisedObjects{std::move(revision), revisedTexts(set)});
  }
  const std::lock_guard lock(mutex_);
  revised_ = {set.serial, std::move(last)};
}

config::ObjectSet KubernetesSource::unavailable(config::ObjectSet set, const std::string& awaited,
                                                const base::Secret& key) const {
  config::Problem problem;
  problem.message = "the API server at " + server_ + " has not been read yet";
  if (!awaited.empty()) problem.message += ": " + awaited + " is missing";
  set.problems.insert(set.problems.begin(), std::move(problem));
  set.unavailable = true;
  set.refused = config::digestOfUnreadable({}, set.problems, key);
  return set;
}

}  // namespace sluice::kubernetes
