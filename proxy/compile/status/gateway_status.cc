#include "proxy/compile/status/gateway_status.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "config/model/supported_features.h"
#include "proxy/compile/destinations/extension_server.h"
#include "proxy/compile/gateways/compile_listener.h"
#include "proxy/compile/gateways/gateway_plan.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/processors/extension_hooks.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/use_conditions.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

std::vector<std::string> faultyListeners(const GatewayPlan& plan) {
  std::vector<std::string> names;
  for (const ListenerPlan& each : plan.listeners) {
    if (!each.accepted() || each.unresolved) names.push_back(each.listener->name);
  }
  return names;
}

void setAccepted(const GatewayPlan& plan, Conditions& conditions) {
  if (const std::optional<Fault>& why = plan.refusal ? plan.refusal : plan.withoutPods) {
    const bool pending = why->reason == reason::kPending;
    conditions.set(condition_type::kAccepted,
                   pending ? config::ConditionStatus::kUnknown : config::ConditionStatus::kFalse,
                   *both(why, plan.kept));
    return;
  }
  if (plan.kept) {
    conditions.bad(condition_type::kAccepted, *plan.kept);
    return;
  }
  const std::vector<std::string> faulty = faultyListeners(plan);
  if (faulty.empty()) {
    conditions.check(condition_type::kAccepted, std::nullopt, ignoredNotes(plan.gateway->unsupported));
    return;
  }
  std::string names;
  for (const std::string& name : faulty) names += (names.empty() ? "" : ", ") + name;
  const bool some = std::any_of(plan.listeners.begin(), plan.listeners.end(),
                                [](const ListenerPlan& each) { return each.accepted(); });
  conditions.set(condition_type::kAccepted, some ? config::ConditionStatus::kTrue : config::ConditionStatus::kFalse,
                 summary(reason::kListenersNotValid, "listeners with faults: " + names));
}

/// Sums up the conditions of that type on the listeners.
std::optional<Fault> unresolvedListeners(const GatewayPlan& plan) {
  std::string names;
  for (const ListenerPlan& each : plan.listeners) {
    if (each.unresolved) names += (names.empty() ? "" : ", ") + each.listener->name;
  }
  if (names.empty()) return std::nullopt;
  return summary(reason::kListenersNotResolved, "listeners with references that do not resolve: " + names);
}

/// Adds the conditions of the hooks, because settings and hooks belong to the class.
void setHooks(const ExtensionHooks& hooks, const std::vector<AskedServer>& servers,
              const std::optional<Fault>& outdated, Conditions& conditions) {
  CompiledUses all = hooks.ofRoutes;
  all.append(hooks.ofListeners);
  if (const auto why = both(degradation(all.refused), both(outdated, awayFault(servers)))) {
    conditions.troubled(condition_type::kDegraded, *why);
  }
  noteOnce(all.refused, awayUses(servers));
  addUseConditions(all.refused, conditions, kMostConditions);
  addServerConditions(servers, conditions, kMostConditions);
}

/// Returns what to tell as long as some clients are served whose certificates break the rules.
std::optional<Fault> insecureMode(const config::Gateway& gateway) {
  std::vector<Fault> modes;
  if (!gateway.frontend) return std::nullopt;
  for (const config::FrontendValidation* each : gateway.frontend->validations()) {
    if (!each->insecureFallback) continue;
    modes.push_back(fault(reason::kConfigurationChanged, each->path + ".mode",
                          "AllowInsecureFallback serves clients without a valid certificate too"));
  }
  return joined(modes);
}

/// Returns the faults of a Gateway that is served in parts, or with certificates of the past.
std::vector<Fault> degradationsOf(const GatewayPlan& plan) {
  std::vector<Fault> faults = plan.unprocessed;
  for (const ListenerPlan& each : plan.listeners) {
    if (auto outdated = outdatedPairs(each)) faults.push_back(*std::move(outdated));
  }
  return faults;
}

bool isServedAt(const GatewayPlan& plan, std::string_view address) {
  return std::any_of(plan.listeners.begin(), plan.listeners.end(), [&](const ListenerPlan& each) {
    return each.state == ListenerState::kServing && findUnusable(plan.unusablePlaces, address, each.port) == nullptr;
  });
}

config::ObjectStatus gatewayStatus(const GatewayPlan& plan) {
  const config::ObjectMeta& meta = plan.gateway->meta;
  config::ObjectStatus status = statusOf(meta);
  Conditions conditions(meta);
  setAccepted(plan, conditions);
  const bool programmed =
      !plan.withoutPods && std::any_of(plan.listeners.begin(), plan.listeners.end(),
                                       [](const ListenerPlan& each) { return each.state == ListenerState::kServing; });
  std::optional<Fault> unprogrammed = plan.refusal ? std::nullopt : plan.unusable;
  if (!programmed && !unprogrammed) {
    unprogrammed = summary(reason::kInvalid, plan.withoutPods ? "its Pods are not kept as it asks for"
                                                              : "none of its listeners is served");
  }
  conditions.check(condition_type::kProgrammed, unprogrammed);
  conditions.check(condition_type::kResolvedRefs, unresolvedListeners(plan));
  // This condition must be absent when no such mode is set.
  if (const auto mode = insecureMode(*plan.gateway)) {
    conditions.troubled(condition_type::kInsecureFrontendValidationMode, *mode);
  }
  if (const auto why = joined(degradationsOf(plan))) conditions.troubled(condition_type::kDegraded, *why);
  for (const std::string& address : plan.addresses) {
    if (!address.empty() && isServedAt(plan, address)) status.addresses.push_back({"IPAddress", address});
  }
  status.conditions = conditions.take();
  for (const ListenerPlan& each : plan.listeners) status.listeners.push_back(listenerStatus(each, plan));
  return status;
}

/// Newer CRDs may have fields that the program does not know, and older ones lack some that it does.
void setVersion(const StatusSources& sources, Conditions& conditions) {
  const config::GatewayApiCrds& crds = sources.model.gatewayApi;
  std::string message = crds.described();
  if (const std::string kinds = crds.missingKinds(); !kinds.empty()) message += ". Not installed: " + kinds;
  const std::string features = config::featuresOfOtherCrds(sources.placement, crds);
  if (!features.empty()) message += ". Features that need other CRDs: " + features;
  if (crds.areSupported()) {
    conditions.good(condition_type::kSupportedVersion, reason::kSupportedVersion, message);
  } else {
    conditions.check(condition_type::kSupportedVersion,
                     fault(reason::kUnsupportedVersion, "the CRDs are of " + message +
                                                            ". This program reads them as those of Gateway API " +
                                                            std::string(config::kGatewayApiVersion)));
  }
}

}  // namespace

void gatewayClassStatuses(const StatusSources& sources, Statuses& statuses) {
  const config::Model& model = sources.model;
  for (const config::GatewayClass& each : model.all<config::GatewayClass>()) {
    if (each.controllerName != config::kControllerName) continue;
    config::ObjectStatus status = statusOf(each.meta);
    std::optional<Fault> why;
    if (each.meta.name != model.gatewayClassName) {
      why = fault(reason::kUnsupported, "one process serves one GatewayClass, and that is " + model.gatewayClassName);
    } else if (!model.settingsFault.empty()) {
      why = summary(reason::kInvalidParameters, model.settingsFault);
    } else if (!model.settingsKept.empty()) {
      why = keptFault(reason::kInvalidParameters, {{}, model.settingsKept});
    }
    why = both(std::move(why), keptFault(model, each.meta));
    Conditions conditions(each.meta);
    conditions.check(condition_type::kAccepted, why);
    setVersion(sources, conditions);
    if (each.meta.name == model.gatewayClassName)
      setHooks(sources.hooks, sources.servers.in(objectName(holderOf(each.meta), each.meta.name)),
               outdatedServerPairs(model, holderOf(each.meta)), conditions);
    status.conditions = conditions.take();
    status.supportedFeatures = config::supportedFeatures(sources.placement, model.gatewayApi);
    statuses.push_back(std::move(status));
  }
  forEachRefused<config::GatewayClass>(model,
                                       [&](const config::Rejected& each) { statuses.push_back(rejectedStatus(each)); });
}

void gatewayStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const GatewayPlan& each : sources.gateways) statuses.push_back(gatewayStatus(each));
  forEachRefused<config::Gateway>(sources.model, [&](const config::Rejected& each) {
    if (each.legible<config::Gateway>() == nullptr) statuses.push_back(rejectedStatus(each));
  });
}

}  // namespace sluice::compile
