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

/// Returns the destination for requests over gRPC. One that speaks HTTP/1.1 becomes UnsupportedProtocol, a fault of
/// `field`, whose message begins with `object`.
BackendResult overGrpc(BackendResult found, const std::string& field, const std::string& object);

}  // namespace sluice::compile
