// An EgressPolicy decides which destinations requests may reach. It is a plain value; see model.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"
#include "proxy/base/terms/egress_terms.h"

namespace sluice::config {

/// The model of spec.clientAuthentication.
struct EgressAuthentication {
  ObjectRef secretRef;  // basic.secretRef
  std::string key = ".htpasswd";
  std::string realm = "sluice";
  bool required = true;
  std::string path;  // "spec.clientAuthentication"
};

/// It targets Gateways and their listeners, and HTTPRoutes, GRPCRoutes and named rules of these. All policies for a
/// request take effect together.
struct EgressPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "EgressPolicy";
  static constexpr bool kApplyTogether = true;
  ObjectMeta meta;
  base::EgressTerms terms;
  std::vector<std::string> rulePaths;  // "spec.rules[0]"
  std::optional<EgressAuthentication> clientAuthentication;
  std::vector<UnsupportedField> unsupported;
};

}  // namespace sluice::config
