// A right of Kubernetes' RBAC: to do something with objects of a resource.
#pragma once

#include <compare>
#include <ostream>
#include <string>

namespace sluice::test {

/// Its namespace is empty if it is about all of them, its name if it is about each.
struct AccessRight {
  std::string verb;
  std::string resource;  // "gateways.gateway.networking.k8s.io", with "/status" behind it
  std::string nameSpace;
  std::string name;

  auto operator<=>(const AccessRight&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const AccessRight& right) {
    return out << right.verb << " " << right.resource << " " << right.nameSpace << "/" << right.name;
  }
};

}  // namespace sluice::test
