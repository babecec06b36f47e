#include "proxy/kubernetes/revisions/revision_keeper.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

#include "proxy/kubernetes/revisions/standby_revisions.h"
#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

constexpr int kRevisionGone = 404;
constexpr std::string_view kRevisionActive = "RevisionActive";

std::string activeMessage(const EgressRevision& revision) {
  return "EgressRevision " + revision.name +
         " is served in place of the newest objects, until its spec.active is false";
}

bool isSameStatus(const EgressRevision& a, const EgressRevision& b) {
  return a.judged == b.judged && a.state == b.state && a.served == b.served && a.lastServed == b.lastServed &&
         a.message == b.message && a.validated == b.validated && a.sync == b.sync && a.rollback == b.rollback;
}

/// A replica's time changes only with its state.
bool isSameReplica(const RevisedReplica& a, const RevisedReplica& b) {
  return a.name == b.name && a.state == b.state && a.reason == b.reason;
}

/// Compares the lists, which an older CustomResourceDefinition drops.
bool hasSameLists(const EgressRevision& a, const EgressRevision& b) {
  return a.secrets == b.secrets &&
         std::equal(a.replicas.begin(), a.replicas.end(), b.replicas.begin(), b.replicas.end(), isSameReplica);
}

}  // namespace

// After a refusal the round goes on, so that no namespace delays the others. Then all revisions are judged again.
RevisionKeeper::RevisionKeeper(ApiClient& client, std::set<std::string> scope, EventPublisher& events,
                               RevisionKeeperUser& user)
    : client_(client),
      scope_(std::move(scope)),
      events_(events),
      user_(user),
      watch_(client, "", /*withData=*/false, *this),
      writer_(client, {.trouble = "an EgressRevision cannot be written"}, *this) {}

void RevisionKeeper::lead(bool leads) {
  leads_ = leads;
  writes_.clear();
  writer_.clear();
  cancel();
  active_.clear();
  canariesSince_.clear();
  written_.clear();
  ledSince_ = client_.worker().now();
}

/// Returns true if a canary has served the revision for long enough by now, and all other replicas have it ready.
bool RevisionKeeper::isValidated(const EgressRevision& revision, const ReportsOfGateway& reports,
                                 base::MonotonicTime now) {
  const CanaryReport canary = canaryOf(revision, reports);
  if (canary.state != CanaryState::kServing) {
    canariesSince_.erase(revision.key());
    return revision.validated;
  }
  auto& [since, began] = canariesSince_[revision.key()];
  if (std::exchange(since, canary.since) != canary.since || began == base::MonotonicTime()) began = now;
  // A replica that has it ready later reports that, and a replica that is gone is not waited for.
  if (now - began >= kCanaryTime) return isReadyOnAll(revision, reports);
  wakeAt(began + kCanaryTime);
  return false;
}

// The controller may have compiled older or newer objects than those of the revision. So names are added, never
// replaced.
void RevisionKeeper::addReadable(EgressRevision& revision) const {
  const auto found = readable_.find({revision.gatewayKind, revision.nameSpace, revision.gateway});
  if (found == readable_.end()) return;
  for (const auto& each : found->second) {
    if (revision.secrets.size() < EgressRevision::kMostSecrets) revision.secrets.insert(each);
  }
}

compile::SecretsOfGateways RevisionKeeper::readableBesides() const {
  compile::SecretsOfGateways besides;
  for (const auto& [key, each] : watch_.revisions()) {
    if (!each.active || !isInScope(each)) continue;
    besides[{each.gatewayKind, each.nameSpace, each.gateway}].insert(each.secrets.begin(), each.secrets.end());
  }
  for (const auto& [gateway, standby] : standbysOf(watch_.revisions())) {
    if (!standby.isNeeded() || !isInScope(*standby.good)) continue;
    besides[gateway].insert(standby.good->secrets.begin(), standby.good->secrets.end());
  }
  return besides;
}

void RevisionKeeper::wakeAt(base::MonotonicTime at) {
  if (!isSet() || at < deadline()) client_.worker().timers().set(*this, at);
}

// While a write is in progress, the watch may not show its result yet. After it, all revisions are judged again.
void RevisionKeeper::judge(const ReplicaReports& reports, base::MonotonicTime now) {
  if (!leads_ || !watch_.listed() || !writes_.empty()) return;
  removals_.clear();
  RevisionsOfGateways known;
  RevisionsOfGateways unknown;
  std::map<std::string, Revisions> strays;  // of Gateways that do not exist, by namespace: anybody may name any
  std::map<std::string, ReportsOfGateway> fleets;
  std::map<NamedGateway, std::string> newest;  // when the newest one of `known` was created
  std::set<ApiObjectKey> inUse;
  const auto fleetOf = [&](const EgressRevision& each) -> const ReportsOfGateway& {
    const std::string gateway = each.gatewayKey();
    return fleets.try_emplace(gateway, gateway, reports, now).first->second;
  };
  for (const auto& [key, each] : watch_.revisions()) {
    if (!isInScope(each)) continue;
    const NamedGateway gateway{each.gatewayKind, each.nameSpace, each.gateway};
    if (!each.judged && !gateways_.contains(gateway)) {
      strays[each.nameSpace].push_back(&each);
      continue;
    }
    if (each.active || fleetOf(each).isInUse(each.revision)) inUse.insert(key);
    if (each.judged || inUse.contains(key)) {
      known[gateway].push_back(&each);
      newest[gateway] = std::max(newest[gateway], each.created);
    } else {
      unknown[gateway].push_back(&each);
    }
  }
  for (const auto& [gateway, standby] : standbysOf(watch_.revisions())) {
    if (standby.good != nullptr) inUse.insert(standby.good->key());
  }
  const auto isWithoutCanary = [&](const EgressRevision* each) {
    return removeWithoutCanary(*each, fleetOf(*each), now);
  };
  Revisions surplus;
  const auto keepFew = [&](Revisions& of) {
    const Revisions beyond = takeSurplus(of, inUse);
    surplus.insert(surplus.end(), beyond.begin(), beyond.end());
  };
  for (auto& [gateway, revisions] : known) {
    std::erase_if(revisions, isWithoutCanary);
    keepFew(revisions);
    for (const EgressRevision* each : revisions) write(*each, each->created == newest[gateway], fleetOf(*each), now);
  }
  // A revision that no replica has reported must not displace one that was served.
  for (auto& [gateway, revisions] : unknown) {
    keepFew(revisions);
    std::erase_if(revisions, isWithoutCanary);
  }
  for (auto& [nameSpace, revisions] : strays) keepFew(revisions);
  for (const EgressRevision* each : surplus) remove(*each);
  const auto isGone = [this](const auto& each) { return !watch_.revisions().contains(each.first); };
  std::erase_if(canariesSince_, isGone);
  std::erase_if(written_, isGone);
  tellActive();
}

/// Removes a revision whose canary does not exist; returns true if it does so.
bool RevisionKeeper::removeWithoutCanary(const EgressRevision& revision, const ReportsOfGateway& reports,
                                         base::MonotonicTime now) {
  if (canaryOf(revision, reports).state != CanaryState::kGone) return false;
  // Before that, the replica may exist and not have reported to this controller yet.
  if (now - ledSince_ >= kReportDuration) {
    remove(revision);
    return true;
  }
  wakeAt(ledSince_ + kReportDuration);
  return false;
}

/// Writes the status of a revision if it has changed.
void RevisionKeeper::write(const EgressRevision& revision, bool isNewest, const ReportsOfGateway& reports,
                           base::MonotonicTime now) {
  const base::WallTime wallNow = client_.worker().clock().wallNow();
  EgressRevision known = revision;
  known.validated = isValidated(revision, reports, now);
  if (isNewest && !revision.active && reports.isGiven(revision.revision)) addReadable(known);
  known.judged = true;
  const EgressRevision judged = judgeRevision(std::move(known), reports, wallNow);
  if (isWritten(revision, judged)) return;
  push(revision, mergePatchRequest(revision.path() + "/status", revisionStatusPatch(judged, wallNow)),
       decidedOf(revision, judged));
  written_.insert_or_assign(revision.key(), WrittenStatus{revision, judged});
}

/// Returns true if the revision has that status, or if the status was written and no later change was seen.
bool RevisionKeeper::isWritten(const EgressRevision& revision, const EgressRevision& judged) const {
  const auto last = written_.find(revision.key());
  const bool remembered = last != written_.end() && last->second.seen.uid == revision.uid;
  const bool sameLists = hasSameLists(judged, revision) || (remembered && hasSameLists(judged, last->second.judged));
  if (isSameStatus(judged, revision) && sameLists) return true;
  if (!remembered || !isSameStatus(revision, last->second.seen)) return false;
  EgressRevision before = last->second.judged;
  before.lastServed = judged.lastServed;  // it depends on the time of the judgement
  return isSameStatus(judged, before) && hasSameLists(judged, before);
}

/// Removes the oldest revisions beyond the number to keep, except for those in use, from a list, and returns them.
RevisionKeeper::Revisions RevisionKeeper::takeSurplus(Revisions& of, const std::set<ApiObjectKey>& inUse) const {
  std::sort(of.begin(), of.end(), [](const EgressRevision* a, const EgressRevision* b) {
    // Both are texts of the same form, so they compare as times.
    const std::string& usedA = std::max(a->created, a->lastServed);
    const std::string& usedB = std::max(b->created, b->lastServed);
    return std::tie(usedA, a->name) > std::tie(usedB, b->name);
  });
  const auto beyond = of.begin() + static_cast<std::ptrdiff_t>(std::min(most_, of.size()));
  const auto surplus =
      std::stable_partition(beyond, of.end(), [&](const EgressRevision* each) { return inUse.contains(each->key()); });
  Revisions taken(surplus, of.end());
  of.erase(surplus, of.end());
  return taken;
}

void RevisionKeeper::remove(const EgressRevision& revision) {
  if (revision.deleted || ++removals_[revision.nameSpace] > kMostRemovals) return;
  push(revision, deleteRequest(revision.path(), revision.uid));
}

/// Returns the events for a change.
std::vector<observe::Event> RevisionKeeper::decidedOf(const EgressRevision& before, const EgressRevision& now) const {
  const base::WallTime time = client_.worker().clock().wallNow();
  std::vector<observe::Event> events;
  const auto event = [&](observe::EventType type, std::string_view reason, std::string message) {
    events.push_back({type, std::string(reason), now.gatewayTitle(), std::move(message), 1, time, time});
  };
  if (now.validated && !before.validated) {
    event(observe::EventType::kNormal, "CanaryServes",
          "replica " + now.canary + " serves revision " + now.revision + ", so all others take it");
  }
  if (now.state == RevisionState::kTainted && before.state != RevisionState::kTainted) {
    event(observe::EventType::kWarning, "RevisionTainted", "revision " + now.revision + ": " + now.message);
  }
  return events;
}

void RevisionKeeper::tellActive() {
  std::set<ApiObjectKey> active;
  const base::WallTime time = client_.worker().clock().wallNow();
  for (const auto& [key, each] : watch_.revisions()) {
    if (!each.active || !isInScope(each)) continue;
    active.insert(key);
    if (active_.contains(key)) continue;
    events_.tell({observe::EventType::kWarning, std::string(kRevisionActive), each.gatewayTitle(), activeMessage(each),
                  1, time, time});
  }
  active_ = std::move(active);
}

void RevisionKeeper::push(const EgressRevision& revision, ApiRequest request, std::vector<observe::Event> decided) {
  const WriteKey key{config::kOwnGroup, kEgressRevisionKind, revision.nameSpace, revision.name};
  writes_.insert_or_assign(key, Write{std::move(request), std::move(decided)});
  writer_.want(key);
}

std::optional<ApiRequest> RevisionKeeper::requestFor(const WriteKey& key) {
  const auto write = writes_.find(key);
  return write == writes_.end() ? std::nullopt : std::optional(write->second.request);
}

void RevisionKeeper::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  const auto write = writes_.extract(key);
  const bool isGone = answer.ok() && answer->status == kRevisionGone;
  if (outcome == WriteOutcome::kDone || isGone) {
    for (const observe::Event& each : write.mapped().decided) events_.tell(each);
    // Reports that came during the write have not been judged yet.
    if (writes_.empty()) user_.onRevisionsToJudge();
    return;
  }
  written_.erase({key.nameSpace, key.name});
  if (outcome == WriteOutcome::kNoAnswer) {
    writes_.clear();
    written_.clear();
  }
  client_.worker().timers().set(*this, client_.worker().now() + kTryToWriteAgainAfter);
}

std::optional<config::Condition> RevisionKeeper::conditionOf(const config::ObjectStatus& gateway) const {
  const EgressRevision* active = nullptr;
  for (const auto& [key, each] : watch_.revisions()) {
    if (!each.active || each.nameSpace != gateway.nameSpace || each.gateway != gateway.name) continue;
    if (active == nullptr || each.created >= active->created) active = &each;
  }
  if (active == nullptr) return std::nullopt;
  config::Condition condition;
  condition.type = config::condition_type::kRolledBack;
  condition.status = config::ConditionStatus::kTrue;
  condition.reason = kRevisionActive;
  condition.message = activeMessage(*active);
  return condition;
}

}  // namespace sluice::kubernetes
