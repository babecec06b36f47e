// Hands the events that another thread has collected to the ring of the main thread.
//
// It is a value; any thread.
#pragma once

#include "proxy/net/worker.h"
#include "proxy/observe/events.h"

namespace sluice::control {

class EventRelay {
 public:
  /// Both belong to the main thread, and outlive the pending calls.
  EventRelay(net::Worker& main, observe::EventRing& ring) : main_(&main), ring_(&ring) {}

  /// Moves all that the batch has to the ring.
  void send(observe::EventBatch& batch) const;

 private:
  net::Worker* main_;
  observe::EventRing* ring_;
};

}  // namespace sluice::control
