// The object that the `data` of every libuv handle in this folder points at, as a LoopHandle*. Internal to proxy/net.
//
// A handle has an owner that normally closes it; when the worker's loop ends, the worker closes the remaining ones by
// this one call.
#pragma once

namespace sluice::net {

class LoopHandle {
 public:
  /// Starts to close the handle and detaches it from its owner, which may live on and does nothing from then on.
  virtual void onLoopEnds() = 0;

 protected:
  ~LoopHandle() = default;
};

}  // namespace sluice::net
