#include "proxy/control/report/event_relay.h"

#include <memory>
#include <utility>
#include <vector>

namespace sluice::control {

void EventRelay::send(observe::EventBatch& batch) const {
  if (batch.empty()) return;
  const auto events = std::make_shared<std::vector<observe::Event>>(batch.take());
  main_->post([ring = ring_, events, dropped = batch.takeDropped()] { ring->add(std::move(*events), dropped); });
}

}  // namespace sluice::control
