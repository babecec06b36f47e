// Whether the Backend at the other end of a connection still speaks: it is asked by PING where requests wait in
// silence, and suspected of being dead once one has waited in vain. Only HTTP/2 has pings, and connections that outlive
// a request that was cut short. The connection owns it; one thread.
#pragma once

#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/upstream/ping_schedule.h"

namespace sluice::upstream {

class Liveness {
 public:
  /// Called when a request begins on a connection that had none.
  void onWait(base::MonotonicTime now) { schedule_.onWait(now); }
  /// Gives the codec what the Backend has sent. Returns true if that ends a suspicion.
  bool feed(http::ClientCodec& codec, std::string_view bytes, base::MonotonicTime now);

  /// Called for a connection of HTTP/2. Returns false if it is suspected already.
  bool suspect() { return !std::exchange(suspect_, true); }
  bool isSuspect() const { return suspect_; }

  /// Returns when check() has something to do; max() for never. `silence` is timeouts.upstreamPing.
  base::MonotonicTime due(const http::ClientCodec& codec, base::Duration silence) const;
  /// Pings if that is due. Returns false if the connection is dead.
  bool check(http::ClientCodec& codec, base::Duration silence, base::MonotonicTime now);

 private:
  PingSchedule schedule_;
  bool suspect_ = false;
};

}  // namespace sluice::upstream
