#include "proxy/kubernetes/provision/provision_plan.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/load/gateway_settings.h"
#include "proxy/compile/gateways/pod_choices.h"
#include "proxy/compile/ground/secret_trust.h"
#include "proxy/kubernetes/provision/class_keys.h"
#include "proxy/kubernetes/provision/gateway_access.h"
#include "proxy/kubernetes/provision/gateway_pods.h"

namespace sluice::kubernetes {
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

/// Returns the first address that the Gateway asks for; nullptr if it leaves the choice to the controller.
const config::GatewayAddress* askedAddress(const config::Gateway& gateway) {
  const auto found = std::find_if(gateway.addresses.begin(), gateway.addresses.end(),
                                  [](const config::GatewayAddress& each) { return !each.value.empty(); });
  return found == gateway.addresses.end() ? nullptr : &*found;
}

bool isOfOurClass(const config::Gateway& gateway, const config::Model& model) {
  return gateway.gatewayClassName == model.gatewayClassName;
}

std::size_t applyOrder(const ProvisionedKind* kind) {
  const auto kinds = provisionedKinds();
  return static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

/// Plans for the Gateways of one configuration.
class Planner {
 public:
  Planner(const config::Model& model, const ClusterObjects& objects, const std::string& image,
          const NamesOfGateways& names, const std::string& sharedRole)
      : model_(model), objects_(objects), image_(image), names_(names), sharedRole_(sharedRole) {}

  ProvisionPlan plan() && {
    for (const config::Rejected& each : model_.rejected) {
      if (config::isKindOf<config::Gateway>(each.group, each.kind)) addRejected(each);
    }
    for (const config::Gateway& gateway : model_.all<config::Gateway>()) {
      if (!isOfOurClass(gateway, model_)) continue;
      std::optional<GatewayToRun> run = toRun(gateway);
      if (!run) {
        leaveAlone(gateway.meta.nameSpace, gateway.meta.name, LeftAlone::kAll);
      } else if (takeParameters(model_, *run) && !compile::forbiddenChoice(model_, gateway)) {
        addGateway(*run);
      } else {
        addAccess(*run);
      }
    }
    return std::move(plan_);
  }

 private:
  /// Returns nullopt if it is not known how its objects should be: the settings of its class are wrong, or it has just
  /// been deleted.
  std::optional<GatewayToRun> toRun(const config::Gateway& gateway) const {
    const config::ObjectMeta& meta = gateway.meta;
    const auto newest = objects_.find(meta.group, meta.kind, {meta.nameSpace, meta.name});
    if (newest.object == nullptr || !model_.settingsFault.empty()) return std::nullopt;
    GatewayToRun run{.gateway = gateway,
                     .apiVersion = std::string(meta.group) + "/" + std::string(newest.version),
                     .uid = newest.object->uid,
                     .image = image_,
                     .controllerNamespace = model_.controllerNamespace,
                     .serviceAccountAnnotations = model_.settings.provisioning.allowServiceAccountAnnotations,
                     .sharedRole = sharedRole_};
    if (!compile::isTrusted(model_, meta.nameSpace)) run.classKeys = nameOfClassKeys(gateway);
    return run;
  }

  /// Its Pods keep serving its previous version.
  void addRejected(const config::Rejected& rejected) {
    const auto* legible = rejected.legible<config::Gateway>();
    if (!model_.settingsFault.empty()) {
      leaveAlone(rejected.nameSpace, rejected.name, LeftAlone::kAll);
    } else if (legible == nullptr || legible->gatewayClassName.empty()) {
      leaveAlone(rejected.nameSpace, rejected.name, LeftAlone::kNotElsewhere);
    } else if (!isOfOurClass(*legible, model_)) {
      return;
    } else if (const std::optional<GatewayToRun> run = toRun(*legible)) {
      addAccess(*run);
    } else {
      leaveAlone(rejected.nameSpace, rejected.name, LeftAlone::kAll);
    }
  }

  /// Objects that Pods need come before them, and the account comes before its rights, so that no other account of this
  /// name gets them.
  void addGateway(const GatewayToRun& run) {
    std::vector<ProvisionedObject> all = podsOf(run);
    for (ProvisionedObject& object : accessOf(run, names_)) all.push_back(std::move(object));
    if (!run.classKeys.empty()) {
      if (auto keys = classKeysOf(run, model_)) all.push_back(*std::move(keys));
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return applyOrder(a.kind) < applyOrder(b.kind); });
    std::move(all.begin(), all.end(), std::back_inserter(plan_.objects));
  }

  /// Leaves the Pods of a Gateway as they are. Whatever the Gateway asks for, they get no further rights.
  void addAccess(const GatewayToRun& run) {
    const config::ObjectMeta& meta = run.gateway.meta;
    leaveAlone(meta.nameSpace, meta.name, LeftAlone::kPods);
    for (ProvisionedObject& object : accessOf(run, names_)) {
      object.onlyIfThere = true;
      plan_.objects.push_back(std::move(object));
    }
  }

  /// Gateways of two kinds may have one name.
  void leaveAlone(const std::string& nameSpace, const std::string& name, LeftAlone what) {
    LeftAlone& known = plan_.leftAlone.try_emplace({nameSpace, gatewayNameLabel(name)}, what).first->second;
    known = std::max(known, what);
  }

  const config::Model& model_;
  const ClusterObjects& objects_;
  const std::string& image_;
  const NamesOfGateways& names_;
  const std::string& sharedRole_;
  ProvisionPlan plan_;
};

}  // namespace

std::optional<ProvisionPlan> planProvision(const control::CompiledConfiguration& compiled,
                                           const ClusterObjects& objects, const std::string& image,
                                           const NamesOfGateways& names, const std::string& sharedRole) {
  if (compiled.model.gatewayClassName.empty()) return std::nullopt;
  return Planner(compiled.model, objects, image, names, sharedRole).plan();
}

GatewayObjects podObjectsOf(const config::Model& model, const ClusterObjects& objects) {
  GatewayObjects names;
  const auto add = [&](const config::Gateway& gateway) {
    const config::ObjectMeta& meta = gateway.meta;
    const auto newest = objects.find(meta.group, meta.kind, {meta.nameSpace, meta.name});
    if (newest.object == nullptr || !isOfOurClass(gateway, model)) return;
    const ApiObjectKey name{meta.nameSpace, nameOfPods(gateway)};
    names.try_emplace(meta.title(), name, newest.object->uid);
  };
  for (const config::Gateway& each : model.all<config::Gateway>()) add(each);
  for (const config::Rejected& each : model.rejected) {
    if (const auto* legible = each.legible<config::Gateway>()) add(*legible);
  }
  return names;
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

}  // namespace sluice::kubernetes
