// What each Backend is told: the second half of BackendCatalog.
#include <utility>

#include "proxy/routing/backend_plan.h"
#include "proxy/routing/compile_backend.h"
#include "proxy/routing/object_status.h"

namespace sluice::routing {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }

std::string skipsVerification(const config::Backend& backend) {
  for (const config::BackendPort& port : backend.ports) {
    const auto& tls = tlsOf(backend, port);
    if (tls && tls->insecureSkipVerify) return "insecureSkipVerify: the certificate of this Backend is not verified";
  }
  return {};
}

std::string join(std::string a, const std::string& b) {
  if (!a.empty() && !b.empty()) a += "; ";
  return a + b;
}

/// Puts the conditions where the kind's CRD has them. A Backend that no Gateway uses yet has the GatewayClass for its
/// parent.
void place(config::ObjectStatus& status, const config::Model& model, const std::vector<config::Condition>& conditions,
           const std::map<std::string, const config::Gateway*>& users) {
  if (status.shape == config::StatusShape::kControllers) {
    config::ControllerStatus controller;
    controller.conditions = conditions;
    status.controllers.push_back(std::move(controller));
    return;
  }
  const auto add = [&](config::ObjectRef ref) {
    config::ParentStatus parent;
    parent.parentRef.object = std::move(ref);
    parent.conditions = conditions;
    status.parents.push_back(std::move(parent));
  };
  const std::string group(config::kGatewayGroup);
  for (const auto& [name, gateway] : users) {
    add({group, "Gateway", gateway->meta.nameSpace, gateway->meta.name, {}, {}});
  }
  if (users.empty()) add({group, "GatewayClass", {}, model.gatewayClassName, {}, {}});
}

}  // namespace

config::ObjectStatus BackendCatalog::status(const config::Backend& backend, const Entry& entry) const {
  const config::StatusShape shape = backend.statusShape == config::BackendStatusShape::kParents
                                        ? config::StatusShape::kParents
                                        : config::StatusShape::kControllers;
  config::ObjectStatus status = statusOf(backend.group, backend.kind, backend.meta.nameSpace, backend.meta.name, shape);
  Conditions conditions(backend.meta);
  conditions.check(condition_type::kAccepted, entry.unaccepted,
                   join(skipsVerification(backend), ignoredNote(backend.unbuilt)));
  conditions.check(condition_type::kResolvedRefs, entry.unresolved);
  std::optional<Fault> unprogrammed;
  if (entry.unaccepted || entry.unresolved) {
    unprogrammed = fault(reason::kInvalid, "requests to it answer 500; see the other conditions");
  }
  conditions.check(condition_type::kProgrammed, unprogrammed);
  if (!backend.extensions.empty()) {
    conditions.good(condition_type::kDegraded, reason::kUnsupportedExtensionType, entry.unaccepted->message);
  }
  place(status, model_, conditions.take(), entry.users);
  return status;
}

config::ObjectStatus BackendCatalog::status(const config::Rejected& rejected) const {
  const config::StatusShape shape =
      rejected.kind == "XBackend" ? config::StatusShape::kParents : config::StatusShape::kControllers;
  config::ObjectStatus status = statusOf(rejected.group, rejected.kind, rejected.nameSpace, rejected.name, shape);
  Conditions conditions(rejected.generation);
  conditions.bad(condition_type::kAccepted, fault(reason::kInvalid, rejected.message));
  conditions.bad(condition_type::kProgrammed, fault(reason::kInvalid, "requests to it answer 500"));
  place(status, model_, conditions.take(), {});
  return status;
}

std::vector<config::ObjectStatus> BackendCatalog::statuses() const {
  std::vector<config::ObjectStatus> result;
  for (const auto& [backend, entry] : entries_) result.push_back(status(*backend, entry));
  for (const config::Rejected& rejected : model_.rejected) {
    if (rejected.kind == "Backend" || rejected.kind == "XBackend") result.push_back(status(rejected));
  }
  return result;
}

}  // namespace sluice::routing
