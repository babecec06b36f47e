#include "proxy/control/configuration/silent_objects.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "config/model/name_tuple_hash.h"
#include "config/read/object_kinds.h"
#include "config/status/conditions.h"
#include "proxy/base/text.h"
#include "proxy/compile/ground/closing_policies.h"
#include "proxy/compile/ground/references.h"

namespace sluice::control {
namespace {

using PortName = std::tuple<std::string_view, std::string_view, std::string_view>;  // of a Service
using ServiceName = std::pair<std::string_view, std::string_view>;                  // namespace and name

config::Problem warning(const config::ObjectMeta& meta, std::string field, std::string message) {
  return {config::Severity::kWarning, meta.position, meta.title(), std::move(field), std::move(message)};
}

bool isAlmostOurs(const config::GatewayClass& each) {
  const std::string_view ours[] = {config::kControllerName};
  return each.controllerName != config::kControllerName && !base::closestWord(each.controllerName, ours).empty();
}

/// If the configuration has no class of this program, that is an error (missingClass()).
void addClasses(const config::Model& model, config::Problems& problems) {
  if (model.gatewayClassName.empty()) return;
  for (const config::GatewayClass& each : model.all<config::GatewayClass>()) {
    if (!isAlmostOurs(each)) continue;
    problems.push_back(warning(each.meta, "spec.controllerName",
                               "is " + base::quote(each.controllerName) +
                                   ", which is not this program's: did you mean " +
                                   std::string(config::kControllerName) + "?"));
  }
}

/// Routes of other parents, such as Services, are those of other programs.
template <typename Routes>
void addRoutes(const Routes& routes, config::Problems& problems) {
  const auto isGateway = [](const config::ParentRef& ref) {
    const bool known = ref.object.group == config::kGatewayGroup || ref.object.group == config::kPrototypeGroup;
    return known || config::isKindOf<config::Gateway>(ref.object.group, ref.object.kind);
  };
  for (const auto& each : routes) {
    if (std::any_of(each.parentRefs.begin(), each.parentRefs.end(), isGateway)) continue;
    problems.push_back(warning(each.meta, "spec.parentRefs", "names no Gateway, so nothing serves this route"));
  }
}

void addEndpoints(const config::Model& model, config::Problems& problems) {
  std::set<std::string_view> unknown;  // namespaces with slices that are not legible
  for (const config::Rejected& each : model.rejected) {
    if (each.kind == config::EndpointSlice::kKind) unknown.insert(each.nameSpace);
  }
  std::unordered_set<ServiceName, config::NameTupleHash> sliced;
  std::unordered_set<PortName, config::NameTupleHash> ready;
  for (const config::EndpointSlice& each : model.all<config::EndpointSlice>()) {
    if (each.service.empty()) {
      problems.push_back(warning(
          each.meta, "metadata.labels",
          "has no " + std::string(config::EndpointSlice::kServiceLabel) + ", so its endpoints belong to no Service"));
      continue;
    }
    const ServiceName service{each.meta.nameSpace, each.service};
    sliced.insert(service);
    for (const config::EndpointSlice::Port& port : each.ports) {
      if (!each.endpoints.empty()) ready.emplace(service.first, service.second, port.name);
    }
    const bool known = model.find<config::Service>(service.first, service.second) != nullptr ||
                       model.findRejected("", config::Service::kKind, service.first, service.second) != nullptr;
    if (known) continue;
    problems.push_back(
        warning(each.meta, "metadata.labels",
                "there is no Service " + each.meta.nameSpace + "/" + each.service + ", so its endpoints are not used"));
  }
  for (const config::Service& each : model.all<config::Service>()) {
    const ServiceName name{each.meta.nameSpace, each.meta.name};
    if (each.isExternalName || unknown.contains(name.first)) continue;
    if (!sliced.contains(name)) {
      problems.push_back(
          warning(each.meta, "", "it has no EndpointSlice, and so no endpoints: requests to it answer 503"));
      continue;
    }
    for (std::size_t i = 0; i < each.ports.size(); ++i) {
      const config::ServicePort& port = each.ports[i];
      if (port.protocol != config::TransportProtocol::kTcp || ready.contains({name.first, name.second, port.name})) {
        continue;
      }
      problems.push_back(warning(each.meta, "spec.ports[" + std::to_string(i) + "]",
                                 "no EndpointSlice has a ready endpoint with this port" +
                                     (port.name.empty() ? std::string() : " (" + port.name + ")") +
                                     ": requests to it answer 503"));
    }
  }
}

/// A misspelt reference of a policy leaves a destination in plain text, and no status may show that: the ancestors of a
/// policy are Gateways, and none may use the object that the policy names.
void addTlsTargets(const config::Model& model, config::Problems& problems) {
  for (const config::BackendTlsPolicy& policy : model.all<config::BackendTlsPolicy>()) {
    for (const config::PolicyTarget& target : policy.targets) {
      if (!compile::isTlsTarget(target.targetKind())) continue;
      config::ObjectRef ref = target.object;
      ref.kind = compile::meantKind(model, target.object, policy.meta.nameSpace);
      const config::ObjectKind& kind = *config::findObjectKind(ref.group, ref.kind);
      if (kind.find(kind, model, policy.meta.nameSpace, ref.name) != nullptr) continue;
      if (model.findRejected(ref.group, ref.kind, policy.meta.nameSpace, ref.name) != nullptr) continue;
      const compile::Fault absent =
          compile::absenceFault(config::reason::kTargetNotFound, model, ref, compile::holderOf(policy.meta));
      problems.push_back(
          warning(policy.meta, target.object.path, withConsequence(absent, "; nothing gets TLS by it").message));
    }
  }
}

/// An object without a namespace is fine if no object has one. If others name theirs, the namespace was probably
/// forgotten.
void addUnplaced(const config::Model& model, config::Problems& problems) {
  bool others = false;
  std::vector<const config::ObjectMeta*> unplaced;
  for (const config::ObjectKind& kind : config::objectKinds()) {
    if (!kind.namespaced) continue;
    kind.forEach(kind, model, [&](const config::ObjectMeta& meta) {
      others = others || (meta.namespaceGiven && meta.nameSpace != config::kDefaultNamespace);
      if (!meta.namespaceGiven) unplaced.push_back(&meta);
      return true;
    });
  }
  if (!others || unplaced.empty()) return;
  std::string message = "is not given, so the object is in namespace " + std::string(config::kDefaultNamespace);
  if (unplaced.size() > 1) message += ", as are " + std::to_string(unplaced.size() - 1) + " more without one";
  problems.push_back(warning(*unplaced.front(), "metadata.namespace", message));
}

}  // namespace

config::Problems silentObjects(const config::Model& model) {
  config::Problems problems;
  addClasses(model, problems);
  addRoutes(model.all<config::HttpRoute>(), problems);
  addRoutes(model.all<config::GrpcRoute>(), problems);
  addEndpoints(model, problems);
  addTlsTargets(model, problems);
  addUnplaced(model, problems);
  return problems;
}

config::Problem missingClass(const config::Model& model) {
  config::Problem problem;
  std::string others;
  for (const config::GatewayClass& each : model.all<config::GatewayClass>()) {
    if (isAlmostOurs(each)) problem = warning(each.meta, "spec.controllerName", {});
    others += (others.empty() ? ": " : ", ") + each.meta.name + " has " + each.controllerName;
  }
  problem.severity = config::Severity::kError;
  problem.message = "there is no GatewayClass with controllerName " + std::string(config::kControllerName) + others;
  return problem;
}

}  // namespace sluice::control
