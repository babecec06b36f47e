// References from uses of payload processors to the servers that they ask.
//
// These are pure functions.
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/compile/destinations/destination_catalog.h"
#include "proxy/content/value.h"

namespace sluice::compile {

/// Returns the reference that {group, kind, namespace, name, port} means, a Service if it has no kind.
config::BackendObjectReference serverRefOf(const content::Value& backendRef);

/// Returns the destination for requests over gRPC; `named` is what its faults call it. A destination that speaks
/// HTTP/1.1 becomes UnsupportedProtocol.
BackendResult overGrpc(BackendResult found, const std::string& named);

}  // namespace sluice::compile
