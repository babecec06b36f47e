// ClientMemory bounds the memory that the bodies of exchanges take: limits.connectionMemory for each connection of a
// client, limits.connectionMemoryTotal for all of them.
//
// It counts bytes that have come from one side and that the other side has not taken, in both directions, also while
// they pass through processors' steps. Bodies that a step keeps are charged to processorBufferTotal instead, and copies
// for mirrors are bounded by exchangeBuffer.
//
// HTTP/2 grants a stream its initial window before it is known whether its bytes will be taken, and a grant cannot be
// called back. So that the sum stays near its bound, a body begins with a first window, which is the share of a stream
// in connectionMemory. Once its consumer has taken half of that, the body is widened to the whole streamWindow,
// provided that all of it fits below both bounds, and is charged with all of it from then on. So streams that are not
// read hold connectionMemory in each direction at most. Streams that were read, were widened and are not read any more
// hold the bytes that they are charged with, which is connectionMemory once more. The price is one WINDOW_UPDATE for
// each body of HTTP/2 that is longer than two first windows.
//
// While a bound is reached, a body that holds half of a first window or more gets no credit until it holds less, and
// its exchange is reset if that takes longer than timeouts.responseIdle. A body that holds less goes on, so a client
// that holds nothing is never refused. Credit for HTTP/2 connections as a whole is not withheld (h2_session.h).
//
// Exchanges charge the account of their connection in units, so messages that are smaller than a unit touch nothing. An
// account charges the total in larger units, because all workers share that. An account belongs to its connection and
// is used by its thread alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "proxy/base/settings.h"

namespace sluice::exchange {

/// The number of bytes of a body that may be under way.
struct BodyWindow {
  std::uint64_t first;  // from the beginning on
  std::uint64_t whole;  // once the body is widened

  /// A body that holds this much or more gets no credit while a bound is reached.
  std::uint64_t much() const { return first / 2; }
};

BodyWindow bodyWindowOf(const base::LimitSettings& limits);

/// The bytes that all accounts of the process have taken. Any thread may call it.
class ClientMemoryTotal {
 public:
  explicit ClientMemoryTotal(std::uint64_t most) : most_(most) {}

  void setMost(std::uint64_t most) { most_.store(most, std::memory_order_relaxed); }
  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  bool hasRoomFor(std::uint64_t bytes) const { return used() + bytes <= most_.load(std::memory_order_relaxed); }
  void take(std::uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void giveBack(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> most_;
  std::atomic<std::uint64_t> used_{0};
};

/// The account of one connection. Gives everything back to the total when it goes.
class ClientMemory {
 public:
  /// An exchange is charged in units of this many bytes.
  static constexpr std::uint64_t kUnit = 4 * 1024;

  explicit ClientMemory(ClientMemoryTotal& total) : total_(total) {}
  ClientMemory(const ClientMemory&) = delete;
  ClientMemory& operator=(const ClientMemory&) = delete;
  ~ClientMemory() { total_.giveBack(taken_); }

  /// Changes the charge of an exchange from `before` units to `after`.
  void charge(std::uint32_t before, std::uint32_t after) {
    used_ = used_ - before * kUnit + after * kUnit;
    if (used_ > taken_ || used_ == 0 || taken_ - used_ >= 2 * kUnitOfTotal) follow();
  }
  std::uint64_t used() const { return used_; }
  /// Returns true if `bytes` more stay below both bounds.
  bool hasRoomFor(std::uint64_t bytes, std::uint64_t most) const {
    return used_ + bytes <= most && total_.hasRoomFor(bytes);
  }
  /// Returns the key in settings.yaml of the bound that is reached; empty if none is.
  std::string_view reached(std::uint64_t most) const;

 private:
  static constexpr std::uint64_t kUnitOfTotal = 64 * 1024;

  void follow();

  ClientMemoryTotal& total_;
  std::uint64_t used_ = 0;
  std::uint64_t taken_ = 0;  // from the total
};

}  // namespace sluice::exchange
