#include "proxy/kubernetes/status/status_writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/status/status_patch.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kLookedAtPerTurn = 50;  // so that the main thread is free again after a few milliseconds
constexpr std::size_t kMostTold = 100;
constexpr base::Duration kShortestPause = std::chrono::milliseconds(500);
constexpr base::Duration kShortestHold = std::chrono::seconds(1);
constexpr int kNotAuthenticated = 401;
constexpr int kNotPermitted = 403;
constexpr int kGoneFromServer = 404;
constexpr int kConflict = 409;
constexpr int kTooManyRequests = 429;
constexpr int kServerFault = 500;

constexpr const char* kNoAnswer = "no answer";  // a cause
constexpr const char* kNotKept = "not kept";    // another one

base::Duration doubled(base::Duration first, unsigned times, base::Duration most) {
  return std::min(first * (1U << std::min(times, 16U)), most);
}

/// Returns true if every request may fail in the same way.
bool isOfServer(const base::Result<ApiAnswer>& answer) {
  if (!answer.ok()) return true;
  return answer->status == kNotAuthenticated || answer->status == kTooManyRequests || answer->status >= kServerFault;
}

}  // namespace

// --- what is to be looked at -----------------------------------------------------------------------------------------

// The map changes in place, because of thousands of objects mostly one is another one.
void StatusWriter::want(const FleetStatuses& fleet) {
  const config::StatusList& statuses = fleet.all;
  const base::MonotonicTime longestAwait = client_.worker().now() + kLongestAwait;
  ++round_;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const config::ObjectStatus& each = statuses[i];
    StatusKey key{each.group, each.kind, each.nameSpace, each.name};
    WantedStatus& wanted = wanted_[key];
    wanted.round = round_;
    if (!fleet.awaited.contains(&each)) {
      wanted.awaitsUntil.reset();
    } else if (!wanted.awaitsUntil) {
      wanted.awaitsUntil = longestAwait;
    }
    if (wanted.status == statuses.shared(i)) continue;  // equal statuses are shared by successive configurations
    if (wanted.status == nullptr || config::statusJson(*wanted.status) != config::statusJson(each)) repeats_.erase(key);
    wanted.status = statuses.shared(i);
    mark(key);
  }
  std::erase_if(wanted_, [this](const auto& entry) {
    if (entry.second.round == round_) return false;
    mark(entry.first);
    repeats_.erase(entry.first);
    return true;
  });
  for (const StatusKey& key : std::exchange(unjudged_, {})) mark(key);
  knows_ = true;
  later();
}

void StatusWriter::onObjects(const ClusterObjects::Touched& touched) {
  for (const auto& [kind, name] : touched) {
    StatusKey key{kind->group, kind->kind, name.first, name.second};
    wanted_.contains(key) ? mark(key) : void(unjudged_.insert(std::move(key)));
  }
  later();
}

void StatusWriter::lead(bool leads) {
  if (leads == leads_) return;
  leads_ = leads;
  writes_.clear();
  repeats_.clear();
  forbidden_.clear();
  held_.clear();
  open_ = 0;
  if (!leads) return;
  objects_.forEach([this](const config::ObjectKind& kind, const ApiObjectKey& name, const ApiObject&) {
    const StatusKey key{kind.group, kind.kind, name.first, name.second};
    if (!unjudged_.contains(key)) mark(key);
  });
  later();
}

void StatusWriter::mark(const StatusKey& key) {
  if (marked_.insert(key).second) due_.push_back(key);
}

void StatusWriter::wakeAt(base::MonotonicTime time) {
  if (!isSet() || time < deadline()) client_.worker().timers().set(*this, time);
}

void StatusWriter::later() {
  if (!leads_ || !knows_ || due_.empty()) return;
  if (client_.worker().now() < pausedUntil_) return wakeAt(pausedUntil_);
  if (std::exchange(posted_, true)) return;
  client_.worker().post([this] { work(); });
}

void StatusWriter::onTimer() {
  const base::MonotonicTime now = client_.worker().now();
  while (!held_.empty() && held_.begin()->first <= now) {
    mark(held_.begin()->second);
    held_.erase(held_.begin());
  }
  if (!held_.empty()) wakeAt(held_.begin()->first);
  later();
}

void StatusWriter::work() {
  posted_ = false;
  if (!leads_ || client_.worker().now() < pausedUntil_) return later();
  for (std::size_t i = 0; i < kLookedAtPerTurn && !due_.empty() && open_ < kMostWrites; ++i) {
    const StatusKey key = std::move(due_.front());
    due_.pop_front();
    marked_.erase(key);
    look(key);
  }
  if (open_ < kMostWrites) later();
}

// --- one object ------------------------------------------------------------------------------------------------------

StatusWriter::Wanted StatusWriter::wantedOf(const StatusKey& key) const {
  const auto found = wanted_.find(key);
  return found == wanted_.end() ? nullptr : found->second.status;
}

/// Returns the difference between what is wanted and `status`; nullopt if there is none.
std::optional<std::string> StatusWriter::patchOf(const StatusKey& key, const content::Value* status,
                                                 std::string_view resourceVersion) const {
  const OwnEntries own{std::get<2>(key), &objects_.gatewaysInScope()};
  if (const Wanted wanted = wantedOf(key)) {
    return statusPatch(*wanted, status, resourceVersion, own, client_.worker().clock().wallNow());
  }
  const config::ObjectKind& kind = *config::findObjectKind(std::get<0>(key), std::get<1>(key));
  return withoutOurs(*kind.status, status, resourceVersion, own);
}

/// Compares what is wanted with what is there, and writes the difference.
void StatusWriter::look(const StatusKey& key) {
  const auto& [group, kind, nameSpace, name] = key;
  const auto write = writes_.find(key);
  if (write != writes_.end() && write->second.exchange != nullptr) return;  // it is marked again at its end
  const ClusterObjects::NewestObject found = objects_.find(group, kind, {nameSpace, name});
  if (found.object == nullptr) {
    if (write != writes_.end()) writes_.erase(write);
    repeats_.erase(key);
    return;
  }
  if (write != writes_.end()) {
    // What the API server showed last may be older than what it was told.
    const bool same = !write->second.refused || write->second.wanted == wantedOf(key);
    if (same && write->second.resourceVersion == found.object->resourceVersion) return;
    writes_.erase(write);
  }
  const auto current = content::parseJson(found.object->status, {.bytes = ListDecoder::kMostBytes});
  std::optional<std::string> patch = patchOf(key, current.ok() ? &*current : nullptr, found.object->resourceVersion);
  if (!patch) return;
  if (const auto made = repeats_.find(key); made != repeats_.end() && made->second.left == found.object->status) return;
  if (const base::MonotonicTime until = heldUntil(key); client_.worker().now() < until) {
    held_.emplace(until, key);
    return wakeAt(until);
  }
  this->write(key, found, *std::move(patch));
}

/// Returns when the object may be written.
base::MonotonicTime StatusWriter::heldUntil(const StatusKey& key) {
  const auto& [group, kind, nameSpace, name] = key;
  base::MonotonicTime until = base::MonotonicTime::min();
  if (const auto wanted = wanted_.find(key); wanted != wanted_.end()) {
    until = wanted->second.awaitsUntil.value_or(until);
  }
  if (const auto forbidden = forbidden_.find({group, kind, nameSpace}); forbidden != forbidden_.end()) {
    until = std::max(until, forbidden->second.until);
  }
  const auto made = repeats_.find(key);
  if (made == repeats_.end()) return until;
  StatusRepeats& repeats = made->second;
  if (client_.worker().now() >= repeats.last + 2 * kLongestHold) repeats.writes = 0;
  if (repeats.writes < kMostRepeats) return until;
  tell(key, kNotKept, "another client keeps changing what is written");
  const auto further = static_cast<unsigned>(repeats.writes - kMostRepeats);
  return std::max(until, repeats.last + doubled(kShortestHold, further, kLongestHold));
}

void StatusWriter::write(const StatusKey& key, const ClusterObjects::NewestObject& object, std::string patch) {
  const auto& [group, kind, nameSpace, name] = key;
  ApiRequest request;
  request.method = http::Method::kPatch;
  request.path =
      collectionPath(*config::findObjectKind(group, kind), object.version, nameSpace) + "/" + name + "/status";
  request.body = std::move(patch);
  request.contentType = "application/merge-patch+json";
  StatusWrite& made = writes_[key];
  made.resourceVersion = object.object->resourceVersion;
  made.wanted = wantedOf(key);
  ++open_;
  made.exchange = std::make_unique<ApiExchange>(
      client_, request, [this, key](base::Result<ApiAnswer>&& answer) { written(key, answer); });
}

// --- answers ---------------------------------------------------------------------------------------------------------

void StatusWriter::written(const StatusKey& key, const base::Result<ApiAnswer>& answer) {
  --open_;
  const std::unique_ptr<ApiExchange> exchange = std::move(writes_.at(key).exchange);
  answer.ok() && answer->ok() ? accepted(key, answer->body) : refused(key, answer);
  mark(key);  // the newer version may have come before the answer
  later();
}

void StatusWriter::accepted(const StatusKey& key, const content::Value& answer) {
  const auto& [group, kind, nameSpace, name] = key;
  failures_ = 0;
  told_.erase(kNoAnswer);
  if (forbidden_.erase({group, kind, nameSpace}) > 0) told_.erase(std::string(kind) + std::to_string(kNotPermitted));
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
      tell(key, kNotKept,
           "the API server does not keep what is written: is the schema of the kind's CRD an older one?");
    }
  }
  if (write->second.resourceVersion == version) writes_.erase(write);  // nothing has changed, and nothing follows
}

void StatusWriter::refused(const StatusKey& key, const base::Result<ApiAnswer>& answer) {
  const auto& [group, kind, nameSpace, name] = key;
  const int status = answer.ok() ? answer->status : 0;
  if (status == kConflict) return;
  if (status == kGoneFromServer) {
    // Either the object is gone, which its watch tells, or its CRD has no status, which stays so.
    if (!textIn(valueIn(&answer->body, "details"), "name").empty()) return;
    writes_.at(key).refused = true;
    return tell(key, std::to_string(status), answer->fault());
  }
  if (!answer.ok()) {
    tell(key, kNoAnswer, answer.error().detail);
  } else {
    tell(key, std::to_string(status), answer->fault());
  }
  if (isOfServer(answer)) {
    writes_.erase(key);
    return pause(answer);
  }
  if (status != kNotPermitted) {
    writes_.at(key).refused = true;
    return;
  }
  writes_.erase(key);
  const base::MonotonicTime now = client_.worker().now();
  Forbidden& forbidden = forbidden_[{group, kind, nameSpace}];
  if (now < forbidden.until) return;  // several were under way
  forbidden.until = now + doubled(kShortestPause, forbidden.times++, kLongestPause);
}

/// Says the first trouble of a kind with one cause.
void StatusWriter::tell(const StatusKey& key, const std::string& cause, const std::string& reason) {
  const auto& [group, kind, nameSpace, name] = key;
  if (told_.size() >= kMostTold || !told_.insert(cause == kNoAnswer ? cause : std::string(kind) + cause).second) return;
  client_.log().warn("a status cannot be written",
                     {{"object", std::string(kind) + " " + nameSpace + "/" + name}, {"reason", reason}});
}

void StatusWriter::pause(const base::Result<ApiAnswer>& answer) {
  const base::MonotonicTime now = client_.worker().now();
  base::Duration delay{};
  if (now >= pausedUntil_) delay = doubled(kShortestPause, failures_++, kLongestPause);  // else several were under way
  if (answer.ok()) delay = std::max(delay, answer->retryAfter);
  pausedUntil_ = std::max(pausedUntil_, now + delay);
}

}  // namespace sluice::kubernetes
