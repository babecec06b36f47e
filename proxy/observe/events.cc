#include "proxy/observe/events.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/base/timestamp.h"

namespace sluice::observe {
namespace {

std::string_view nameOf(EventType type) { return type == EventType::kNormal ? "Normal" : "Warning"; }

}  // namespace

void EventBatch::add(EventType type, std::string_view reason, std::string_view object, std::string_view message,
                     base::WallTime now, std::string_view matter) {
  const Key key(type, reason, object, matter);
  const auto found = events_.find(key);
  if (found != events_.end()) {
    ++found->second.count;
    found->second.message = message;
    found->second.last = now;
  } else if (takePlace(object)) {
    events_.emplace(key, Event{type, std::string(reason), std::string(object), std::string(message), 1, now, now,
                               std::string(matter)});
  } else {
    ++dropped_;
  }
}

bool EventBatch::takePlace(std::string_view object) {
  if (events_.size() >= kMost) return false;
  const std::size_t slash = object.find('/');
  if (slash == std::string_view::npos) return true;  // the process, or an object of the platform
  const std::string_view nameSpace = object.substr(0, slash).substr(object.find(' ') + 1);
  std::size_t& count = ofNamespaces_[std::string(nameSpace)];
  if (count >= kMostOfNamespace) return false;
  ++count;
  return true;
}

std::vector<Event> EventBatch::take() {
  std::vector<Event> taken;
  ofNamespaces_.clear();
  for (auto& [key, event] : events_) taken.push_back(std::move(event));
  events_.clear();
  return taken;
}

std::uint64_t EventBatch::takeDropped() { return std::exchange(dropped_, 0); }

void EventRing::add(std::vector<Event> events, std::uint64_t dropped) {
  std::size_t logged = 0;
  for (Event& event : events) {
    HeldEvent& newest = hold(std::move(event));
    if (newest.event.last - newest.logged >= kLogAgainAfter && logged++ < kMostLogged) write(newest);
  }
  dropped_.add(dropped);
}

void EventRing::note(Event event) { hold(std::move(event)); }

EventRing::HeldEvent& EventRing::hold(Event&& event) {
  told_(event);
  const auto same = std::find_if(events_.begin(), events_.end(), [&event](const HeldEvent& held) {
    return held.event.type == event.type && held.event.reason == event.reason && held.event.object == event.object &&
           held.event.matter == event.matter;
  });
  if (same == events_.end()) {
    events_.push_front({std::move(event), {}});
  } else {
    events_.splice(events_.begin(), events_, same);
    Event& known = events_.front().event;
    known.count += event.count;
    known.message = std::move(event.message);
    known.last = event.last;
  }
  while (events_.size() > kMost) {
    events_.pop_back();
    dropped_.add(1);
  }
  return events_.front();
}

void EventRing::write(HeldEvent& held) {
  held.logged = held.event.last;
  const Event& event = held.event;
  const auto write = event.type == EventType::kWarning ? &Log::warn : &Log::info;
  (log_.*write)("event", {{"type", nameOf(event.type)},
                          {"reason", event.reason},
                          {"object", event.object},
                          {"count", event.count},
                          {"detail", event.message}});
}

std::string EventRing::document(std::size_t most) const {
  base::Timestamp time;
  base::JsonWriter json;
  json.beginList();
  for (const auto& [event, logged] : events_) {
    if (most-- == 0) break;
    json.beginObject().member("time", time.text(event.last)).member("first", time.text(event.first));
    json.member("last", time.text(event.last)).member("count", static_cast<std::int64_t>(event.count));
    json.member("type", nameOf(event.type)).member("reason", event.reason);
    json.member("object", event.object).member("message", event.message).endObject();
  }
  json.endList();
  return json.take() + "\n";
}

}  // namespace sluice::observe
