#include "proxy/control/kubernetes/status/status_writer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/control/kubernetes/client/api_path.h"
#include "proxy/control/kubernetes/status/status_patch.h"

namespace sluice::control {
namespace {

constexpr std::size_t kLookedAtPerTurn = 50;  // so that the main thread is free again after a few milliseconds
constexpr std::size_t kMostTold = 100;
constexpr base::Duration kShortestPause = std::chrono::milliseconds(500);
constexpr base::Duration kLongestPause = std::chrono::seconds(30);
constexpr int kConflict = 409;
constexpr int kGoneFromServer = 404;
constexpr int kTooManyRequests = 429;
constexpr int kServerFault = 500;

/// Returns true if the same request may succeed later.
bool mayPass(const base::Result<ApiAnswer>& answer) {
  if (!answer.ok()) return true;
  const int status = answer->status;
  return status == 401 || status == 403 || status == kTooManyRequests || status >= kServerFault;
}

}  // namespace

// --- what is to be looked at -----------------------------------------------------------------------------------------

void StatusWriter::want(const config::StatusList& statuses) {
  const config::StatusList before = std::exchange(wanted_, statuses);
  std::map<StatusKey, const config::ObjectStatus*> byKey;
  for (const config::ObjectStatus& each : wanted_) {
    StatusKey key{each.group, each.kind, each.nameSpace, each.name};
    const auto known = byKey_.find(key);
    // Equal statuses are shared by successive configurations.
    if (known == byKey_.end() || known->second != &each) {
      mark(key);
      repeats_.erase(key);
    }
    byKey.emplace(std::move(key), &each);
  }
  for (const auto& [key, status] : byKey_) {
    if (byKey.contains(key)) continue;
    mark(key);
    repeats_.erase(key);
  }
  byKey_ = std::move(byKey);
  later();
}

void StatusWriter::onObjects(const ClusterObjects::Touched& touched) {
  for (const auto& [kind, key] : touched) mark({kind->group, kind->kind, key.first, key.second});
  later();
}

void StatusWriter::lead(bool leads) {
  if (leads == leads_) return;
  leads_ = leads;
  writes_.clear();
  repeats_.clear();
  open_ = 0;
  if (!leads) return;
  objects_.forEach([this](const config::ObjectKind& kind, const ApiObjectKey& key, const ApiObject&) {
    mark({kind.group, kind.kind, key.first, key.second});
  });
  later();
}

void StatusWriter::mark(const StatusKey& key) {
  if (marked_.insert(key).second) due_.push_back(key);
}

void StatusWriter::later() {
  if (!leads_ || wanted_.empty() || due_.empty() || isSet() || std::exchange(posted_, true)) return;
  client_.worker().post([this] { work(); });
}

void StatusWriter::onTimer() { later(); }

void StatusWriter::work() {
  posted_ = false;
  if (!leads_ || isSet()) return;
  for (std::size_t i = 0; i < kLookedAtPerTurn && !due_.empty() && open_ < kMostWrites; ++i) {
    const StatusKey key = std::move(due_.front());
    due_.pop_front();
    marked_.erase(key);
    look(key);
  }
  if (open_ < kMostWrites) later();
}

// --- one object ------------------------------------------------------------------------------------------------------

/// Compares what is wanted with what is there, and writes the difference.
void StatusWriter::look(const StatusKey& key) {
  const auto& [group, kind, nameSpace, name] = key;
  const ClusterObjects::NewestObject found = objects_.find(group, kind, {nameSpace, name});
  if (found.object == nullptr) {
    writes_.erase(key);
    return;
  }
  if (const auto write = writes_.find(key); write != writes_.end()) {
    // What the API server showed last may be older than what it was told.
    if (write->second.exchange != nullptr || write->second.resourceVersion == found.object->resourceVersion) {
      return;
    }
    writes_.erase(write);
  }
  const auto current = content::parseJson(found.object->status, {.bytes = ListDecoder::kMostBytes});
  const content::Value* status = current.ok() ? &*current : nullptr;
  const std::string& version = found.object->resourceVersion;
  const auto wanted = byKey_.find(key);
  std::optional<std::string> patch =
      wanted != byKey_.end() ? statusPatch(*wanted->second, status, version, client_.worker().clock().wallNow())
                             : withoutOurs(*config::findObjectKind(group, kind)->status, status, version);
  if (!patch) return;
  if (int& repeats = repeats_[key]; repeats < kMostRepeats) {
    ++repeats;
  } else {
    tell(key, "what is written does not stay: another controller, or the schema of its CRD, changes it");
    return;
  }
  write(key, found, *std::move(patch));
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
  ++open_;
  made.exchange = std::make_unique<ApiExchange>(
      client_, request, [this, key](base::Result<ApiAnswer>&& answer) { written(key, answer); });
}

void StatusWriter::written(const StatusKey& key, const base::Result<ApiAnswer>& answer) {
  --open_;
  const std::unique_ptr<ApiExchange> exchange = std::move(writes_[key].exchange);
  if (answer.ok() && (answer->ok() || answer->status == kConflict || answer->status == kGoneFromServer)) {
    failures_ = 0;
    mark(key);  // the newer version may have come before the answer
    return later();
  }
  const std::string reason = answer.ok() ? answer->fault() : answer.error().detail;
  tell(key, reason);
  writes_.erase(key);
  if (!mayPass(answer)) return later();  // the object, or what is wanted, has to change first
  mark(key);
  pause(answer);
}

/// Says each reason once.
void StatusWriter::tell(const StatusKey& key, const std::string& reason) {
  if (told_.size() >= kMostTold || !told_.insert(reason).second) return;
  const auto& [group, kind, nameSpace, name] = key;
  client_.log().warn("a status cannot be written",
                     {{"object", std::string(kind) + " " + nameSpace + "/" + name}, {"reason", reason}});
}

void StatusWriter::pause(const base::Result<ApiAnswer>& answer) {
  base::Duration delay = std::min(kShortestPause * (1U << std::min(failures_++, 10U)), kLongestPause);
  if (answer.ok()) delay = std::max(delay, answer->retryAfter);
  client_.worker().timers().set(*this, client_.worker().now() + delay);
}

}  // namespace sluice::control
