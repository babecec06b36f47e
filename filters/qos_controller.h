// gateway.networking.k8s.io/QoSController:v1: limits requests by rate and by concurrency.
//
// config: {requestsPerMinute, burst, concurrency, key: Backend|Namespace|ServiceAccount|Principal|Header, header,
// overrides: [{key, requestsPerMinute, burst, concurrency}]}. Budgets belong to the whole process and survive reloads.
// There is one for each Backend, for each calling namespace, service account or principal (callers without one share
// one), or for each value of a header field (requests without it share one). An override replaces the numbers for the
// key with that text. A request over its budget gets 429 with Retry-After. Steps of a Backend, and all of connect and
// backend-request, count attempts; others count requests.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType qosController();

}  // namespace sluice::filters
