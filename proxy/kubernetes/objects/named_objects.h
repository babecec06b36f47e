// The objects that a configuration names and that are not read as a whole kind: Secrets and ConfigMaps, because nobody
// needs to be allowed to list all of them, and Services, of which a cluster has many more than the gateway uses.
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

/// Returns what the objects of the set name, as far as they can be read: also what they name without being permitted
/// to. What a ConfigMap with settings, or with entries of a catalog, names counts too.
NamedObjects namedObjects(const config::ObjectSet& set);

/// A Gateway, by its kind, namespace and name.
using NamedGateway = std::tuple<std::string, std::string, std::string>;

/// These are the names that the objects of each Gateway have and are permitted to use.
struct NamesOfGateways {
  NamedObjects common = {};                       // of the settings and the catalog
  NamedObjects::Names secretsOfSettings = {};     // of the class: its keys, and those of its extension servers
  std::map<NamedGateway, NamedObjects> own = {};  // of each Gateway, of its routes, and of what these reach
  /// The namespaces of each Gateway, of its routes, and of what these may refer to. That is known of Gateways alone
  /// which the set has.
  std::map<NamedGateway, std::set<std::string>> reached = {};
};

/// Returns what the objects of the set name, without what no ReferenceGrant of `model`, which was made of the set,
/// permits. A compilation of the model has found `secrets` and `routes`. The Secrets of each Gateway are the former,
/// and where its namespace is trusted those of the settings too; what else names Secrets does not count. No other
/// routes than the latter count for it, whatever Gateways they name.
NamesOfGateways namesOfGateways(const config::ObjectSet& set, const config::Model& model,
                                const compile::SecretsOfGateways& secrets, const compile::RoutesOfGateways& routes);

}  // namespace sluice::kubernetes
