// What an exchange whose rule retries (HTTPRouteRule.retry, GEP-1731) remembers from one attempt to the next. Owned by
// the exchange; others have none.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/base/clock.h"
#include "proxy/exchange/attempt/replay.h"
#include "proxy/net/address.h"
#include "proxy/routing/snapshot.h"

namespace sluice::exchange {

class Retries {
 public:
  /// `rule` retries, and outlives it; `body` as Replay wants it.
  Retries(const routing::Rule& rule, const base::ByteQueue& body, std::size_t replayBound)
      : replay(body, replayBound), rule_(rule) {}

  bool left() const { return made_ < rule_.retry->attempts; }
  /// The rule wants no client to see that status.
  bool refuses(std::uint16_t status) const { return rule_.retry->covers(status); }
  /// Between the attempt that failed and the next: at least `backoff`, twice as long each time up to a bound, and up to
  /// a quarter more by `random`, so that requests which failed together do not come back together.
  base::Duration pause(std::uint64_t random) const;

  /// One more attempt will be made, at that time and share.
  void plan(base::MonotonicTime due, const routing::WeightedBackend& next) {
    ++made_;
    due_ = due;
    next_ = &next;
  }
  /// Once planned.
  const routing::WeightedBackend& next() const { return *next_; }
  /// max() if none is waited for.
  base::MonotonicTime due() const { return due_; }
  void begin() { due_ = base::MonotonicTime::max(); }

  /// The next attempt's share, by weight: one that has not failed if there is one, else another than `failed`, else
  /// that one again.
  const routing::WeightedBackend& choose(const routing::WeightedBackend& failed, std::uint64_t random);
  /// An attempt at that share has failed.
  bool hasTried(const routing::WeightedBackend& share) const { return (tried_ & bitOf(share)) != 0; }

  /// An attempt there has failed.
  void avoid(const net::Address& endpoint) { avoided_ = endpoint; }
  /// The last one, or nullptr: another endpoint may do better.
  const net::Address* avoided() const { return avoided_ ? &*avoided_ : nullptr; }

  Replay replay;

 private:
  std::uint64_t bitOf(const routing::WeightedBackend& share) const {
    return std::uint64_t{1} << (&share - rule_.backends.data());
  }

  const routing::Rule& rule_;
  std::uint32_t made_ = 0;
  std::uint64_t tried_ = 0;  // shares, a bit each
  const routing::WeightedBackend* next_ = nullptr;
  std::optional<net::Address> avoided_;
  base::MonotonicTime due_ = base::MonotonicTime::max();
};

}  // namespace sluice::exchange
