// sessionPersistence: of a rule, and the key that all of them are sealed by.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/pki/sealed_value.h"
#include "proxy/routing/policy/session_policy.h"

namespace sluice::control {

/// Which rule it is.
struct RuleName {
  std::string_view kind;
  const config::ObjectMeta& route;
  std::uint32_t index;
};

/// Null if the rule has none. Fault: UnsupportedValue for a header field that is not to be had.
Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::HttpRouteRule& rule,
                                                                       const RuleName& name);
Resolved<std::shared_ptr<const routing::SessionPolicy>> compileSession(const config::GrpcRouteRule& rule,
                                                                       const RuleName& name);

/// By what settings.sessionKey names; null if it names nothing.
Resolved<std::shared_ptr<const pki::ValueSealer>> sessionSealer(const config::Model& model);

}  // namespace sluice::control
