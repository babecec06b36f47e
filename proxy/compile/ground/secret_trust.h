// Says which Secrets the Pods of a Gateway may be made of: whoever runs Pods can read what they read.
//
// Where a controller keeps the Pods, only namespaces that the settings trust (provisioning.trustedNamespaces; by
// default that of the controller) may have Pods that read whatever routes and Backends let them use. Pods of a Gateway
// elsewhere read a Secret of another namespace only if a ReferenceGrant there is from Gateways of theirs to it, besides
// the grants by which routes, Backends and processors use it.
#pragma once

#include <optional>
#include <string_view>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// Returns true if Pods of Gateways in that namespace may read what their routes lead to.
bool isTrusted(const config::Model& model, std::string_view nameSpace);

class SecretTrust {
 public:
  /// Both outlive it.
  SecretTrust(const config::Model& model, const config::Gateway& gateway)
      : model_(model), gateway_(gateway), trusted_(isTrusted(model, gateway.meta.nameSpace)) {}

  bool permits(const base::ObjectNames::value_type& secret) const;
  /// The object whose condition has a fault. It learns the name of a Secret in its own namespace, and of one in a
  /// namespace that it names itself no more than that.
  struct ToldObject {
    std::string_view nameSpace;
    std::string_view named = {};  // another namespace that it names
  };
  /// Returns RefNotPermitted with the grant that lacks for the first of the Secrets that the Pods may not read; nullopt
  /// if they may read all.
  std::optional<Fault> faultOf(const base::ObjectNames& secrets, const ToldObject& object) const;
  /// Returns true if the Pods may read all of them.
  bool permitsAll(const base::ObjectNames& secrets) const;
  /// Removes those that the Pods may not read.
  base::ObjectNames permitted(const base::ObjectNames& secrets) const;

 private:
  const config::Model& model_;
  const config::Gateway& gateway_;
  const bool trusted_;
};

}  // namespace sluice::compile
