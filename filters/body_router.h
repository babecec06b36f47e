// sluice.dev/BodyRouter:v1: a value of a JSON body, such as the `model` of the common inference APIs, becomes a header
// field or a route hint, and the route is matched again by it.
//
// config: {pointer (/model)
//
// jsonPath, header (x-gateway-model-name), routeHint, maxBodyBytes}. Bodies that are not JSON by their Content-Type
// pass unread, so that uploads of any length work.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType bodyRouter();

}  // namespace sluice::filters
