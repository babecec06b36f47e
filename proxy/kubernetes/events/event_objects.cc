#include "proxy/kubernetes/events/event_objects.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/writer/write_requests.h"
#include "proxy/pki/digest.h"

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kMostWordBytes = 128;  // of reason, action and reportingInstance
constexpr std::size_t kMostObjectNameBytes = 253;
constexpr std::size_t kEventDigits = 16;
constexpr std::string_view kDefaultEventNamespace = "default";

std::string_view eventTypeName(observe::EventType type) {
  return type == observe::EventType::kNormal ? "Normal" : "Warning";
}

/// Returns the texts one after the other, each with its length before it, so that different lists have different
/// results.
std::string framedTexts(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const std::string_view each : texts) all.append(std::to_string(each.size())).append(":").append(each);
  return all;
}

std::string eventName(std::string_view object, const std::string& identity) {
  std::string name(object.substr(0, kMostObjectNameBytes - kEventDigits - 1));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + "." + pki::toHex(pki::sha256(identity)).substr(0, kEventDigits);
}

std::string regardingJson(const EventRegarding& regarding) {
  base::JsonWriter json;
  json.beginObject().member("apiVersion", regarding.apiVersion).member("kind", regarding.kind);
  if (!regarding.nameSpace.empty()) json.member("namespace", regarding.nameSpace);
  json.member("name", regarding.name);
  if (!regarding.uid.empty()) json.member("uid", regarding.uid);
  return json.endObject().take();
}

void writeSeries(base::JsonWriter& json, std::uint64_t count, base::WallTime last) {
  // The API's field has 32 bits.
  const std::uint64_t most = 0x7fffffff;
  json.key("series").beginObject().member("count", static_cast<std::int64_t>(std::min(count, most)));
  json.member("lastObservedTime", apiMicroTime(last)).endObject();
}

}  // namespace

std::optional<EventRegarding> regardingOf(std::string_view object) {
  const std::size_t space = object.find(' ');
  if (space == std::string_view::npos || object.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
  const std::string_view kind = object.substr(0, space);
  const std::string_view name = object.substr(space + 1);
  if (kind.empty() || kind[0] < 'A' || kind[0] > 'Z' || name.empty()) return std::nullopt;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return EventRegarding{"", std::string(kind), "", std::string(name), ""};
  return EventRegarding{"", std::string(kind), std::string(name.substr(0, slash)), std::string(name.substr(slash + 1)),
                        ""};
}

base::MonotonicTime TokenBucket::next(base::MonotonicTime now, int spare) const {
  // After `burst` tokens at once it needs burst * refill until it is full; it is empty if more than burst - 1 are
  // missing.
  return std::max(now, fullAt_ - (burst_ - 1 - spare) * refill_);
}

void TokenBucket::take(base::MonotonicTime now) { fullAt_ = std::max(fullAt_, now) + refill_; }

EventObjects::EventObjects(std::string_view instance) : instance_(boundedText(instance, kMostWordBytes)) {}

bool EventObjects::HeldObject::waits() const {
  return state == State::kToCreate || state == State::kToRead || (state == State::kWritten && isDirty());
}

void EventObjects::note(const observe::Event& event, const EventRegarding& regarding, std::string_view action,
                        base::MonotonicTime now) {
  assert(!action.empty());
  const std::string note = boundedText(event.message, kMostNoteBytes);
  const std::string reason = boundedText(event.reason, kMostWordBytes);
  const std::string_view type = eventTypeName(event.type);
  const std::string regardingText = regardingJson(regarding);
  const std::string nameSpace(regarding.nameSpace.empty() ? kDefaultEventNamespace : regarding.nameSpace);
  const std::string name = eventName(regarding.name, framedTexts({instance_, regardingText, type, reason, note}));
  const std::string key = nameSpace + "/" + name;
  if (const auto known = held_.find(key); known != held_.end()) {
    HeldObject& held = known->second;
    // `due` already has the time at which its series may be written next.
    held.count += event.count;
    held.last = std::max(held.last, event.last);
    held.notedAt = now;
    return;
  }
  TokenBucket* bucket = bucketOf(regardingText, now);
  if (bucket == nullptr || bucket->next(now) > now || !makeRoom(now)) {
    dropped_ += event.count;
    return;
  }
  bucket->take(now);
  base::JsonWriter json;
  json.beginObject().member("apiVersion", "events.k8s.io/v1").member("kind", "Event");
  json.key("metadata").beginObject().member("name", name).member("namespace", nameSpace).endObject();
  json.key("regarding").json(regardingText).member("type", type).member("reason", reason);
  json.member("action", boundedText(action, kMostWordBytes)).member("note", note);
  json.member("reportingController", kReportingController).member("reportingInstance", instance_);
  HeldObject held;
  held.path = "/apis/events.k8s.io/v1/namespaces/" + nameSpace + "/events";
  held.object = regardingText;
  held.name = name;
  held.fixed = json.take();
  held.count = event.count;
  held.first = event.first;
  held.last = event.last;
  held.due = held.notedAt = now;
  held_.emplace(key, std::move(held));
}

bool EventObjects::makeRoom(base::MonotonicTime now) {
  std::erase_if(held_, [&](const auto& entry) {
    const HeldObject& each = entry.second;
    return each.state == State::kWritten && !each.isDirty() && now - each.notedAt >= kHeldFor;
  });
  if (held_.size() < kMostHeld) return true;
  auto oldest = held_.end();
  for (auto at = held_.begin(); at != held_.end(); ++at) {
    if (at->second.state != State::kWritten || at->second.isDirty()) continue;
    if (oldest == held_.end() || at->second.notedAt < oldest->second.notedAt) oldest = at;
  }
  if (oldest == held_.end()) return false;
  held_.erase(oldest);
  return true;
}

TokenBucket* EventObjects::bucketOf(const std::string& object, base::MonotonicTime now) {
  auto found = buckets_.find(object);
  if (found != buckets_.end()) return &found->second;
  if (buckets_.size() >= kMostObjects) {
    std::erase_if(buckets_, [now](const auto& entry) { return entry.second.isFull(now); });
  }
  if (buckets_.size() >= kMostObjects) return nullptr;
  return &buckets_.emplace(object, TokenBucket(kObjectBurst, kObjectRefill)).first->second;
}

std::vector<EventWrite> EventObjects::take(base::MonotonicTime now, std::size_t most) {
  std::vector<Held::iterator> due;
  for (auto at = held_.begin(); at != held_.end(); ++at) {
    if (at->second.waits() && at->second.due <= now) due.push_back(at);
  }
  std::stable_sort(due.begin(), due.end(), [](auto a, auto b) { return a->second.due < b->second.due; });
  std::vector<EventWrite> writes;
  for (const Held::iterator at : due) {
    if (writes.size() == most || total_.next(now) > now) break;
    HeldObject& held = at->second;
    // The token of a new event was taken when it was noted.
    if (held.state == State::kWritten && held.tries == 0) {
      TokenBucket* bucket = bucketOf(held.object, now);
      const base::MonotonicTime next = bucket == nullptr ? now + kObjectRefill : bucket->next(now, kNewOfObject);
      if (next > now) {
        held.due = next;
        continue;
      }
      bucket->take(now);
    }
    total_.take(now);
    writes.push_back(request(at->first, held));
  }
  return writes;
}

EventWrite EventObjects::request(const std::string& key, HeldObject& held) {
  if (held.state == State::kToRead) {
    held.state = State::kReading;
    return {{http::Method::kGet, held.path + "/" + held.name}, key};
  }
  held.sent = held.count;
  base::JsonWriter json;
  if (held.state == State::kWritten) {
    held.state = State::kPatching;
    json.beginObject();
    writeSeries(json, held.count, held.last);
    return {mergePatchRequest(held.path + "/" + held.name, json.endObject().take()), key};
  }
  held.state = State::kCreating;
  json.json(held.fixed).member("eventTime", apiMicroTime(held.first));
  // A series begins with the second occurrence.
  if (held.count > 1) writeSeries(json, held.count, held.last);
  return {createRequest(held.path, json.endObject().take()), key};
}

void EventObjects::done(const std::string& event, EventOutcome outcome, const content::Value* answer,
                        base::MonotonicTime now) {
  const auto at = held_.find(event);
  if (at == held_.end()) return;
  switch (at->second.state) {
    case State::kCreating:
      created(at, outcome, now);
      return;
    case State::kReading:
      found(at, outcome, answer, now);
      return;
    case State::kPatching:
      patched(at, outcome, now);
      return;
    case State::kToCreate:
    case State::kToRead:
    case State::kWritten:
      return;
  }
}

void EventObjects::created(Held::iterator at, EventOutcome outcome, base::MonotonicTime now) {
  switch (outcome) {
    case EventOutcome::kDone:
      settle(at->second, at->second.sent, now + kSeriesPeriod);
      return;
    case EventOutcome::kExists:
      at->second.state = State::kToRead;
      at->second.due = now;
      return;
    case EventOutcome::kMissing:
    case EventOutcome::kRefused:
      drop(at);
      return;
    case EventOutcome::kFailed:
      retry(at, State::kToCreate, now);
      return;
  }
}

void EventObjects::found(Held::iterator at, EventOutcome outcome, const content::Value* answer,
                         base::MonotonicTime now) {
  HeldObject& held = at->second;
  switch (outcome) {
    case EventOutcome::kDone: {
      const std::int64_t there = std::max<std::int64_t>(1, numberIn(valueIn(answer, "series"), "count").value_or(1));
      const auto count = static_cast<std::uint64_t>(there);
      // Either this process has created it and the answer was lost, or an earlier process has created it. The count
      // continues.
      if (textIn(answer, "eventTime") != apiMicroTime(held.first)) held.count += count;
      settle(held, count, now);
      return;
    }
    case EventOutcome::kMissing:
      held.state = State::kToCreate;
      held.due = now;
      return;
    case EventOutcome::kExists:
    case EventOutcome::kRefused:
      settle(held, 0, now);
      return;
    case EventOutcome::kFailed:
      retry(at, State::kToRead, now);
      return;
  }
}

void EventObjects::patched(Held::iterator at, EventOutcome outcome, base::MonotonicTime now) {
  HeldObject& held = at->second;
  switch (outcome) {
    case EventOutcome::kDone:
      settle(held, held.sent, now + kSeriesPeriod);
      return;
    case EventOutcome::kMissing:
      // The API server has deleted it. Occurrences since then are a new event.
      held.count -= std::min(held.count, held.written);
      held.written = 0;
      held.first = held.last;
      held.state = State::kToCreate;
      held.due = now;
      return;
    case EventOutcome::kRefused:
      drop(at);
      return;
    case EventOutcome::kExists:
    case EventOutcome::kFailed:
      retry(at, State::kWritten, now);
      return;
  }
}

void EventObjects::settle(HeldObject& held, std::uint64_t written, base::MonotonicTime due) {
  held.state = State::kWritten;
  held.written = written;
  held.due = due;
  held.tries = 0;
}

void EventObjects::retry(Held::iterator at, State state, base::MonotonicTime now) {
  HeldObject& held = at->second;
  if (++held.tries >= kMostTries) {
    drop(at);
    return;
  }
  held.state = state;
  held.due = now + kRetryPeriod;
}

void EventObjects::drop(Held::iterator at) {
  dropped_ += at->second.count - std::min(at->second.count, at->second.written);
  held_.erase(at);
}

base::MonotonicTime EventObjects::nextDue(base::MonotonicTime now) const {
  base::MonotonicTime next = base::MonotonicTime::max();
  for (const auto& [key, held] : held_) {
    if (held.waits()) next = std::min(next, held.due);
  }
  return next == base::MonotonicTime::max() ? next : std::max(next, total_.next(now));
}

std::uint64_t EventObjects::takeDropped() { return std::exchange(dropped_, 0); }

}  // namespace sluice::kubernetes
