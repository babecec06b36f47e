// Checks whether the Backend of a connection is still alive. It gets a PING if requests wait and no bytes come, and is
// suspected of being dead once a request has timed out. Only HTTP/2 has pings, and connections that outlive a request
// that was cut short. The connection owns it; one thread.
#pragma once

#include <string_view>
#include <utility>

#include "proxy/base/clock.h"
#include "proxy/http/codec.h"
#include "proxy/upstream/health/ping_schedule.h"

namespace sluice::upstream {

class Liveness {
 public:
  /// Called when a request begins on a connection that had none.
  void onWait(base::MonotonicTime now) { schedule_.onWait(now); }
  /// Gives the codec the bytes that the Backend has sent. Returns true if they end a suspicion.
  bool feed(http::ClientCodec& codec, std::string_view bytes, base::MonotonicTime now);

  /// Called for a connection of HTTP/2. Returns false if it is suspected already.
  bool suspect() { return !std::exchange(suspect_, true); }
  bool isSuspect() const { return suspect_; }

  /// Returns when check() must be called; max() for never. `silence` is timeouts.upstreamPing.
  base::MonotonicTime due(const http::ClientCodec& codec, base::Duration silence) const;
  /// Pings if that is due. Returns false if the connection is dead.
  bool check(http::ClientCodec& codec, base::Duration silence, base::MonotonicTime now);

 private:
  PingSchedule schedule_;
  bool suspect_ = false;
};

}  // namespace sluice::upstream
