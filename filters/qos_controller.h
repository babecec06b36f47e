// gateway.networking.k8s.io/QoSController:v1: no more requests than agreed, at a rate and at a time (E-12, E-48).
//
// config: {requestsPerMinute, burst, concurrency, key: Backend|Namespace|Header, header}. One budget for the whole
// process, which survives reloads: of each Backend, of each namespace that calls (all that are unknown share one), or
// of each value of a header field (all requests without it share one). Over it: 429 with Retry-After.
// Steps of a Backend, and all of connect and backend-request, count attempts; others count requests.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType qosController();

}  // namespace sluice::filters
