// Counts the ejections of Backends and endpoints, and records an event for each rule that ejects, at the Backend or
// Service.
#pragma once

#include "proxy/base/clock.h"
#include "proxy/exchange/transaction/observer.h"
#include "proxy/observe/events.h"
#include "proxy/observe/metrics.h"

namespace sluice::exchange {

void tellEjection(const EjectionReport& report, observe::MetricShard& metrics, observe::EventBatch& events,
                  base::WallTime now);

}  // namespace sluice::exchange
