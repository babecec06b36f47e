// sluice.dev/ExtProc:v1, and the engine `ext-proc` of the catalog: a server outside of the gateway reads and edits
// requests and responses, or refuses them, by Envoy's external-processing protocol (envoy.service.ext_proc.v3).
//
// A use that names no phase runs in request-headers, request-body, response-headers and response-body, by its
// processingMode, with one stream for each exchange.
#pragma once

#include "proxy/processing/factory.h"

namespace sluice::filters {

processing::BuiltinType extProc();

}  // namespace sluice::filters
