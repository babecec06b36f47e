// A HeadAccount bounds the memory that the heads and trailers of one client connection's requests hold, from their
// first decoded bytes on, and a HeadCharge is the part of it that one of them has taken.
//
// Small references to a large entry of HPACK's table would otherwise let a client occupy much memory. The owner of a
// connection hands an account to its codec, which charges a head as it grows, and hands the charge over together with
// the head. The account outlives the codec; one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "proxy/base/arena.h"
#include "proxy/base/error.h"
#include "proxy/http/limits.h"

namespace sluice::http {

class HeadAccount {
 public:
  /// Takes room for `bytes` more. Returns the bound that they would exceed, if any; then nothing was taken.
  virtual std::optional<Limit> take(std::size_t bytes) = 0;
  virtual void giveBack(std::size_t bytes) = 0;

 protected:
  ~HeadAccount() = default;
};

/// Gives its bytes back when it is destroyed. A charge that was moved from has taken nothing, and may be used again.
class HeadCharge {
 public:
  /// This much of a head is free: it is part of what a connection or a request costs, and other limits bound how many
  /// of those there are. So a client whose heads are small is never refused.
  static constexpr std::size_t kFree = base::Arena::kFewBytes;

  /// Without an account everything is free.
  explicit HeadCharge(HeadAccount* account = nullptr) : account_(account) {}
  HeadCharge(HeadCharge&& other) noexcept : account_(other.account_), taken_(std::exchange(other.taken_, 0)) {}
  HeadCharge& operator=(HeadCharge&& other) noexcept {
    release();
    account_ = other.account_;
    taken_ = std::exchange(other.taken_, 0);
    return *this;
  }
  HeadCharge(const HeadCharge&) = delete;
  HeadCharge& operator=(const HeadCharge&) = delete;
  ~HeadCharge() { release(); }

  /// Raises the charge to that of a head of `held` bytes. Returns the bound that it would exceed, if any; then the
  /// charge is unchanged.
  std::optional<Limit> reach(std::size_t held) {
    const std::size_t wanted = held - std::min(held, kFree);
    if (account_ == nullptr || wanted <= taken_) return std::nullopt;
    if (const std::optional<Limit> reached = account_->take(wanted - taken_)) return reached;
    taken_ = wanted;
    return std::nullopt;
  }
  void release() {
    if (taken_ > 0) account_->giveBack(std::exchange(taken_, 0));
  }
  /// Returns the charged bytes, which the caller gives back from now on.
  std::size_t takeOver() { return std::exchange(taken_, 0); }

 private:
  HeadAccount* account_;
  std::size_t taken_ = 0;
};

/// Returns the error of a head or of trailers for which an account has no room.
inline base::Error noRoomForHead(Limit limit) {
  return base::Error(base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                     "the heads of requests under way hold too much memory")
      .ofLimit(limitName(limit));
}
inline bool isHeadMemory(Limit limit) { return limit == Limit::kHeaderMemory || limit == Limit::kHeaderMemoryTotal; }

}  // namespace sluice::http
