// sluice.dev/BodyRouter:v1: a value of a JSON body or a form, such as the `model` of the common inference APIs, becomes
// a header field or a route hint, and the route is matched again by it.
//
// config: {pointer (/model)
//
// jsonPath, header (x-gateway-model-name), routeHint, maxBodyBytes}. Bodies that are neither by their Content-Type pass
// unread, and of a form only the beginning is read, so that uploads of any length work.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType bodyRouter();

}  // namespace sluice::filters
