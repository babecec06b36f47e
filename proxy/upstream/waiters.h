// A pool tells waiting requests through a WaiterSink. Each table of requests implements one.
#pragma once

#include "proxy/base/error.h"
#include "proxy/http/codec.h"

namespace sluice::upstream {

class WaiterSink {
 public:
  virtual ~WaiterSink() = default;
  /// Called when there is a connection, or when addresses are known: acquire() or resolve() may be called again.
  /// Returns false if the token belongs to no request any more.
  virtual bool onPoolReady(http::Token waiter) = 0;
  /// Called when no connection will come. Returns false like onPoolReady().
  virtual bool onPoolFailed(http::Token waiter, const base::Error& error) = 0;
};

}  // namespace sluice::upstream
