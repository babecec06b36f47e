// The objects that a configuration names and that are not read as a whole kind: Secrets and ConfigMaps, so that the
// gateway needs no right to list all of them, and Services, of which a cluster has many more than the gateway uses.
//
// Values and pure functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "config/load/object_set.h"
#include "config/model/model.h"
#include "proxy/base/object_names.h"
#include "proxy/compile/gateways/gateway_secrets.h"

namespace sluice::kubernetes {

struct NamedObjects {
  using Names = base::ObjectNames;
  Names secrets = {};
  Names configMaps = {};
  Names services = {};

  friend bool operator==(const NamedObjects&, const NamedObjects&) = default;
};

/// Returns the objects that the readable objects of the set name, even if no ReferenceGrant permits the reference.
/// References in a ConfigMap with settings, or with entries of a catalog, are included.
NamedObjects namedObjects(const config::ObjectSet& set);

/// A Gateway, by its kind, namespace and name.
using NamedGateway = std::tuple<std::string, std::string, std::string>;

/// The names that the objects of each Gateway refer to and are permitted to use.
struct NamesOfGateways {
  NamedObjects common = {};                       // of the settings and the catalog
  NamedObjects::Names secretsOfSettings = {};     // of the class: its keys, and those of its extension servers
  std::map<NamedGateway, NamedObjects> own = {};  // of each Gateway, of its routes, and of the objects that these reach
  /// The namespaces of each Gateway, of its routes, and of the objects to which these may refer. Only Gateways in the
  /// set have an entry.
  std::map<NamedGateway, std::set<std::string>> reached = {};
};

/// Returns the names that the objects of the set refer to, if a ReferenceGrant of `model`, which was made of the set,
/// permits it where one is needed. `secrets` and `routes` are results of compiling the model. The Secrets of a Gateway
/// are those in `secrets` and, if its namespace is trusted, those of the settings; other references to Secrets are
/// ignored. The routes of a Gateway are only those in `routes`, whatever Gateways a route names.
NamesOfGateways namesOfGateways(const config::ObjectSet& set, const config::Model& model,
                                const compile::SecretsOfGateways& secrets, const compile::RoutesOfGateways& routes);

}  // namespace sluice::kubernetes
