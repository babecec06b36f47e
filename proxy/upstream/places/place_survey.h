// A survey shows which clients hold the places of a Backend (limits.backendRequests), and chooses the request that
// gives way when none is left.
//
// While places are short, no client keeps more than its share: one that wants a place gets the next one of a client
// that holds two more than it does, or is refused. The request that gives way is one whose client does not send its
// body or does not take its response. It is the request of the client with most places that has been stalled for
// longest. A request that waits for its Backend never gives way. Requests of the same client take places from each
// other only if they have been stalled for very long. A value; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/net/address.h"
#include "proxy/upstream/places/place_reports.h"

namespace sluice::upstream {

/// The client whose request has a place, and the time since when that client has held the request up.
struct PlaceClaim {
  net::ClientNetwork client = net::kOwnNetwork;
  base::MonotonicTime owesSince = base::MonotonicTime::max();  // max(): it waits for its Backend
};

/// A request that has not moved since then.
struct StalledRequest {
  http::Token holder;
  base::MonotonicTime since;
};

class PlaceSurvey {
 public:
  /// Shorter stalls occur on any network.
  static constexpr base::Duration kStalled = std::chrono::milliseconds(250);
  /// After this long, a request gives way to others of its own client.
  static constexpr base::Duration kStuck = std::chrono::seconds(5);
  /// How many places more another client must hold: with one more, the two would only change places.
  static constexpr std::uint64_t kLead = 2;

  explicit PlaceSurvey(base::MonotonicTime made) : made_(made) {}
  base::MonotonicTime made() const { return made_; }

  void add(http::Token holder, const PlaceClaim& claim);
  /// Returns how many places each client holds by the requests that were added.
  ClientTotals totals() const;
  /// Sets how many places they hold at all workers. `complete` is false if some workers have not counted.
  void weigh(const ClientTotals& totals, bool complete);

  std::uint64_t heldBy(net::ClientNetwork client) const;
  /// Returns true if some client may hold kLead places more than that client, which holds `held`, or if a request of
  /// its own is stuck.
  bool favours(net::ClientNetwork client, std::uint64_t held, base::MonotonicTime now) const;
  /// Chooses the request that gives way to one of that client now, and forgets it. Linear in the number of clients.
  std::optional<StalledRequest> choose(net::ClientNetwork client, std::uint64_t held, base::MonotonicTime now);

 private:
  struct Share {
    std::uint64_t held = 0;
    std::vector<StalledRequest> stalled;  // a heap: the one that has been stalled for longest comes first

    bool hasStalled(base::Duration time, base::MonotonicTime now) const {
      return !stalled.empty() && now - stalled.front().since >= time;
    }
  };

  static bool isLater(const StalledRequest& a, const StalledRequest& b) { return a.since > b.since; }

  base::MonotonicTime made_;
  bool complete_ = true;
  std::map<net::ClientNetwork, Share> shares_;
};

}  // namespace sluice::upstream
