#include "proxy/compile/gateways/compile_gateway.h"

#include <algorithm>
#include <tuple>

#include "config/ground/patterns.h"
#include "config/load/gateway_settings.h"
#include "config/model/gateway_parameters.h"
#include "config/read/object_kinds.h"
#include "proxy/compile/gateways/compile_listener.h"
#include "proxy/compile/gateways/listen_address.h"
#include "proxy/compile/gateways/listener_clients.h"
#include "proxy/compile/gateways/pod_choices.h"
#include "proxy/compile/gateways/pod_ports.h"
#include "proxy/compile/gateways/pool_addresses.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& mine) {
    return std::any_of(b.begin(), b.end(), [&](const std::string& other) {
      return mine == other || isAnyAddress(mine) || isAnyAddress(other);
    });
  });
}

void refuse(GatewayPlan& plan, Fault why, ListenerState state) {
  if (!plan.refusal) plan.refusal = std::move(why);
  for (ListenerPlan& listener : plan.listeners) listener.worsen(state);
}

/// Reads the addresses that the Gateway asks for. If only some of them are usable, the Gateway is served on these.
void readAddresses(const config::Model& model, GatewayPlan& plan) {
  plan.wantsAddress = plan.gateway->addresses.empty();
  for (const config::GatewayAddress& address : plan.gateway->addresses) {
    // Pods are reached by the name of their Service.
    if (address.type == "Hostname" && address.value.empty() && !model.controllerNamespace.empty()) {
      plan.wantsAddress = true;
      continue;
    }
    if (address.type != "IPAddress") {
      refuse(plan,
             fault(reason::kUnsupportedAddress, address.path + ".type",
                   address.type + " is not supported, only IPAddress"),
             ListenerState::kDown);
      continue;
    }
    if (address.value.empty()) {
      plan.wantsAddress = true;
      continue;
    }
    std::string value = config::canonicalIp(address.value);
    if (const char* why = whyUnusable(value)) {
      if (!plan.unusable) {
        plan.unusable = fault(reason::kAddressNotUsable, address.path + ".value", address.value + ": " + why);
      }
      continue;
    }
    const auto& known = plan.addresses;
    if (std::find(known.begin(), known.end(), value) == known.end()) plan.addresses.push_back(std::move(value));
  }
}

/// Assigns an address of the pool to a Gateway without addresses, or with one that the implementation may choose. If
/// there is no pool, the Gateway gets all addresses of the machine.
void assignAddresses(const config::Model& model, const KnownPlaces& places, std::vector<GatewayPlan>& plans) {
  if (places.pool) givePoolAddresses(model, places, plans);
  for (GatewayPlan& plan : plans) {
    if (plan.wantsAddress && !places.pool) plan.addresses.assign(1, "");
    if (plan.addresses.empty()) {
      for (ListenerPlan& listener : plan.listeners) listener.worsen(ListenerState::kDown);
    }
    std::sort(plan.addresses.begin(), plan.addresses.end());
  }
}

Fault whyNoParameters(const config::Model& model, const config::ObjectRef& ref, const config::ObjectMeta& holder) {
  const std::string object = describe(ref, holder.nameSpace) + ": ";
  const bool isConfigMap = config::isKindOf<config::ConfigMap>(ref.group, ref.kind);
  if (!isConfigMap && !config::isKindOf<config::GatewayParameters>(ref.group, ref.kind)) {
    return fault(reason::kInvalidParameters, ref.path,
                 object + "must be a GatewayParameters of sluice.dev, or a ConfigMap");
  }
  if (const config::Rejected* kept = model.findKept(ref.group, ref.kind, holder.nameSpace, ref.name)) {
    return summary(reason::kInvalidParameters, ref.path, object + "it is not valid: " + kept->message);
  }
  if (isConfigMap && model.find<config::ConfigMap>(holder.nameSpace, ref.name) != nullptr) {
    const std::string key(config::ConfigMap::kParametersKey);
    return fault(reason::kInvalidParameters, ref.path, object + "it has no key " + key);
  }
  return absenceFault(reason::kInvalidParameters, model, ref, holderOf(holder));
}

void checkParameters(const config::Model& model, GatewayPlan& plan) {
  const auto& ref = plan.gateway->infrastructure.parametersRef;
  if (!ref) return;
  const config::ObjectMeta& holder = plan.gateway->meta;
  if (config::parametersOf(model, *plan.gateway) == nullptr) {
    return refuse(plan, whyNoParameters(model, *ref, holder), ListenerState::kRefusing);
  }
  if (const config::Rejected* kept = model.findKept(ref->group, ref->kind, holder.nameSpace, ref->name)) {
    const std::string why = describe(*ref, holder.nameSpace) + ": " + kept->message;
    plan.kept = both(plan.kept, keptFault(reason::kInvalidParameters, {ref->path, why}));
  }
}

config::ObjectRef classRef(const std::string& name) {
  config::ObjectRef ref;
  ref.group = config::kGatewayGroup;
  ref.kind = config::GatewayClass::kKind;
  ref.name = name;
  ref.path = "spec.gatewayClassName";
  return ref;
}

/// Returns false if the Gateway belongs to another controller. That controller reports it.
bool checkClass(const config::Model& model, GatewayPlan& plan) {
  const std::string& name = plan.gateway->gatewayClassName;
  const config::GatewayClass* gatewayClass = model.find<config::GatewayClass>({}, name);
  if (gatewayClass == nullptr) {
    refuse(plan, absenceFault(reason::kPending, model, classRef(name), holderOf(plan.gateway->meta)),
           ListenerState::kDown);
    return true;
  }
  if (gatewayClass->controllerName != config::kControllerName) return false;
  if (name != model.gatewayClassName) {
    refuse(plan, fault(reason::kInvalid, "spec.gatewayClassName", "GatewayClass " + name + " is not accepted"),
           ListenerState::kDown);
  } else if (!model.settingsFault.empty()) {
    refuse(plan, summary(reason::kInvalid, "spec.gatewayClassName", "GatewayClass " + name + " has invalid parameters"),
           ListenerState::kRefusing);
  }
  return true;
}

void addPlan(const config::Model& model, const config::Gateway& gateway, const config::Rejected* rejected,
             ClientValidations& clients, std::vector<GatewayPlan>& plans) {
  GatewayPlan plan;
  plan.gateway = &gateway;
  plan.listeners = compileListeners(model, gateway);
  plan.kept = keptFault(model, gateway.meta);
  identifyCallers(model, clients, plan);
  if (rejected != nullptr) {
    plan.rejected = true;
    refuse(plan, summary(reason::kInvalid, rejected->message), ListenerState::kRefusing);
  }
  if (!checkClass(model, plan)) return;
  checkParameters(model, plan);
  plan.withoutPods = forbiddenChoice(model, gateway);
  if (auto unsupported = alteringFault(gateway.unsupported))
    refuse(plan, *std::move(unsupported), ListenerState::kRefusing);
  readAddresses(model, plan);
  plans.push_back(std::move(plan));
}

/// Returns true if the same processes serve both Gateways, so that they share ports. Pods know their Gateway by its
/// name, whatever its kind.
bool shareProcess(const config::Model& model, const GatewayPlan& a, const GatewayPlan& b) {
  if (!model.gatewaysHaveOwnPods()) return true;
  return a.gateway->meta.nameSpace == b.gateway->meta.nameSpace && a.gateway->meta.name == b.gateway->meta.name;
}

bool wantsPort(const GatewayPlan& plan, std::uint16_t port) {
  return std::any_of(plan.listeners.begin(), plan.listeners.end(), [port](const ListenerPlan& each) {
    return each.listener->port == port && each.state != ListenerState::kDown;
  });
}

bool isHttps(const config::Listener& listener) { return config::terminatesTls(listener.protocol); }

/// Returns the path of the field.
std::string portOf(const ListenerPlan& listener) { return listener.listener->path + ".port"; }

/// Returns true if the Gateway has a listener that competes for this port with one of `other`.
bool takesPort(const config::Model& model, const GatewayPlan& plan, std::uint16_t port, const GatewayPlan& other) {
  return wantsPort(plan, port) && overlap(plan.addresses, other.addresses) && shareProcess(model, plan, other);
}

/// Returns who has the port that a listener of `plan` asks for, in words; empty if the listener gets it. Gateways get
/// ports in the order of the plans.
std::string holderOfPort(const config::Model& model, const std::vector<GatewayPlan>& plans, const GatewayPlan& plan,
                         std::uint16_t port) {
  if (model.gatewaysHaveOwnPods() && isTakenInPods(port)) return "the admin and health ports of its Pods";
  for (const GatewayPlan& earlier : plans) {
    if (&earlier == &plan) break;
    if (takesPort(model, earlier, port, plan)) return nameFor(plan.gateway->meta.nameSpace, earlier.gateway->meta);
  }
  return {};
}

/// Gives each port to the first Gateway in order. A later Gateway that overlaps does not listen there.
void claimPorts(const config::Model& model, std::vector<GatewayPlan>& plans) {
  for (GatewayPlan& plan : plans) {
    for (ListenerPlan& listener : plan.listeners) {
      if (!speaksHttp(*listener.listener)) continue;
      const std::uint16_t port = listener.listener->port;
      const std::string holder = holderOfPort(model, plans, plan, port);
      if (holder.empty()) continue;
      listener.unaccepted =
          fault(reason::kPortUnavailable, portOf(listener), "port " + std::to_string(port) + " belongs to " + holder);
      listener.worsen(ListenerState::kDown);
    }
  }
}

/// Returns the port at which the listener was served before, if it can still be served there; otherwise 0.
std::uint16_t earlierPort(const config::Model& model, const KnownPlaces& places, const std::vector<GatewayPlan>& plans,
                          const GatewayPlan& plan, const ListenerPlan& listener) {
  const auto served = std::find_if(places.served.begin(), places.served.end(), [&](const ListenerPlace& each) {
    return each.listener == listener.listener->name && each.gateway == placeName(plan);
  });
  if (served == places.served.end() || served->port == listener.listener->port) return 0;
  if (served->tls != isHttps(*listener.listener)) return 0;
  const std::uint16_t port = served->port;
  const bool wanted = std::any_of(plans.begin(), plans.end(),
                                  [&](const GatewayPlan& other) { return takesPort(model, other, port, plan); });
  const bool usable = std::all_of(plan.addresses.begin(), plan.addresses.end(), [&](const std::string& address) {
    return findUnusable(places.unusable, address, port) == nullptr;
  });
  return usable && !wanted ? port : 0;
}

void leaveOut(const config::Model& model, const KnownPlaces& places, const std::vector<GatewayPlan>& plans,
              GatewayPlan& plan) {
  for (ListenerPlan& listener : plan.listeners) {
    if (listener.state == ListenerState::kDown || !speaksHttp(*listener.listener)) continue;
    const UnusablePlace* last = nullptr;
    std::size_t count = 0;
    for (const std::string& address : plan.addresses) {
      const UnusablePlace* place = findUnusable(places.unusable, address, listener.listener->port);
      if (place == nullptr) continue;
      last = place;
      ++count;
      if (findUnusable(plan.unusablePlaces, address, place->port) == nullptr) plan.unusablePlaces.push_back(*place);
    }
    if (last == nullptr) continue;
    if (!plan.unusable) plan.unusable = fault(reason::kAddressNotUsable, portOf(listener), last->why);
    if (count < plan.addresses.size()) continue;
    if (const std::uint16_t port = earlierPort(model, places, plans, plan, listener); port != 0) {
      listener.port = port;
      listener.displaced = fault(reason::kPending, portOf(listener),
                                 last->why + "; until then it is served at port " + std::to_string(port));
      continue;
    }
    listener.unaccepted = fault(reason::kPortUnavailable, portOf(listener), last->why);
    listener.worsen(ListenerState::kDown);
  }
}

}  // namespace

bool hasAcceptedClass(const config::Model& model) {
  return !model.gatewayClassName.empty() && model.settingsFault.empty();
}

std::vector<GatewayPlan> compileGateways(const config::Model& model, const KnownPlaces& places,
                                         ClientValidations& clients) {
  std::vector<GatewayPlan> plans;
  for (const config::Gateway& gateway : model.all<config::Gateway>()) addPlan(model, gateway, nullptr, clients, plans);
  for (const config::Rejected& rejected : model.rejected) {
    if (const auto* legible = rejected.legible<config::Gateway>()) addPlan(model, *legible, &rejected, clients, plans);
  }
  std::sort(plans.begin(), plans.end(), [](const GatewayPlan& a, const GatewayPlan& b) {
    const auto key = [](const GatewayPlan& each) {
      const config::ObjectMeta& meta = each.gateway->meta;
      return std::tie(each.rejected, meta.creationTimestamp, meta.nameSpace, meta.name, meta.kind);
    };
    return key(a) < key(b);
  });
  assignAddresses(model, places, plans);
  claimPorts(model, plans);
  for (GatewayPlan& plan : plans) leaveOut(model, places, plans, plan);
  return plans;
}

ListenerPlaces placesOf(const std::vector<GatewayPlan>& gateways) {
  ListenerPlaces places;
  for (const GatewayPlan& plan : gateways) {
    for (const ListenerPlan& listener : plan.listeners) {
      if (listener.state == ListenerState::kDown || !speaksHttp(*listener.listener)) continue;
      places.push_back({placeName(plan), listener.listener->name, listener.port, isHttps(*listener.listener)});
    }
  }
  return places;
}

}  // namespace sluice::compile
