#include "proxy/control/compile/gateways/compile_gateway.h"

#include <algorithm>
#include <tuple>

#include "config/model/supported_features.h"
#include "proxy/control/compile/gateways/compile_listener.h"
#include "proxy/control/compile/gateways/listen_address.h"
#include "proxy/control/compile/processors/refused_uses.h"
#include "proxy/control/compile/references.h"
#include "proxy/control/compile/status/object_status.h"
#include "proxy/control/compile/status/use_conditions.h"

namespace sluice::control {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

constexpr const char* kApiVersion = "Gateway API v1.6.1";

bool isAnyAddress(std::string_view address) { return address.empty() || address == "0.0.0.0" || address == "::"; }

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

/// Without addresses, or with one left to us, the Gateway takes all of the machine's. On those that it can have it is
/// served, whatever others it asks for.
void assignAddresses(GatewayPlan& plan) {
  bool any = plan.gateway->addresses.empty();
  for (const config::GatewayAddress& address : plan.gateway->addresses) {
    if (address.type != "IPAddress") {
      refuse(plan,
             fault(reason::kUnsupportedAddress,
                   address.path + ".type: " + address.type + " is not supported, only IPAddress"),
             ListenerState::kDown);
    }
    any = any || address.value.empty();
    std::string value = canonicalAddress(address.value);
    if (const char* why = whyUnusable(value)) {
      if (!plan.unusable) {
        plan.unusable = fault(reason::kAddressNotUsable, address.path + ".value: " + address.value + ": " + why);
      }
      continue;
    }
    const auto& known = plan.addresses;
    if (std::find(known.begin(), known.end(), value) == known.end()) plan.addresses.push_back(std::move(value));
  }
  if (any) plan.addresses.assign(1, "");
  if (plan.addresses.empty()) {
    for (ListenerPlan& listener : plan.listeners) listener.worsen(ListenerState::kDown);
  }
  std::sort(plan.addresses.begin(), plan.addresses.end());
}

/// Settings are those of the process, and so of its GatewayClass.
void checkParameters(GatewayPlan& plan) {
  const auto& ref = plan.gateway->infrastructure.parametersRef;
  if (!ref) return;
  refuse(plan,
         fault(reason::kInvalidParameters,
               describe(*ref, plan.gateway->meta.nameSpace) + ": parameters are those of the GatewayClass"),
         ListenerState::kRefusing);
}

/// False if the Gateway belongs to another controller and is not ours to speak of.
bool checkClass(const config::Model& model, GatewayPlan& plan) {
  const std::string& name = plan.gateway->gatewayClassName;
  const config::GatewayClass* gatewayClass = model.findGatewayClass(name);
  if (gatewayClass == nullptr) {
    refuse(plan, fault(reason::kPending, "spec.gatewayClassName: there is no valid GatewayClass " + name),
           ListenerState::kDown);
    return true;
  }
  if (gatewayClass->controllerName != config::kControllerName) return false;
  if (name != model.gatewayClassName) {
    refuse(plan, fault(reason::kInvalid, "spec.gatewayClassName: GatewayClass " + name + " is not accepted"),
           ListenerState::kDown);
  } else if (!model.settingsFault.empty()) {
    refuse(plan, fault(reason::kInvalid, "spec.gatewayClassName: GatewayClass " + name + " has invalid parameters"),
           ListenerState::kRefusing);
  }
  return true;
}

void addPlan(const config::Model& model, const config::Gateway& gateway, const config::Rejected* rejected,
             std::vector<GatewayPlan>& plans) {
  GatewayPlan plan;
  plan.gateway = &gateway;
  plan.listeners = compileListeners(model, gateway);
  plan.kept = keptFault(model, config::kGatewayGroup, "Gateway", gateway.meta);
  if (rejected != nullptr) {
    plan.rejected = true;
    refuse(plan, fault(reason::kInvalid, rejected->message), ListenerState::kRefusing);
  }
  if (!checkClass(model, plan)) return;
  checkParameters(plan);
  if (auto unbuilt = alteringFault(gateway.unbuilt)) refuse(plan, *std::move(unbuilt), ListenerState::kRefusing);
  assignAddresses(plan);
  plans.push_back(std::move(plan));
}

/// The first in order keeps a port; who comes later and overlaps does not listen there.
void claimPorts(std::vector<GatewayPlan>& plans) {
  const auto holds = [](const GatewayPlan& plan, std::uint16_t port) {
    return std::any_of(plan.listeners.begin(), plan.listeners.end(), [&](const ListenerPlan& each) {
      return each.listener->port == port && each.state != ListenerState::kDown;
    });
  };
  for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
    for (ListenerPlan& listener : plan->listeners) {
      if (!speaksHttp(*listener.listener)) continue;
      const std::uint16_t port = listener.listener->port;
      const auto holder = std::find_if(plans.begin(), plan, [&](const GatewayPlan& earlier) {
        return holds(earlier, port) && overlap(earlier.addresses, plan->addresses);
      });
      if (holder == plan) continue;
      listener.unaccepted = fault(reason::kPortUnavailable, "port " + std::to_string(port) + " belongs to Gateway " +
                                                                holder->gateway->meta.qualifiedName());
      listener.worsen(ListenerState::kDown);
    }
  }
}

std::vector<std::string> faultyListeners(const GatewayPlan& plan) {
  std::vector<std::string> names;
  for (const ListenerPlan& each : plan.listeners) {
    if (!each.accepted() || each.unresolved) names.push_back(each.listener->name);
  }
  return names;
}

void setAccepted(const GatewayPlan& plan, Conditions& conditions) {
  if (plan.refusal) {
    const bool pending = plan.refusal->reason == reason::kPending;
    conditions.set(condition_type::kAccepted,
                   pending ? config::ConditionStatus::kUnknown : config::ConditionStatus::kFalse, plan.refusal->reason,
                   both(plan.refusal, plan.kept)->message);
    return;
  }
  if (plan.kept) {
    conditions.bad(condition_type::kAccepted, *plan.kept);
    return;
  }
  const std::vector<std::string> faulty = faultyListeners(plan);
  if (faulty.empty()) {
    conditions.good(condition_type::kAccepted, reason::kAccepted, ignoredNote(plan.gateway->unbuilt));
    return;
  }
  std::string names;
  for (const std::string& name : faulty) names += (names.empty() ? "" : ", ") + name;
  const bool some = std::any_of(plan.listeners.begin(), plan.listeners.end(),
                                [](const ListenerPlan& each) { return each.accepted(); });
  conditions.set(condition_type::kAccepted, some ? config::ConditionStatus::kTrue : config::ConditionStatus::kFalse,
                 reason::kListenersNotValid, "listeners with faults: " + names);
}

/// The summary of the listeners' own conditions of that type.
std::optional<Fault> unresolvedListeners(const GatewayPlan& plan) {
  std::string names;
  for (const ListenerPlan& each : plan.listeners) {
    if (each.unresolved) names += (names.empty() ? "" : ", ") + each.listener->name;
  }
  if (names.empty()) return std::nullopt;
  return fault(reason::kListenersNotResolved, "listeners with references that do not resolve: " + names);
}

/// The settings are the class's, and so are their hooks.
void setHooks(const ExtensionHooks& hooks, Conditions& conditions) {
  CompiledUses all = hooks.ofRoutes;
  all.append(hooks.ofListeners);
  if (const auto why = degradation(all.refused)) conditions.good(condition_type::kDegraded, why->reason, why->message);
  addUseConditions(all.refused, conditions, kMostConditions);
}

}  // namespace

bool hasAcceptedClass(const config::Model& model) {
  return !model.gatewayClassName.empty() && model.settingsFault.empty();
}

std::vector<GatewayPlan> compileGateways(const config::Model& model) {
  std::vector<GatewayPlan> plans;
  for (const config::Gateway& gateway : model.gateways) addPlan(model, gateway, nullptr, plans);
  for (const config::Rejected& rejected : model.rejected) {
    if (rejected.gateway) addPlan(model, *rejected.gateway, &rejected, plans);
  }
  std::sort(plans.begin(), plans.end(), [](const GatewayPlan& a, const GatewayPlan& b) {
    const auto key = [](const GatewayPlan& each) {
      const config::ObjectMeta& meta = each.gateway->meta;
      return std::tie(each.rejected, meta.creationTimestamp, meta.nameSpace, meta.name);
    };
    return key(a) < key(b);
  });
  claimPorts(plans);
  return plans;
}

std::vector<config::ObjectStatus> gatewayClassStatuses(const config::Model& model, const ExtensionHooks& hooks) {
  std::vector<config::ObjectStatus> result;
  for (const config::GatewayClass& each : model.gatewayClasses) {
    if (each.controllerName != config::kControllerName) continue;
    config::ObjectStatus status =
        statusOf(config::kGatewayGroup, "GatewayClass", {}, each.meta.name, config::StatusShape::kConditions);
    std::optional<Fault> why;
    if (each.meta.name != model.gatewayClassName) {
      why = fault(reason::kUnsupported, "one process serves one GatewayClass, and that is " + model.gatewayClassName);
    } else if (!model.settingsFault.empty()) {
      why = fault(reason::kInvalidParameters, model.settingsFault);
    } else if (!model.settingsKept.empty()) {
      why = keptFault(reason::kInvalidParameters, model.settingsKept);
    }
    why = both(std::move(why), keptFault(model, config::kGatewayGroup, "GatewayClass", each.meta));
    Conditions conditions(each.meta);
    conditions.check(condition_type::kAccepted, why);
    conditions.good(condition_type::kSupportedVersion, reason::kSupportedVersion, kApiVersion);
    if (each.meta.name == model.gatewayClassName) setHooks(hooks, conditions);
    status.conditions = conditions.take();
    for (const config::SupportedFeature& feature : config::kSupportedFeatures) {
      status.supportedFeatures.emplace_back(feature.name);
    }
    result.push_back(std::move(status));
  }
  return result;
}

config::ObjectStatus gatewayStatus(const GatewayPlan& plan) {
  const config::ObjectMeta& meta = plan.gateway->meta;
  config::ObjectStatus status =
      statusOf(config::kGatewayGroup, "Gateway", meta.nameSpace, meta.name, config::StatusShape::kGateway);
  Conditions conditions(meta);
  setAccepted(plan, conditions);
  const bool programmed = std::any_of(plan.listeners.begin(), plan.listeners.end(),
                                      [](const ListenerPlan& each) { return each.state == ListenerState::kServing; });
  std::optional<Fault> unprogrammed = plan.refusal ? std::nullopt : plan.unusable;
  if (!programmed && !unprogrammed) unprogrammed = fault(reason::kInvalid, "none of its listeners is served");
  conditions.check(condition_type::kProgrammed, unprogrammed);
  conditions.check(condition_type::kResolvedRefs, unresolvedListeners(plan));
  if (const auto why = joined(plan.unprocessed)) conditions.good(condition_type::kDegraded, why->reason, why->message);
  if (programmed) {
    for (const std::string& address : plan.addresses) {
      if (!address.empty()) status.addresses.push_back({"IPAddress", address});
    }
  }
  status.conditions = conditions.take();
  for (const ListenerPlan& each : plan.listeners) status.listeners.push_back(listenerStatus(each, plan));
  return status;
}

config::ObjectStatus rejectedStatus(const config::Rejected& rejected) {
  const auto shape = rejected.kind == "Gateway" ? config::StatusShape::kGateway : config::StatusShape::kConditions;
  config::ObjectStatus status = statusOf(rejected.group, rejected.kind, rejected.nameSpace, rejected.name, shape);
  status.conditions =
      Conditions(rejected.generation).bad(condition_type::kAccepted, fault(reason::kInvalid, rejected.message)).take();
  return status;
}

}  // namespace sluice::control
