// A World is a configuration for tests of compile(). It loads and compiles documents as users write them, and has
// functions that query the result.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/catalog/catalog_cache.h"
#include "config/load/load.h"
#include "proxy/compile/compile.h"
#include "proxy/compile/processors/processor_support.h"
#include "test/routing/request_maker.h"
#include "test/support/test_pki.h"

namespace sluice::compile::test {

using routing::test::RequestMaker;

inline constexpr std::string_view kClass = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: sluice, generation: 3}
spec: {controllerName: sluice.dev/egress-gateway}
)";

inline constexpr std::string_view kGateway = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: egress, generation: 4}
spec:
  gatewayClassName: sluice
  addresses: [{type: IPAddress, value: 127.0.0.1}]
  listeners: [{name: web, protocol: HTTP, port: 80}]
)";

inline constexpr std::string_view kBackend = R"(
apiVersion: gateway.networking.k8s.io/v1alpha1
kind: Backend
metadata: {name: origin, generation: 5}
spec: {destination: {type: FQDN, fqdn: {hostname: Origin.Test, port: 8080}}}
)";

inline constexpr std::string_view kRoute = R"(
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route, generation: 6}
spec:
  parentRefs: [{name: egress}]
  rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]
)";

/// Returns `base`, where the only occurrence of `from` is replaced, so that a test shows only its own part of a
/// document.
inline std::string with(std::string_view base, std::string_view from, std::string_view to) {
  std::string text(base);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "no " << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

/// Returns kGateway with these listeners in place of its own.
inline std::string gatewayWith(std::string_view listeners) {
  return with(kGateway, "{name: web, protocol: HTTP, port: 80}", listeners);
}

/// Returns kRoute with these rules in place of its own; `rules` begins with the key.
inline std::string routeWithRules(std::string_view rules) {
  constexpr std::string_view kOwnRules =
      "rules: [{backendRefs: [{group: gateway.networking.k8s.io, kind: Backend, name: origin, port: 8080}]}]";
  return with(kRoute, kOwnRules, rules);
}

/// Returns a block scalar's lines, indented by four.
inline std::string block(const std::string& text) {
  std::string result = "|\n";
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

inline std::string secret(const std::string& name, const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string text = "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData:\n";
  for (const auto& [key, value] : entries) text += "  " + key + ": " + block(value);
  return text;
}

inline std::string keyPair(const std::string& name, const sluice::test::CertifiedKey& identity) {
  return secret(name, {{"tls.crt", identity.certificate}, {"tls.key", identity.key}});
}

inline std::string configMap(const std::string& name, const std::string& key, const std::string& value) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata:\n  " + key + ": " + block(value);
}

/// All tests of the binary use the same authority and the same server certificate, because making keys is slow.
inline const sluice::test::CertifiedKey& authority() {
  static const sluice::test::CertifiedKey made = sluice::test::makeAuthority();
  return made;
}
inline const sluice::test::CertifiedKey& server() {
  static const sluice::test::CertifiedKey made = sluice::test::issueServer(authority(), "origin.test");
  return made;
}

class World {
 public:
  /// `previous` is the World that was served before.
  explicit World(const std::vector<std::string_view>& documents, const World* previous = nullptr,
                 processing::BuiltinTypes processors = {})
      : processors_(std::move(processors)) {
    std::string text;
    for (const std::string_view document : documents) text += "---\n" + std::string(document) + "\n";
    configuration_ = config::loadTexts({{"config.yaml", text}}, base::Secret(),
                                       previous == nullptr ? nullptr : &previous->configuration_.model);
    recompile();
  }

  const config::Model& model() const { return configuration_.model; }
  /// Returns the first Backend. A test may change it to a Backend that no text can describe, before it calls
  /// recompile(). No other Model shares the objects.
  config::Backend& backend() { return const_cast<config::Backend&>(model().all<config::Backend>().front()); }
  config::Gateway& gateway() { return const_cast<config::Gateway&>(model().all<config::Gateway>().front()); }
  void recompile() {
    ++compilations_;
    const SystemTrust trust = [this]() -> base::Result<std::shared_ptr<const pki::TrustStore>> {
      ++systemTrustLoads_;
      if (!systemTrustWorks_) return base::Error::config("no bundle here");
      return std::make_shared<const pki::TrustStore>(pki::TrustStore::parse(authority().certificate).value());
    };
    CompileCache cache;  // each compilation needs a new cache, because tests change objects
    cache.states = std::move(states_);
    config::Problems problems;
    const auto catalog = config::CatalogCache().read(configuration_.model, compile::supportOf(processors_), problems);
    result_ = compile(configuration_.model, {*catalog, processors_, trust, places_}, cache);
    states_ = std::move(cache.states);
  }
  /// Compiles again after `record` was called with the state of each server that processors call.
  template <typename Record>
  void recompileAfter(const Record& record) {
    for (const AskedServer& each : result_.servers) {
      record(*each.health);
      each.health->announce(base::WallTime(std::chrono::hours(1)));
    }
    recompile();
  }
  /// Compiles for a process that cannot listen at these places.
  void recompileWithout(UnusablePlaces unusable, ListenerPlaces served = {}) {
    places_.unusable = std::move(unusable);
    places_.served = std::move(served);
    recompile();
  }
  /// Compiles for a process with this address pool, whose Gateways had these addresses before.
  void recompileWithPool(std::string_view pool, GatewayAddresses before = {}) {
    places_.pool = AddressPool::parse(pool).value();
    places_.addresses = std::move(before);
    recompile();
  }
  /// Compiles for a cluster with a controller in this namespace that keeps the Pods of Gateways. With `severalGateways`
  /// the process is a Pod that serves several of them.
  void recompileWithController(std::string_view nameSpace, bool severalGateways = false) {
    configuration_.model.controllerNamespace = nameSpace;
    configuration_.model.severalGateways = severalGateways;
    recompile();
  }
  /// Compiles for an API server with these CRDs of Gateway API.
  void recompileWithApi(config::GatewayApiCrds crds) {
    configuration_.model.gatewayApi = std::move(crds);
    recompile();
  }
  void breakSystemTrust() {
    systemTrustWorks_ = false;
    recompile();
  }
  int systemTrustLoads() const { return systemTrustLoads_ / compilations_; }

  const CompileResult& result() const { return result_; }
  const routing::Snapshot& snapshot() const { return *result_.snapshot; }

  const config::ObjectStatus* status(std::string_view kind, std::string_view name) const {
    for (const config::ObjectStatus& each : result_.statuses) {
      if (each.kind == kind && each.name == name) return &each;
    }
    return nullptr;
  }
  /// Returns "True/Accepted" for the condition of the object, or of its first parent or controller; "" if there is
  /// none.
  std::string condition(std::string_view kind, std::string_view name, std::string_view type) const {
    return text(find(kind, name, type));
  }
  std::string message(std::string_view kind, std::string_view name, std::string_view type) const {
    const config::Condition* found = find(kind, name, type);
    return found == nullptr ? "" : found->message;
  }
  std::string listenerCondition(std::string_view gateway, std::string_view listener, std::string_view type) const {
    const config::ListenerStatus* found = listenerStatus(gateway, listener);
    return found == nullptr ? "" : text(config::findCondition(found->conditions, type));
  }
  const config::ListenerStatus* listenerStatus(std::string_view gateway, std::string_view listener) const {
    const config::ObjectStatus* object = status("Gateway", gateway);
    if (object == nullptr) return nullptr;
    for (const config::ListenerStatus& each : object->listeners) {
      if (each.name == listener) return &each;
    }
    return nullptr;
  }

  const routing::Bind* bind(std::uint16_t port, std::string_view address = "127.0.0.1") const {
    for (const routing::Bind& each : snapshot().binds) {
      if (each.port == port && each.address == address) return &each;
    }
    return nullptr;
  }
  const routing::Rule* rule(const RequestMaker& request, std::uint16_t port = 80) const {
    const routing::Bind* found = bind(port);
    return found == nullptr ? nullptr : routing::routesOf(found->service).match(request.head()).rule;
  }
  /// Returns the destination of GET / for `host`: a Backend's name, "500", "404", or "refused" if no listener has the
  /// port.
  std::string outcome(const std::string& host = "a.test", const std::string& path = "/",
                      std::uint16_t port = 80) const {
    if (bind(port) == nullptr) return "refused";
    const routing::Rule* found = rule(RequestMaker("GET", host, path), port);
    if (found == nullptr) return "404";
    if (found->failure) return std::to_string(found->failure->status);
    const routing::WeightedBackend* weighted = found->choose(0);
    if (weighted == nullptr) return std::to_string(found->withoutBackend().status);
    return weighted->failure ? std::to_string(weighted->failure->status) : weighted->backend->name;
  }

 private:
  static std::string text(const config::Condition* condition) {
    if (condition == nullptr) return "";
    return std::string(config::conditionStatusName(condition->status)) + "/" + condition->reason;
  }
  const config::Condition* find(std::string_view kind, std::string_view name, std::string_view type) const {
    const config::ObjectStatus* object = status(kind, name);
    if (object == nullptr) return nullptr;
    if (!object->parents.empty()) return config::findCondition(object->parents.front().conditions, type);
    if (!object->controllers.empty()) return config::findCondition(object->controllers.front().conditions, type);
    return config::findCondition(object->conditions, type);
  }

  const processing::BuiltinTypes processors_;
  config::Configuration configuration_;
  CompileResult result_;
  KnownPlaces places_;
  processing::SharedStates states_;
  bool systemTrustWorks_ = true;
  int systemTrustLoads_ = 0;
  int compilations_ = 0;
};

/// Returns the plan of the first Backend.
inline const routing::BackendPlan& firstPlan(const World& world) { return *world.snapshot().backends.at(0); }

}  // namespace sluice::compile::test
