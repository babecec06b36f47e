// The attempts of one connection to reach one of its addresses (RFC 8305, "Happy Eyeballs"): the next address is
// dialled beside those that have not answered yet, and the first one that can be used wins.
//
// An address has kDelay until the next one is dialled, and kPatience if its TLS handshake is under way by then. Each
// attempt beside another one takes room for a connection while it lasts; without room, the next address waits for
// kPatience, and then takes the place of the oldest attempt. What fails is noted in FailedAddresses. Owned by the
// connection, until it is open; one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/base/error.h"
#include "proxy/net/address.h"
#include "proxy/upstream/connection_owner.h"
#include "proxy/upstream/upstream_context.h"

namespace sluice::upstream {

/// Returns the error of a connection that may go to none of its addresses.
base::Error prohibited(const net::Address& address);

/// Returns the addresses of the plan's hostname, with ports, in the order in which a connection dials them.
net::Addresses dialOrder(UpstreamContext& owner, const routing::BackendPlan& plan, net::Addresses known);

/// Counts a TLS handshake with the cluster's Backend; does nothing without TLS.
void countHandshake(UpstreamContext& owner, PoolOwner& cluster, std::string_view result, bool resumed);

/// What a race tells its connection, which outlives it.
struct DialEvents {
  std::function<void(std::unique_ptr<net::Transport>)> dialled;  // once
  std::function<void()> touch;                                   // proceed() has something to do
};

class DialRace {
 public:
  /// The Connection Attempt Delay that RFC 8305 section 5 recommends.
  static constexpr base::Duration kDelay = std::chrono::milliseconds(250);
  /// This is time enough for an address that is far away, or whose first SYN was lost.
  static constexpr base::Duration kPatience = std::chrono::seconds(1);

  /// All outlive it; `addresses` is not empty. The time for all addresses together is over at `end`.
  DialRace(DialEvents events, UpstreamContext& owner, ConnectionOwner& pool, net::Addresses addresses,
           base::MonotonicTime end);
  ~DialRace();
  DialRace(const DialRace&) = delete;
  DialRace& operator=(const DialRace&) = delete;

  /// Lets go of attempts that have failed or are not permitted any more, and begins those that are due. Returns the
  /// error if no address is left. Not from within an event of a transport.
  std::optional<base::Error> proceed();
  /// Returns when to call proceed() and takeSlow() next.
  base::MonotonicTime due() const;
  /// Returns true, once, if the last address has had its time, and requests may find another endpoint.
  bool takeSlow();
  /// Called when the time for all addresses together is over. Returns the error.
  base::Error expire();

  /// Returns the address that was dialled, has failed or has won last.
  const net::Address& address() const { return address_; }
  /// Returns when it was dialled.
  base::MonotonicTime started() const { return started_; }
  /// Returns true if a TLS handshake is under way.
  bool shakesHands() const;

 private:
  class Contender;

  void onOpen(Contender& winner);
  bool hasNext() const { return next_ < addresses_.size(); }
  /// Returns true if the next address is to be dialled now.
  bool isDue();
  /// Dials the next address, or leaves it out. Returns false if it has to wait.
  bool begin();
  /// Takes room for a further attempt. Returns false if there is none.
  bool takePlace();
  void giveBackPlaces();
  void lose(const Contender& attempt, const base::Error& error);
  /// Notes whether the address has failed, as far as that is known by now.
  void note(const Contender& attempt);
  base::MonotonicTime slowAt() const;
  /// Returns when to stop waiting for an attempt alone that began at `start`: half of the time that is left is for
  /// others.
  base::MonotonicTime afterPatience(base::MonotonicTime start, base::Duration patience) const {
    return start + std::min(patience, (end_ - start) / 2);
  }
  /// Returns the error with the number of addresses that have failed.
  base::Error told(base::Error error) const;

  const DialEvents events_;
  UpstreamContext& owner_;
  ConnectionOwner& pool_;
  const net::Addresses addresses_;
  const bool ofName_;
  const base::MonotonicTime end_;
  std::size_t next_ = 0;  // among addresses_
  std::vector<std::unique_ptr<Contender>> attempts_;
  std::size_t places_ = 0;  // that were taken for them
  net::Address address_;
  base::MonotonicTime started_{};
  base::MonotonicTime nextAt_{};  // when the next address is dialled
  std::size_t losses_ = 0;
  std::optional<base::Error> loss_;     // the last one
  std::optional<base::Error> refusal_;  // of the last address that may not be dialled
  bool toldSlow_ = false;
  bool over_ = false;
};

}  // namespace sluice::upstream
