// sluice.dev/DirectResponse:v1: answers every request that comes to it with an error, so that none goes to a Backend.
//
// config: {status: 400 to 599, detail: text}. By default the request is denied with 403. In a rule without backendRefs
// it is like `return 403` in nginx and a direct response in Envoy.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType directResponse();

}  // namespace sluice::filters
