// Resolves references from uses of payload processors to the servers that they call.
//
// These are pure functions.
#pragma once

#include <string>

#include "config/model/model.h"
#include "proxy/compile/destinations/destination_catalog.h"
#include "proxy/content/value.h"

namespace sluice::compile {

/// Returns the reference for {group, kind, namespace, name, port}. Without a kind, it refers to a Service.
config::BackendObjectReference serverRefOf(const content::Value& backendRef);

/// Returns the destination for requests over gRPC. A destination that uses HTTP/1.1 becomes UnsupportedProtocol. This
/// is a fault of `field`, and its message begins with `object`.
BackendResult overGrpc(BackendResult found, const std::string& field, const std::string& object);

}  // namespace sluice::compile
