// sessionPersistence: of a rule, and the key that all of them are sealed by.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "config/model.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/routing/compile_route.h"
#include "proxy/routing/fault.h"
#include "proxy/routing/session_policy.h"

namespace sluice::routing {

/// Which rule it is.
struct RuleName {
  std::string_view kind;
  const config::ObjectMeta& route;
  std::uint32_t index;
};

/// Null if the rule has none. Fault: UnsupportedValue for a header field that is not to be had.
Resolved<std::shared_ptr<const SessionPolicy>> compileSession(const config::HttpRouteRule& rule, const RuleName& name);
Resolved<std::shared_ptr<const SessionPolicy>> compileSession(const config::GrpcRouteRule& rule, const RuleName& name);

/// By what settings.sessionKey names; null if it names nothing.
Resolved<std::shared_ptr<const pki::ValueSealer>> sessionSealer(const config::Model& model);

/// There is no key: the route with the rules that persist sessions answering 500 for the fault, as for any reference
/// that is broken. nullopt if it has none.
std::optional<RoutePlan> withoutSessions(const RoutePlan& plan, const Fault& fault);

}  // namespace sluice::routing
