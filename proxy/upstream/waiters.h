// A pool tells those who wait for a connection through a WaiterSink. Each table of requests implements one.
#pragma once

#include "proxy/base/error.h"
#include "proxy/http/codec.h"

namespace sluice::upstream {

class WaiterSink {
 public:
  virtual ~WaiterSink() = default;
  /// A connection may be had, or addresses: acquire() or resolve() again. False if nobody answers to the token any
  /// more.
  virtual bool onPoolReady(http::Token waiter) = 0;
  /// None will come. False as above.
  virtual bool onPoolFailed(http::Token waiter, const base::Error& error) = 0;
};

}  // namespace sluice::upstream
