#include "proxy/control/kubernetes/provision/provision_plan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/gateway_settings.h"
#include "proxy/control/compile/gateways/pod_choices.h"
#include "proxy/control/compile/secret_trust.h"
#include "proxy/control/kubernetes/provision/class_keys.h"
#include "proxy/control/kubernetes/provision/gateway_access.h"
#include "proxy/control/kubernetes/provision/gateway_pods.h"

namespace sluice::control {
namespace {

/// Takes the parameters that the Gateway names. Returns false if it names some that are missing, or cannot be used.
bool takeParameters(const config::Model& model, GatewayToRun& run) {
  run.drainTimeout = config::settingsOf(model, run.gateway).drainTimeout;
  if (!run.gateway.infrastructure.parametersRef) return true;
  const config::GatewayParameters* parameters = config::parametersOf(model, run.gateway);
  if (parameters == nullptr) return false;
  run.parameters = *parameters;
  return true;
}

/// Returns the first address that the Gateway asks for; nullptr if it leaves the choice to us.
const config::GatewayAddress* askedAddress(const config::Gateway& gateway) {
  const auto found = std::find_if(gateway.addresses.begin(), gateway.addresses.end(),
                                  [](const config::GatewayAddress& each) { return !each.value.empty(); });
  return found == gateway.addresses.end() ? nullptr : &*found;
}

bool isOfOurClass(const config::Gateway& gateway, const config::Model& model) {
  return gateway.gatewayClassName == model.gatewayClassName;
}

void addGateway(const GatewayToRun& run, const config::Model& model, const NamesOfGateways& names,
                ProvisionPlan& plan) {
  // The account comes before what gives it rights, so that no other one of its name gets any.
  for (ProvisionedObject& object : podsOf(run)) plan.objects.push_back(std::move(object));
  for (ProvisionedObject& object : accessOf(run, names)) plan.objects.push_back(std::move(object));
  if (run.classKeys.empty()) return;
  if (auto keys = classKeysOf(run, model)) plan.objects.push_back(*std::move(keys));
}

/// Leaves the Pods of a Gateway as they are. Whatever its writer asks for, they read no more than they may now.
void addAccessOfPods(const GatewayToRun& run, const NamesOfGateways& names, ProvisionPlan& plan) {
  const config::ObjectMeta& meta = run.gateway.meta;
  plan.podsLeftAlone.emplace(meta.nameSpace, gatewayNameLabel(meta.name));
  for (ProvisionedObject& object : accessOf(run, names)) {
    object.onlyIfThere = true;
    plan.objects.push_back(std::move(object));
  }
}

}  // namespace

std::optional<ProvisionPlan> planProvision(const CompiledConfiguration& compiled, const ClusterObjects& objects,
                                           const std::string& image, const NamesOfGateways& names) {
  const config::Model& model = compiled.model;
  if (model.gatewayClassName.empty()) return std::nullopt;
  ProvisionPlan plan;
  const auto leaveAlone = [&plan](const std::string& nameSpace, const std::string& name) {
    plan.leftAlone.emplace(nameSpace, gatewayNameLabel(name));
  };
  for (const config::Rejected& each : model.rejected) {
    if (config::isKindOf<config::Gateway>(each.group, each.kind)) leaveAlone(each.nameSpace, each.name);
  }
  for (const config::Gateway& gateway : model.all<config::Gateway>()) {
    if (!isOfOurClass(gateway, model)) continue;
    const config::ObjectMeta& meta = gateway.meta;
    const auto newest = objects.find(meta.group, meta.kind, {meta.nameSpace, meta.name});
    if (newest.object == nullptr || !model.settingsFault.empty()) {
      leaveAlone(meta.nameSpace, meta.name);
      continue;
    }
    GatewayToRun run{.gateway = gateway,
                     .apiVersion = std::string(meta.group) + "/" + std::string(newest.version),
                     .uid = newest.object->uid,
                     .image = image,
                     .controllerNamespace = model.controllerNamespace,
                     .serviceAccountAnnotations = model.settings.provisioning.allowServiceAccountAnnotations};
    if (!isTrusted(model, meta.nameSpace)) run.classKeys = nameOfClassKeys(gateway);
    if (takeParameters(model, run) && !forbiddenChoice(model, gateway)) {
      addGateway(run, model, names, plan);
    } else {
      addAccessOfPods(run, names, plan);
    }
  }
  return plan;
}

config::StatusList withServiceAddresses(const config::StatusList& statuses, const config::Model& model) {
  config::StatusList changed = statuses;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const config::ObjectStatus& each = statuses[i];
    if (each.shape != config::StatusShape::kGateway) continue;
    const auto* gateway = model.find<config::Gateway>(each.group, each.kind, each.nameSpace, each.name);
    if (gateway == nullptr || !isOfOurClass(*gateway, model)) continue;
    auto status = std::make_shared<config::ObjectStatus>(each);
    status->addresses = {{"Hostname", nameOfPods(*gateway) + "." + each.nameSpace + ".svc"}};
    if (const config::GatewayAddress* asked = askedAddress(*gateway)) {
      status->addresses.clear();
      config::Condition condition;
      condition.type = config::condition_type::kProgrammed;
      condition.status = config::ConditionStatus::kFalse;
      condition.reason = config::reason::kAddressNotUsable;
      condition.message = asked->path + ": the Pods of a Gateway have the address of its Service and no other one";
      if (!status->conditions.empty()) {
        condition.observedGeneration = status->conditions.front().observedGeneration;
      }
      config::setCondition(status->conditions, std::move(condition));
    }
    changed.replace(i, std::move(status));
  }
  return changed;
}

}  // namespace sluice::control
