// The properties that the controller needs of an object with its label (kManagedByLabel). Anybody may write that label.
//
// A value; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/content/value.h"
#include "proxy/kubernetes/provision/provisioned_object.h"

namespace sluice::kubernetes {

struct FoundObject {
  std::string nameSpace;  // empty for kinds without one
  std::string path;
  std::string uid;
  /// Changes if anybody changes the applied fields.
  std::string version;
  std::vector<std::string> owners;              // uids
  std::pair<std::string, std::string> gateway;  // namespace and name that its labels have; empty if they have none
  bool deleted = false;                         // it is being deleted, and a finalizer keeps it

  /// Returns true if it is the provisioned object. An object of another Gateway may have had its name.
  bool belongsTo(const ProvisionedObject& wanted) const;
};

/// Reads an object, of which the metadata is enough.
FoundObject foundObject(const ProvisionedKind& kind, const content::Value& object);

}  // namespace sluice::kubernetes
