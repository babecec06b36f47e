// Events notify operators of faults and changes, by the object that they concern: denials, failures of processors,
// reloads, rollbacks, degradations.
//
// Each thread collects its own in an EventBatch, where equal ones are counted, and hands them to the main thread about
// once a second. The EventRing there holds the newest for /events, and logs each event once a minute at most. So
// neither a flood of denials nor an object that stays faulty fills the memory or the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/observe/log.h"
#include "proxy/observe/metrics.h"

namespace sluice::observe {

/// The types of Kubernetes' Event.
enum class EventType : std::uint8_t { kNormal, kWarning };

/// Events with the same type, reason, object and matter are one, with the newest message.
struct Event {
  EventType type = EventType::kNormal;
  std::string reason;   // in upper camel case: "RolledBack"
  std::string object;   // "HTTPRoute demo/web", or empty for the process
  std::string message;  // without secrets
  std::uint64_t count = 1;
  base::WallTime first{};
  base::WallTime last{};
  std::string matter = {};  // the part of the object that it concerns, if there are events about several
};

/// Belongs to one thread.
class EventBatch {
 public:
  static constexpr std::size_t kMost = 256;  // different events; others are counted as dropped
  static constexpr std::size_t kMostOfNamespace = 128;

  void add(EventType type, std::string_view reason, std::string_view object, std::string_view message,
           base::WallTime now, std::string_view matter = {});
  bool empty() const { return events_.empty() && dropped_ == 0; }
  /// Returns the events since the last call.
  std::vector<Event> take();
  /// Returns how many were dropped since the last call.
  std::uint64_t takeDropped();

 private:
  using Key = std::tuple<EventType, std::string, std::string, std::string>;  // the last is the matter
  /// Returns true if there is a place for another event about the object.
  bool takePlace(std::string_view object);

  std::map<Key, Event> events_;
  std::map<std::string, std::size_t, std::less<>> ofNamespaces_;  // how many events each has
  std::uint64_t dropped_ = 0;
};

/// Belongs to the main thread.
class EventRing {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr base::Duration kLogAgainAfter = std::chrono::minutes(1);
  static constexpr std::size_t kMostLogged = 20;  // of one call of add()

  /// Both outlive it.
  EventRing(Log& log, MetricShard& metrics) : log_(log), dropped_(metrics.at<Metric::kEventsDropped>()) {}

  /// `told` is called for each event that is added, with the number of its new occurrences.
  void onEvent(std::function<void(const Event&)> told) { told_ = std::move(told); }

  void add(std::vector<Event> events, std::uint64_t dropped = 0);
  /// Adds an event that its owner logs itself.
  void note(Event event);
  /// Returns [{"time", "first", "last", "count", "type", "reason", "object", "message"}] of the `most` newest, the
  /// newest first: the admin document /events.
  std::string document(std::size_t most = kMost) const;
  /// Returns how many different events it holds.
  std::size_t size() const { return events_.size(); }

 private:
  struct HeldEvent {
    Event event;
    base::WallTime logged{};
  };
  HeldEvent& hold(Event&& event);
  void write(HeldEvent& held);

  Log& log_;
  Counter& dropped_;
  std::function<void(const Event&)> told_ = [](const Event&) {};
  std::list<HeldEvent> events_;  // the newest first
};

}  // namespace sluice::observe
