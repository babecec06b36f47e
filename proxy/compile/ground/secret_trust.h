// Decides which Secrets the Pods of a Gateway may use. This is restricted because a user who runs Pods can read
// everything that they read.
//
// Where a controller keeps the Pods, the settings have a list of trusted namespaces (provisioning.trustedNamespaces; by
// default the namespace of the controller). Pods of Gateways in these namespaces may read all Secrets that their routes
// and Backends may use. Pods of other Gateways may read a Secret of another namespace only if a ReferenceGrant there
// permits Gateways of their namespace to refer to it. The grants for routes, Backends and processors are needed
// besides.
#pragma once

#include <optional>
#include <string_view>

#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/ground/fault.h"

namespace sluice::compile {

/// Returns true if Pods of Gateways in that namespace may read every Secret that their routes lead to.
bool isTrusted(const config::Model& model, std::string_view nameSpace);

class SecretTrust {
 public:
  /// Both must outlive it.
  SecretTrust(const config::Model& model, const config::Gateway& gateway)
      : model_(model), gateway_(gateway), trusted_(isTrusted(model, gateway.meta.nameSpace)) {}

  bool permits(const base::ObjectNames::value_type& secret) const;
  /// The object whose condition reports a fault. The fault gives the namespace of a Secret only if it is the object's
  /// own, or one that the object names itself. It gives the name of a Secret only in the object's own namespace.
  struct ToldObject {
    std::string_view nameSpace;
    std::string_view named = {};  // another namespace that the object names
  };
  /// Returns RefNotPermitted for the first of the Secrets that the Pods may not read, with the missing grant; nullopt
  /// if they may read all.
  std::optional<Fault> faultOf(const base::ObjectNames& secrets, const ToldObject& object) const;
  /// Returns true if the Pods may read all of them.
  bool permitsAll(const base::ObjectNames& secrets) const;
  /// Returns the Secrets without those that the Pods may not read.
  base::ObjectNames permitted(const base::ObjectNames& secrets) const;

 private:
  const config::Model& model_;
  const config::Gateway& gateway_;
  const bool trusted_;
};

}  // namespace sluice::compile
