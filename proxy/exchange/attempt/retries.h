// Retries remembers the failures of an exchange whose rule retries (HTTPRouteRule.retry, GEP-1731), and the plan for
// its next attempt. The exchange owns it; exchanges of other rules have none.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/exchange/attempt/gateway_chain.h"
#include "proxy/exchange/attempt/replay.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Retries {
 public:
  /// `rule` retries, and outlives it; the other arguments are as Replay's constructor needs them.
  Retries(const routing::Rule& rule, const base::ByteQueue& body, std::uint64_t replayBound,
          processing::BufferRoom& room, processing::Waker waker)
      : replay(body, replayBound, room, waker), rule_(rule) {}

  /// Returns the answer to a request whose retry is forbidden by a policy of the Backend.
  static base::Error constrained();

  bool left() const { return made_ < rule_.retry->attempts; }
  /// Returns true if the rule retries for that response. It does not if a gateway behind this one has done so: the
  /// attempts of gateways in a row would multiply.
  bool refuses(const http::ResponseHead& head) const { return covers(head) && !isFinalBehind(head.headers); }
  /// Returns true if a response that is kept is a failure in spite of the retries, or one for which there were none
  /// left.
  bool isFinal(const http::ResponseHead& head) const {
    constexpr std::uint16_t kErrors = 400;
    return covers(head) || (made_ > 0 && head.status >= kErrors);
  }
  /// Returns the pause between the attempt that failed and the next: at least `backoff`, twice as long each time up to
  /// a bound, and up to a quarter more by `random`, so that requests which failed together do not come back together.
  base::Duration pause(std::uint64_t random) const;

  /// Plans one more attempt, at that time and to that weighted backend. `place` is its place in the retry budget, if it
  /// needs one.
  void plan(base::MonotonicTime due, const routing::WeightedBackend& next, std::optional<routing::ActiveRetry> place) {
    ++made_;
    place_ = std::move(place);
    due_ = due;
    next_ = &next;
  }
  /// Returns the weighted backend of the planned attempt. Valid once one is planned.
  const routing::WeightedBackend& next() const { return *next_; }
  /// Returns when the planned attempt is due; max() if none waits for its time.
  base::MonotonicTime due() const { return due_; }
  /// Called when an attempt begins. Returns true if it was a planned one.
  bool begin() { return std::exchange(due_, base::MonotonicTime::max()) != base::MonotonicTime::max(); }

  /// Returns the weighted backend of the next attempt: one that has not failed if there is one, else another than
  /// `failed`, else that one again. chooseAnother(std::uint64_t) chooses a weighted backend that is not in a set (a bit
  /// each, by position), or returns nullptr.
  template <typename ChooseAnother>
  const routing::WeightedBackend& choose(const routing::WeightedBackend& failed, ChooseAnother&& chooseAnother) {
    const std::uint64_t last = bitOf(failed);
    tried_ |= last;
    for (const std::uint64_t avoided : {tried_, last}) {
      if (const routing::WeightedBackend* backend = chooseAnother(avoided)) return *backend;
    }
    return failed;
  }
  /// Called once for each failed attempt of a rule with a fail-over. Returns the weighted backends that
  /// RetryPolicy::attemptsPerPriority leaves out of the next attempt, a bit each: those of all other priorities until
  /// the one of `failed` has had its attempts, then those of the priorities that have had theirs.
  std::uint64_t leftOut(const routing::WeightedBackend& failed);
  /// Returns true if an attempt at that weighted backend has failed.
  bool hasTried(const routing::WeightedBackend& backend) const { return (tried_ & bitOf(backend)) != 0; }

  /// Returns the weighted backends at which attempts have failed, a bit each by position.
  std::uint64_t tried() const { return tried_; }

  /// Records that an attempt at that endpoint has failed.
  void avoid(const net::Address& endpoint) { avoided_ = endpoint; }
  /// Returns the endpoint that failed last, or nullptr. Another endpoint may do better.
  const net::Address* avoided() const { return avoided_ ? &*avoided_ : nullptr; }

  /// Gives the place of the attempt that has ended back to its budget, before another one is asked for.
  void giveBack() { place_.reset(); }
  /// Called when there will be no further attempt.
  void settle() {
    replay.release();
    giveBack();
  }

  Replay replay;

 private:
  /// Returns true if the rule names the HTTP or gRPC status of the answer.
  bool covers(const http::ResponseHead& head) const;
  std::size_t positionOf(const routing::WeightedBackend& backend) const {
    return static_cast<std::size_t>(&backend - rule_.backends.data());
  }
  std::uint64_t bitOf(const routing::WeightedBackend& backend) const { return std::uint64_t{1} << positionOf(backend); }

  const routing::Rule& rule_;
  std::uint32_t made_ = 0;
  std::uint64_t tried_ = 0;           // weighted backends, a bit each
  std::uint32_t attemptsHere_ = 0;    // that have failed in a row at Backends of one priority
  std::uint64_t priority_ = 0;        // the weighted backends of that priority
  std::uint64_t leftPriorities_ = 0;  // those of priorities that have had their attempts
  const routing::WeightedBackend* next_ = nullptr;
  std::optional<net::Address> avoided_;
  std::optional<routing::ActiveRetry>
      place_;  // the place in the retry budget of the current or planned attempt, if that is a retry
  base::MonotonicTime due_ = base::MonotonicTime::max();
};

}  // namespace sluice::exchange
