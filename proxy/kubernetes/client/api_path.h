// The paths of an API server's resources. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "config/read/object_kinds.h"

namespace sluice::kubernetes {

/// Returns the name of a kind's resource: "gatewayclasses" for GatewayClass. The kinds of this program and of Gateway
/// API have the regular one, and GatewayParameters is a plural already.
std::string pluralOf(std::string_view kind);

/// Returns "/api/v1" or "/apis/gateway.networking.k8s.io/v1".
std::string apiPath(std::string_view group, std::string_view version);
/// Returns the path of the objects of a kind: of all namespaces if `nameSpace` is empty.
std::string collectionPath(const config::ObjectKind& kind, std::string_view version, std::string_view nameSpace = {});

}  // namespace sluice::kubernetes
