// sluice.dev/ExternalAuth:v1: asks a server, over HTTP or Envoy's gRPC protocol, whether a client may make its request.
//
// config: as in the filter ExternalAuth of an HTTPRoute. It runs before all other steps behind authentication. Over
// HTTP, 200 permits the request, and every other status below 500 denies it with the server's answer. No answer, a
// server's error, and an answer that breaks a rule are failures of the step.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType externalAuth();

}  // namespace sluice::filters
