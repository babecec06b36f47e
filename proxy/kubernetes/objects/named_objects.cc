#include "proxy/kubernetes/objects/named_objects.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "config/catalog/config_references.h"
#include "config/load/gateway_settings.h"
#include "config/model/catalog_entry.h"
#include "config/model/client_traffic_policy.h"
#include "config/model/egress_policy.h"
#include "config/read/gateways/settings_reader.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/ground/grants.h"
#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/ground/secret_trust.h"

namespace sluice::kubernetes {
namespace {

/// Goes through the readings of one set.
class NameCollector {
 public:
  NameCollector() = default;
  explicit NameCollector(base::SecretName classKeys) : classKeys_(std::move(classKeys)) {}
  /// Leaves out references that the model's ReferenceGrants do not permit, and routes that a Gateway has not admitted.
  NameCollector(const config::Model& model, const compile::RoutesOfGateways& routes)
      : model_(&model), routes_(&routes) {}

  /// Sees what the settings may be in. It is called for all readings before findSettings().
  void prepare(const config::ObjectReading& reading) {
    if (reading.kind == nullptr) return;
    visit<config::GatewayClass>(reading);
    visit<config::ConfigMap>(reading);
  }

  /// Follows the references in the settings of a class, which have the bounds for the other objects.
  void findSettings() {
    for (const auto& name : classParameters_) addSettings(name);
  }

  void add(const config::ObjectReading& reading) {
    if (reading.kind == nullptr) return;
    visit<config::Gateway>(reading);
    visit<config::HttpRoute>(reading);
    visit<config::GrpcRoute>(reading);
    visit<config::Backend>(reading);
    visit<config::PayloadProcessor>(reading);
    visit<config::PayloadProcessingPipeline>(reading);
    visit<config::ExtensionPolicy>(reading);
    visit<config::BackendTlsPolicy>(reading);
    visit<config::EgressPolicy>(reading);
    visit<config::ClientTrafficPolicy>(reading);
  }

  /// Follows the references in the entries of catalogs.
  NamesOfGateways finish() && {
    for (const auto& name : catalogs_) addCatalog(name);
    for (auto& [gateway, reach] : reach_) {
      NamedObjects& own = names_.own[gateway];
      for (const Name& backend : reach.backends) merge(ofBackends_, backend, own);
      for (const std::string& nameSpace : reach.nameSpaces) merge(ofNamespaces_, nameSpace, own);
      names_.reached[gateway] = std::move(reach.nameSpaces);
    }
    return std::move(names_);
  }

 private:
  using Name = std::pair<std::string, std::string>;
  /// The objects to which the routes of a Gateway refer, and the namespaces of the Gateway, its routes and these
  /// objects.
  struct GatewayReach {
    std::set<Name> backends;
    std::set<std::string> nameSpaces;
  };

  template <typename Key>
  static void merge(const std::map<Key, NamedObjects>& from, const Key& key, NamedObjects& into) {
    const auto found = from.find(key);
    if (found == from.end()) return;
    into.secrets.insert(found->second.secrets.begin(), found->second.secrets.end());
    into.configMaps.insert(found->second.configMaps.begin(), found->second.configMaps.end());
    into.services.insert(found->second.services.begin(), found->second.services.end());
  }

  template <typename Object>
  void visit(const config::ObjectReading& reading) {
    if (!reading.kind->isOf<Object>()) return;
    if (reading.object != nullptr) {
      take(*static_cast<const Object*>(reading.object.get()));
    } else if (reading.rejected != nullptr) {
      if (const Object* legible = reading.rejected->legible<Object>()) take(*legible);
    }
  }

  void take(const config::GatewayClass& each) {
    if (each.controllerName != config::kControllerName || !each.parametersRef) return;
    if (each.parametersRef->kind != config::ConfigMap::kKind) return;
    const Name name{each.parametersRef->nameSpace, each.parametersRef->name};
    names_.common.configMaps.insert(name);
    classParameters_.insert(name);
  }

  void take(const config::Gateway& each) {
    const NamedGateway gateway{std::string(each.meta.kind), each.meta.nameSpace, each.meta.name};
    reach_[gateway].nameSpaces.insert(each.meta.nameSpace);
    into_.assign(1, &names_.own[gateway]);
    for (const config::Listener& listener : each.listeners) {
      if (listener.tls) take(listener.tls->certificateRefs, each.meta);
    }
    if (each.frontend) {
      for (const auto* validation : each.frontend->validations()) take(validation->caCertificateRefs, each.meta);
    }
    if (each.infrastructure.parametersRef) take(*each.infrastructure.parametersRef, each.meta);
    into_.assign(1, &names_.common);
  }

  void take(const config::HttpRoute& each) { takeRoute(each); }
  void take(const config::GrpcRoute& each) { takeRoute(each); }

  /// Without a model nobody asks which Gateway has a name.
  template <typename Route>
  void takeRoute(const Route& route) {
    if (model_ != nullptr) findParents(route);
    for (const auto& rule : route.rules) {
      take(rule.filters, route.meta);
      for (const config::HttpBackendRef& ref : rule.backendRefs) {
        takeDestination(ref.object, route.meta);
        take(ref.filters, route.meta);
      }
    }
    into_.assign(1, &names_.common);
    reached_.clear();
  }

  template <typename Route>
  void findParents(const Route& route) {
    into_.clear();
    for (const config::ParentRef& parent : route.parentRefs) {
      const config::ObjectRef& gateway = parent.object;
      const std::string& nameSpace = gateway.nameSpace.empty() ? route.meta.nameSpace : gateway.nameSpace;
      const NamedGateway named{gateway.kind, nameSpace, gateway.name};
      if (!isAdmitted(route.meta, named)) continue;
      into_.push_back(&names_.own[named]);
      reached_.push_back(&reach_[named]);
      reached_.back()->nameSpaces.insert(route.meta.nameSpace);
    }
  }

  bool isAdmitted(const config::ObjectMeta& route, const NamedGateway& gateway) const {
    if (routes_ == nullptr) return true;
    const auto found = routes_->find(gateway);
    return found != routes_->end() && found->second.contains({std::string(route.kind), route.nameSpace, route.name});
  }

  void take(const config::RouteFilters& filters, const config::ObjectMeta& holder) {
    for (const config::RequestMirrorFilter& mirror : filters.mirrors) takeDestination(mirror.object, holder);
    for (const config::ProcessorFilter& filter : filters.processors) {
      if (const auto* uses = std::get_if<std::vector<config::ProcessorUse>>(&filter)) take(*uses, holder);
    }
  }

  void take(const config::Backend& each) {
    if (model_ != nullptr) into_.assign(1, &ofBackends_[{each.meta.nameSpace, each.meta.name}]);
    take(each.tls, each.meta);
    for (const config::BackendPort& port : each.ports) take(port.tls, each.meta);
    take(each.extensions, each.meta);
    into_.assign(1, &names_.common);
  }

  void take(const std::optional<config::BackendTls>& tls, const config::ObjectMeta& holder) {
    if (!tls) return;
    take(tls->caRefs, holder);
    if (tls->clientCertificateRef) take(*tls->clientCertificateRef, holder);
  }

  void take(const config::PayloadProcessor& each) { takeOfNamespace(each.processors, each.meta); }
  void take(const config::PayloadProcessingPipeline& each) { takeOfNamespace(each.processors, each.meta); }

  void take(const config::ExtensionPolicy& each) { takeOfNamespace(each.processors, each.meta); }
  void take(const config::BackendTlsPolicy& each) { takeOfNamespace(each.tls.caRefs, each.meta); }
  void take(const config::EgressPolicy& each) {
    if (each.clientAuthentication) takeOfNamespace(each.clientAuthentication->secretRef, each.meta);
  }

  void take(const config::ClientTrafficPolicy& each) {
    if (!each.validation) return;
    takeOfNamespace(each.validation->caCertificateRefs, each.meta);
    takeOfNamespace(each.validation->revocationListRefs, each.meta);
  }

  void take(const std::vector<config::ProcessorUse>& uses, const config::ObjectMeta& holder) {
    for (const config::ProcessorUse& use : uses) {
      take(config::referencesIn(use, limits_), holder);
    }
  }

  /// Takes the references of a processor or policy, which applies to objects of its namespace.
  template <typename Names>
  void takeOfNamespace(const Names& names, const config::ObjectMeta& holder) {
    if (model_ != nullptr) into_.assign(1, &ofNamespaces_[holder.nameSpace]);
    take(names, holder);
    into_.assign(1, &names_.common);
  }

  void take(const std::vector<config::ObjectRef>& refs, const config::ObjectMeta& holder) {
    for (const config::ObjectRef& ref : refs) take(ref, holder);
  }

  /// Takes the destination of requests, which is never a Secret or a ConfigMap, even if the reference has such a kind.
  void takeDestination(const config::ObjectRef& ref, const config::ObjectMeta& holder) {
    if (config::isKindOf<config::Backend>(ref.group, ref.kind) ||
        config::isKindOf<config::Service>(ref.group, ref.kind))
      take(ref, holder);
  }

  void take(const config::ObjectRef& ref, const config::ObjectMeta& holder) {
    if (!compile::mayExist(ref) ||
        (model_ != nullptr && !compile::isPermitted(*model_, ref, compile::holderOf(holder))))
      return;
    if (!ref.group.empty() && reached_.empty()) return;
    const Name name{ref.nameSpace.empty() ? holder.nameSpace : ref.nameSpace, ref.name};
    for (GatewayReach* reach : reached_) {
      reach->backends.insert(name);
      reach->nameSpaces.insert(name.first);
    }
    if (!ref.group.empty()) return;
    for (NamedObjects* names : into_) {
      if (ref.kind == config::SecretObject::kKind) names->secrets.insert(name);
      if (ref.kind == config::ConfigMap::kKind) names->configMaps.insert(name);
      if (ref.kind == config::Service::kKind) names->services.insert(name);
    }
  }

  void take(const config::ConfigMap& each) { maps_.try_emplace({each.meta.nameSpace, each.meta.name}, &each); }

  const config::ConfigMap* find(const Name& name) const {
    const auto found = maps_.find(name);
    return found == maps_.end() ? nullptr : found->second;
  }

  void addSettings(const Name& name) {
    const config::ConfigMap* map = find(name);
    const auto entry = map == nullptr ? std::map<std::string, config::ConfigMap::DataEntry>::const_iterator()
                                      : map->data.find(std::string(config::kSettingsKey));
    if (map == nullptr || entry == map->data.end()) return;
    config::Problems ignored;  // load() reports them
    std::optional<base::Settings> settings = config::readSettings(entry->second, {}, ignored);
    if (!settings) return;
    // A use beyond the bounds of the settings is refused, so it is enough that these are not below them.
    limits_.configBytes = std::max(limits_.configBytes, settings->limits.configBytes);
    limits_.references = std::max(limits_.references, settings->limits.references);
    limits_.luaScriptBytes = std::max(limits_.luaScriptBytes, settings->limits.luaScriptBytes);
    for (const base::NamespacedName& ref : settings->processorCatalogs) {
      names_.common.configMaps.emplace(ref.nameSpace, ref.name);
      catalogs_.emplace(ref.nameSpace, ref.name);
    }
    if (!classKeys_.name.empty()) config::useDerivedKeys(classKeys_, *settings);
    if (settings->revisions.keyRef) {
      names_.secretsOfSettings.emplace(settings->revisions.keyRef->nameSpace, settings->revisions.keyRef->name);
    }
    for (const base::ExtensionManager& manager : settings->extensionManagers) {
      if (!manager.tls) continue;
      names_.secretsOfSettings.emplace(manager.tls->authorities.nameSpace, manager.tls->authorities.name);
      if (manager.tls->client)
        names_.secretsOfSettings.emplace(manager.tls->client->nameSpace, manager.tls->client->name);
    }
    if (settings->sessionKey)
      names_.secretsOfSettings.emplace(settings->sessionKey->nameSpace, settings->sessionKey->name);
  }

  void addCatalog(const Name& name) {
    const config::ConfigMap* map = find(name);
    if (map == nullptr) return;
    for (const auto& [key, entry] : map->data) {
      config::Problems ignored;  // the catalog reports them
      std::string type;
      const std::optional<config::CatalogEntry> read =
          config::readCatalogEntry(entry, *map, key, limits_, type, ignored);
      if (!read) continue;
      for (const auto& ref : {read->schemaRef, read->scriptRef}) {
        if (ref) names_.common.configMaps.emplace(ref->nameSpace, ref->name);
      }
    }
  }

  const config::Model* model_ = nullptr;
  const compile::RoutesOfGateways* routes_ = nullptr;
  const base::SecretName classKeys_;  // PodKeeping::classKeys
  base::LimitSettings limits_;        // of the settings, or by default if those are larger
  NamesOfGateways names_;
  std::vector<NamedObjects*> into_{&names_.common};
  // Used only with a model: the references of each Backend, and those of the processors and policies of each namespace.
  std::map<Name, NamedObjects> ofBackends_;
  std::map<std::string, NamedObjects> ofNamespaces_;
  std::map<NamedGateway, GatewayReach> reach_;
  std::vector<GatewayReach*> reached_;  // reached by the route that is being read
  std::set<Name> classParameters_;
  std::set<Name> catalogs_;
  std::map<Name, const config::ConfigMap*> maps_;
};

NamesOfGateways collectNames(const config::ObjectSet& set, NameCollector&& collector) {
  for (const auto& readings : set.readings) {
    for (const config::ObjectReading& each : *readings) collector.prepare(each);
  }
  collector.findSettings();
  for (const auto& readings : set.readings) {
    for (const config::ObjectReading& each : *readings) collector.add(each);
  }
  return std::move(collector).finish();
}

}  // namespace

NamedObjects namedObjects(const config::ObjectSet& set) {
  NamesOfGateways names = collectNames(set, NameCollector(set.keeping.classKeys));
  names.common.secrets.merge(names.secretsOfSettings);
  for (auto& [gateway, own] : names.own) {
    names.common.secrets.merge(own.secrets);
    names.common.configMaps.merge(own.configMaps);
    names.common.services.merge(own.services);
  }
  return std::move(names.common);
}

NamesOfGateways namesOfGateways(const config::ObjectSet& set, const config::Model& model,
                                const compile::SecretsOfGateways& secrets, const compile::RoutesOfGateways& routes) {
  NamesOfGateways names = collectNames(set, NameCollector(model, routes));
  const NamedObjects::Names& ofSettings = names.secretsOfSettings;
  names.common.secrets.clear();
  for (auto& [gateway, own] : names.own) {
    const auto found = secrets.find(gateway);
    own.secrets = found == secrets.end() ? NamedObjects::Names() : found->second;
    if (compile::isTrusted(model, std::get<1>(gateway))) own.secrets.insert(ofSettings.begin(), ofSettings.end());
  }
  return names;
}

}  // namespace sluice::kubernetes
