#include "proxy/kubernetes/status/status_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/objects/reported_status.h"
#include "proxy/kubernetes/status/cluster_statuses.h"
#include "proxy/kubernetes/status/status_patch.h"
#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

constexpr base::Duration kShortestHold = std::chrono::seconds(1);

WriteKey keyOfStatus(const config::ObjectStatus& status) {
  return {status.group, status.kind, status.nameSpace, status.name};
}

bool isKeyOf(const WriteKey& key, const config::ObjectStatus& status) {
  return key.name == status.name && key.nameSpace == status.nameSpace && key.kind == status.kind &&
         key.group == status.group;
}

base::Duration doubled(base::Duration first, unsigned times, base::Duration most) {
  return std::min(first * (1U << std::min(times, 16U)), most);
}

}  // namespace

StatusWriter::StatusWriter(ApiClient& client, ClusterObjects& objects, const FleetFacts& facts,
                           const control::Revisions& revisions, bool keepsPods)
    : client_(client),
      objects_(objects),
      facts_(facts),
      revisions_(revisions),
      keepsPods_(keepsPods),
      writer_(client, {kMostWrites, kLongestPause, base::Duration::max(), "a status cannot be written"}, *this) {
  objects.addUser(*this);
}

// --- objects to check ------------------------------------------------------------------------------------------------

void StatusWriter::onCompiled(const control::CompiledConfiguration& compiled) {
  if (revisions_.state() == control::ConfigState::kInSync) {
    if (!compiled.readable) return;
    refused_.reset();
    newest_ = {};
    served_ = clusterStatuses(compiled, keepsPods_);
    return want(*served_);
  }
  newest_ = compiled.readable ? clusterStatuses(compiled, keepsPods_) : served_.value_or(config::StatusList());
  refused_ = refusedRevision(revisions_, newest_);
  wantServed();
}

void StatusWriter::onServing(const control::CompiledConfiguration& served) {
  if (!refused_) return;  // the newest objects are good, and only wait
  served_ = clusterStatuses(served, keepsPods_);
  wantServed();
}

/// While the newest configuration is refused, objects say what is served. A controller that has no good configuration
/// leaves them as an earlier one has written them.
void StatusWriter::wantServed() {
  if (newest_.empty()) return;
  want(rollbackStatuses(served_ ? *served_ : reportedStatuses(objects_), newest_));
}

void StatusWriter::want(config::StatusList compiled) {
  compiled_ = std::move(compiled);
  judge();
}

// The map is changed in place, because usually one of thousands of objects has changed. Both have the objects of a kind
// in the same order, so the next one is mostly the one after.
void StatusWriter::judge() {
  if (!compiled_) return;
  const base::MonotonicTime now = client_.worker().now();
  const bool sameReports = std::exchange(judgedReports_, facts_.reports().version()) == facts_.reports().version();
  ++round_;
  ServedRoutes served(facts_.reports(), now);
  const ReportedConditions reported(facts_.reports(), facts_.reach(), now);
  const FleetRound round{facts_, reported, refused_ ? &*refused_ : nullptr, now};
  auto next = wanted_.begin();
  for (std::size_t i = 0; i < compiled_->size(); ++i) {
    const config::StatusList::Shared& compiled = compiled_->shared(i);
    const auto entry = next != wanted_.end() && isKeyOf(next->first, *compiled)
                           ? next
                           : wanted_.try_emplace(keyOfStatus(*compiled)).first;
    next = std::next(entry);
    WantedStatus& wanted = entry->second;
    wanted.round = round_;
    // Conditions of a Gateway depend on more than the reports.
    const bool isSameObject =
        !wanted.touched && wanted.fleet.compiled == compiled && compiled->shape != config::StatusShape::kGateway;
    const bool holds = sameReports || (served.stillHold(wanted.fleet) && !reported.concern(*compiled));
    if (isSameObject && holds) continue;
    judge(entry->first, wanted, compiled, round);
  }
  std::erase_if(wanted_, [this](const auto& entry) {
    if (entry.second.round == round_) return false;
    look(entry.first);
    repeats_.erase(entry.first);
    return true;
  });
  for (const WriteKey& key : std::exchange(unjudged_, {})) look(key);
}

void StatusWriter::judge(const WriteKey& key, WantedStatus& wanted, const config::StatusList::Shared& compiled,
                         const FleetRound& round) {
  wanted.touched = false;
  FleetStatus fleet = withFleetConditions(compiled, wanted.fleet, round);
  if (!fleet.awaited) {
    wanted.awaitsUntil.reset();
  } else if (!wanted.awaitsUntil) {
    wanted.awaitsUntil = round.now + kLongestAwait;
  }
  const Wanted before = std::exchange(wanted.fleet, std::move(fleet)).status;
  if (before == wanted.fleet.status) return;  // equal statuses are shared by successive configurations
  if (before == nullptr || config::statusJson(*before) != config::statusJson(*wanted.fleet.status)) {
    repeats_.erase(key);
  }
  look(key);
}

void StatusWriter::onObjects(const ClusterObjects::Touched& touched) {
  for (const auto& [kind, name] : touched) {
    WriteKey key{kind->group, kind->kind, name.first, name.second};
    const auto wanted = wanted_.find(key);
    if (wanted == wanted_.end()) {
      unjudged_.insert(std::move(key));
      continue;
    }
    wanted->second.touched = true;
    look(key);
  }
}

void StatusWriter::lead(bool leads) {
  if (leads == leads_) return;
  leads_ = leads;
  writes_.clear();
  repeats_.clear();
  writer_.clear();
  if (!leads || !compiled_) return;
  objects_.forEach([this](const config::ObjectKind& kind, const ApiObjectKey& name, const ApiObject&) {
    const WriteKey key{kind.group, kind.kind, name.first, name.second};
    if (!unjudged_.contains(key)) look(key);
  });
}

void StatusWriter::look(const WriteKey& key) {
  if (leads_) writer_.want(key);
}

// --- one object ------------------------------------------------------------------------------------------------------

StatusWriter::Wanted StatusWriter::wantedOf(const WriteKey& key) const {
  const auto found = wanted_.find(key);
  return found == wanted_.end() ? nullptr : found->second.fleet.status;
}

/// Returns the difference between the wanted status and `status`; nullopt if there is none.
std::optional<std::string> StatusWriter::patchOf(const WriteKey& key, const content::Value* status,
                                                 std::string_view resourceVersion) const {
  const OwnEntries own{key.nameSpace, &objects_.gatewaysInScope()};
  if (const Wanted wanted = wantedOf(key)) {
    return statusPatch(*wanted, status, resourceVersion, own, client_.worker().clock().wallNow());
  }
  const config::ObjectKind& kind = *config::findObjectKind(key.group, key.kind);
  return withoutOurs(*kind.status, status, resourceVersion, own);
}

/// Compares the wanted status with the present one. The request writes the difference.
std::optional<ApiRequest> StatusWriter::requestFor(const WriteKey& key) {
  const auto write = writes_.find(key);
  const ClusterObjects::NewestObject found = objects_.find(key.group, key.kind, {key.nameSpace, key.name});
  if (found.object == nullptr) {
    writes_.erase(key);
    repeats_.erase(key);
    return std::nullopt;
  }
  if (write != writes_.end()) {
    // The API server may have shown the object last as it was before our write.
    const bool same = !write->second.refused || write->second.wanted == wantedOf(key);
    if (same && write->second.resourceVersion == found.object->resourceVersion) return std::nullopt;
    writes_.erase(write);
  }
  const auto current = content::parseJson(found.object->status, {.bytes = ListDecoder::kMostBytes});
  std::optional<std::string> patch = patchOf(key, current.ok() ? &*current : nullptr, found.object->resourceVersion);
  if (!patch) return std::nullopt;
  const auto made = repeats_.find(key);
  if (made != repeats_.end() && made->second.left == found.object->status) return std::nullopt;
  if (const base::MonotonicTime until = heldUntil(key); client_.worker().now() < until) {
    writer_.want(key, until);
    return std::nullopt;
  }
  writes_[key] = {found.object->resourceVersion, wantedOf(key)};
  const config::ObjectKind& kind = *config::findObjectKind(key.group, key.kind);
  return mergePatchRequest(collectionPath(kind, found.version, key.nameSpace) + "/" + key.name + "/status",
                           *std::move(patch));
}

/// Returns when the object may be written.
base::MonotonicTime StatusWriter::heldUntil(const WriteKey& key) {
  base::MonotonicTime until = base::MonotonicTime::min();
  if (const auto wanted = wanted_.find(key); wanted != wanted_.end()) {
    until = wanted->second.awaitsUntil.value_or(until);
  }
  const auto made = repeats_.find(key);
  if (made == repeats_.end()) return until;
  StatusRepeats& repeats = made->second;
  if (client_.worker().now() >= repeats.last + 2 * kLongestHold) repeats.writes = 0;
  if (repeats.writes < kMostRepeats) return until;
  tellNotKept(key, "another client keeps changing what is written");
  const auto further = static_cast<unsigned>(repeats.writes - kMostRepeats);
  return std::max(until, repeats.last + doubled(kShortestHold, further, kLongestHold));
}

// --- answers ---------------------------------------------------------------------------------------------------------

void StatusWriter::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  switch (outcome) {
    case WriteOutcome::kDone:
      accepted(key, answer->body);
      break;
    case WriteOutcome::kConflict:
    case WriteOutcome::kMissing:
      break;  // the watch will show the newer version or the deletion
    case WriteOutcome::kRefused:
      writes_.at(key).refused = true;
      break;
    case WriteOutcome::kForbidden:
    case WriteOutcome::kUnauthorized:
    case WriteOutcome::kBusy:
    case WriteOutcome::kNoAnswer:
      writes_.erase(key);
      break;
  }
  look(key);  // the newer version may have come before the answer
}

void StatusWriter::accepted(const WriteKey& key, const content::Value& answer) {
  const auto write = writes_.find(key);
  const std::string_view version = textIn(valueIn(&answer, "metadata"), "resourceVersion");
  if (write->second.wanted == wantedOf(key)) {
    StatusRepeats& repeats = repeats_[key];
    ++repeats.writes;
    repeats.last = client_.worker().now();
    repeats.left.reset();
    const content::Value* status = valueIn(&answer, "status");
    if (!version.empty() && patchOf(key, status, version)) {
      repeats.left = status == nullptr ? std::string() : content::writeJson(*status);
      tellNotKept(key, "the API server does not keep what is written: is the schema of the kind's CRD an older one?");
    }
  }
  if (write->second.resourceVersion == version) writes_.erase(write);  // nothing has changed, so no event follows
}

void StatusWriter::tellNotKept(const WriteKey& key, std::string_view reason) {
  if (!notKept_.insert(key.kind).second) return;
  client_.log().warn("a status cannot be written",
                     {{"object", std::string(key.kind) + " " + key.nameSpace + "/" + key.name}, {"reason", reason}});
}

}  // namespace sluice::kubernetes
