// Compiles the Model into the snapshot that workers serve and the statuses of all objects. This is the second half of
// "configuration is a pure function".
//
// It uses no clock, files or network; the caller passes the system's authorities. The result depends only on the set of
// objects and not on their order.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "config/model/model.h"
#include "config/status/status_list.h"
#include "proxy/compile/destinations/backend_cache.h"
#include "proxy/compile/gateways/gateway_secrets.h"
#include "proxy/compile/gateways/listener_place.h"
#include "proxy/compile/ground/compile_tls.h"
#include "proxy/compile/ground/unusable_place.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/processors/processor_cache.h"
#include "proxy/compile/processors/step_numbers.h"
#include "proxy/compile/routes/attached/rules_at_listener.h"
#include "proxy/compile/routes/route_cache.h"
#include "proxy/compile/routes/route_order.h"
#include "proxy/compile/status/backend_health.h"
#include "proxy/compile/status/unkept_bodies.h"
#include "proxy/routing/snapshot.h"
#include "proxy/routing/table/host_rules.h"

namespace sluice::compile {

struct CompileResult {
  /// Never null. Broken parts of the configuration answer 500 in it; the other parts are served.
  std::shared_ptr<const routing::Snapshot> snapshot;
  /// The statuses in the order of writeStatuses(). Objects of other controllers and kinds without a status are left
  /// out.
  config::StatusList statuses;
  /// False if the set as a whole cannot be served: this controller has no GatewayClass, or its settings cannot be read.
  bool usable = false;
  /// True if there is a Gateway that no schema refuses, even if none of its listeners can be served.
  bool hasGateway = false;
  /// Fingerprint of the system's authorities that Backends are verified against; empty if no Backend uses them.
  std::string systemAuthorities;
  /// The Secrets that the Pods of each Gateway need and may read, if a controller keeps them.
  SecretsOfGateways secrets;
  /// The routes whose chains these Secrets belong to.
  RoutesOfGateways routes;
  /// The Backends that attached routes name, by BackendPlan::object, whether or not they can be served.
  std::set<std::string> namedBackends;
  /// The places where the listeners are served.
  ListenerPlaces places;
  /// The addresses of the Gateways. A Gateway that listens on all addresses of the machine has none here.
  GatewayAddresses addresses;
  /// The uses of payload processors that wait for something, such as a Secret. They are compiled again when it may
  /// exist.
  std::vector<AwaitingUse> awaiting;
  /// The uses that call a server. They are compiled again when the state of a server has changed.
  std::vector<AskedServer> servers;
  /// The steps that may hold longer bodies than are kept for retries.
  std::vector<UnkeptBody> unkept;
  /// The health of Backends as the statuses report it. The statuses are written again when it changes.
  BackendHealths health;
};

/// Results that successive compilations share to save work. They never change the result of a compilation. They belong
/// to the loading thread.
struct CompileCache {
  processing::SharedStates states;
  ProcessorCache processors;
  StepNumbers steps;
  std::shared_ptr<const pki::TrustStore> authorities;  // the authorities of the system
  BackendCache backends;
  BackendUses uses;
  RouteCache routes;
  ListenerCache listeners;
  RouteOrder order;
  routing::HostRulesStore hostRules;
  std::shared_ptr<const ExtensionHooks> hooks;
};

/// The parts of the program that a compilation uses.
struct CompileTools {
  const config::Catalog& catalog;  // made from the same model
  const processing::BuiltinTypes& processors;
  const SystemTrust& systemTrust;
  KnownPlaces places = {};
};

CompileResult compile(const config::Model& model, const CompileTools& tools, CompileCache& cache);
/// Compiles with the system's own authorities.
CompileResult compile(const config::Model& model, const config::Catalog& catalog,
                      const processing::BuiltinTypes& processors, CompileCache& cache, const KnownPlaces& places = {});

}  // namespace sluice::compile
