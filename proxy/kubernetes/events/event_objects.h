// Writes events to the API server as Event objects (events.k8s.io/v1) on the objects that they concern.
//
// Events with the same object, type, reason and note are one Event object, whose name follows from them and from the
// reporting instance: also after a restart, a repeat is a patch of the object's series and no new object. Repeats are
// counted here and written once in kSeriesPeriod at most.
//
// As client-go's EventSourceObjectSpamFilter does, each object that events concern has a bucket of tokens, from which
// each write takes one: kObjectBurst at once, and another one every kObjectRefill. All objects together have
// kTotalBurst and kTotalRefill. A new event for whose object there is no token is dropped and counted; a series waits
// for the next token, and loses nothing. So a flood of denials costs the API server little. Series leave kNewOfObject
// tokens to new events: a processor that fails for hours does not silence the event of its recovery.
//
// It is a state machine of one thread without sockets and clocks. Its owner sends the requests that take() returns, and
// reports one outcome for each with done().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/client/api_client.h"
#include "proxy/observe/events.h"

namespace sluice::kubernetes {

/// The object that an event concerns.
struct EventRegarding {
  std::string apiVersion;  // "gateway.networking.k8s.io/v1"
  std::string kind;
  std::string nameSpace;  // empty for GatewayClass: its events are in the namespace "default"
  std::string name;
  std::string uid;  // empty if it is not known
};

/// Returns kind, namespace and name of an event's object ("HTTPRoute demo/web"); nullopt if it names no such object, as
/// in events about the process.
std::optional<EventRegarding> regardingOf(std::string_view object);

/// A request to the API server: a GET, a creation or a merge patch.
struct EventWrite {
  ApiRequest request;
  std::string event;  // "namespace/name" of the Event object, for done()
};

enum class EventOutcome : std::uint8_t {
  kDone,
  kExists,   // 409
  kMissing,  // 404
  kRefused,  // any other 4xx but 429: it will not succeed later
  kFailed    // no answer, 429, 5xx: it is tried again
};

/// A bucket of tokens that fills itself evenly. A value.
class TokenBucket {
 public:
  TokenBucket(int burst, base::Duration refill) : burst_(burst), refill_(refill) {}

  /// Returns when there is a token besides `spare` others; `now` if there is one.
  base::MonotonicTime next(base::MonotonicTime now, int spare = 0) const;
  /// Takes a token, of which there must be one.
  void take(base::MonotonicTime now);
  bool isFull(base::MonotonicTime now) const { return fullAt_ <= now; }

 private:
  int burst_;
  base::Duration refill_;
  base::MonotonicTime fullAt_{};
};

class EventObjects {
 public:
  static constexpr std::string_view kReportingController = "sluice.dev/egress-gateway";
  static constexpr std::size_t kMostNoteBytes = 1024;
  static constexpr std::size_t kMostHeld = 1000;     // different events
  static constexpr std::size_t kMostObjects = 5000;  // objects that have spent tokens
  static constexpr int kObjectBurst = 25;
  static constexpr int kNewOfObject = 5;
  static constexpr base::Duration kObjectRefill = std::chrono::minutes(5);
  static constexpr int kTotalBurst = 100;
  static constexpr base::Duration kTotalRefill = std::chrono::seconds(1);
  static constexpr base::Duration kSeriesPeriod = std::chrono::minutes(1);
  /// An event that is not repeated is forgotten when the API server, too, has deleted it.
  static constexpr base::Duration kHeldFor = std::chrono::hours(1);
  static constexpr base::Duration kRetryPeriod = std::chrono::seconds(10);
  static constexpr int kMostTries = 12;

  /// `instance` identifies this process among those that report events: its Pod. It is cut at 128 bytes.
  explicit EventObjects(std::string_view instance);

  /// Takes an event, which may have occurred several times. `action` names the operation that was done or has failed,
  /// in upper camel case; it must not be empty.
  void note(const observe::Event& event, const EventRegarding& regarding, std::string_view action,
            base::MonotonicTime now);
  /// Returns the requests that are due, the oldest first and at most `most`.
  std::vector<EventWrite> take(base::MonotonicTime now, std::size_t most = kTotalBurst);
  /// Reports the outcome of a request. `answer` is the Event object if a GET is kDone.
  void done(const std::string& event, EventOutcome outcome, const content::Value* answer, base::MonotonicTime now);

  /// Returns when take() will have something; the end of time if nothing waits.
  base::MonotonicTime nextDue(base::MonotonicTime now) const;
  /// Returns how many occurrences of events have been dropped since the last call.
  std::uint64_t takeDropped();
  std::size_t held() const { return held_.size(); }

 private:
  enum class State : std::uint8_t { kToCreate, kCreating, kToRead, kReading, kWritten, kPatching };
  struct HeldObject {
    std::string path;    // to which it is posted
    std::string object;  // the key of its bucket
    std::string name;
    std::string fixed;  // the members of its JSON that never change, without the last brace
    State state = State::kToCreate;
    std::uint64_t count = 0;
    std::uint64_t sent = 0;     // the count in the last request
    std::uint64_t written = 0;  // the count that the API server has
    base::WallTime first{};
    base::WallTime last{};
    base::MonotonicTime due{};
    base::MonotonicTime notedAt{};
    int tries = 0;

    bool isDirty() const { return count > written; }
    bool waits() const;
  };
  using Held = std::map<std::string, HeldObject, std::less<>>;

  bool makeRoom(base::MonotonicTime now);
  TokenBucket* bucketOf(const std::string& object, base::MonotonicTime now);
  EventWrite request(const std::string& key, HeldObject& held);
  void created(Held::iterator at, EventOutcome outcome, base::MonotonicTime now);
  void found(Held::iterator at, EventOutcome outcome, const content::Value* answer, base::MonotonicTime now);
  void patched(Held::iterator at, EventOutcome outcome, base::MonotonicTime now);
  void settle(HeldObject& held, std::uint64_t written, base::MonotonicTime due);
  void retry(Held::iterator at, State state, base::MonotonicTime now);
  void drop(Held::iterator at);

  const std::string instance_;
  Held held_;                                   // by "namespace/name"
  std::map<std::string, TokenBucket> buckets_;  // by object
  TokenBucket total_{kTotalBurst, kTotalRefill};
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::kubernetes
