// Objects of a tenant in the namespace `team`, for tests of what the tenant's Gateways may read.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "test/compile/compile_world.h"

namespace sluice::compile::test {

/// Returns the document with its metadata in that namespace.
inline std::string inNamespace(std::string_view nameSpace, std::string_view document) {
  return with(document, "metadata: {", "metadata: {namespace: " + std::string(nameSpace) + ", ");
}

inline std::string grantIn(const std::string& in, const std::string& from, const std::string& to) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {namespace: " + in + ", name: g-" +
         std::to_string(std::hash<std::string>()(from + to) % 1000) + "}\nspec: {from: [" + from + "], to: [" + to +
         "]}\n";
}
inline std::string fromRoutes() { return "{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: team}"; }
inline std::string fromGateways() { return "{group: gateway.networking.k8s.io, kind: Gateway, namespace: team}"; }

}  // namespace sluice::compile::test
