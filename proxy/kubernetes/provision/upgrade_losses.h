// Finds the losses of the Gateways of a configuration if a controller of this version ran their Pods: Secrets that the
// Pods could not read, and requested properties that the Pods would not have.
//
// A pure function.
#pragma once

#include <string>
#include <vector>

#include "config/load/object_set.h"
#include "proxy/processing/factory.h"

namespace sluice::kubernetes {

struct UpgradeLosses {
  struct LostSecret {
    std::string gateway;  // "Gateway team/egress"
    std::string nameSpace;
    std::string name;
    std::string grant;  // the ReferenceGrant that keeps it, in YAML
  };
  struct RefusedGateway {
    std::string gateway;
    std::string why;
  };

  std::vector<LostSecret> secrets;
  std::vector<RefusedGateway> gateways;

  bool empty() const { return secrets.empty() && gateways.empty(); }
};

/// `controllerNamespace` is that of the controller. The Secrets themselves need not be in the set.
UpgradeLosses upgradeLosses(const config::ObjectSet& set, const std::string& controllerNamespace,
                            const processing::BuiltinTypes& processors);

}  // namespace sluice::kubernetes
