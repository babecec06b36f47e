#include "proxy/compile/status/backend_status.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/backends/compile_backend.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/object_status.h"
#include "proxy/compile/processors/refused_uses.h"
#include "proxy/compile/status/backend_health.h"
#include "proxy/compile/status/refused_objects.h"
#include "proxy/compile/status/use_conditions.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;
namespace condition_type = config::condition_type;

std::vector<config::Finding> notesOf(const config::Backend& backend) {
  std::vector<config::Finding> notes = ignoredNotes(backend.unsupported);
  const auto skips = [&](const config::BackendPort& port) {
    const auto& tls = tlsOf(backend, port);
    return tls && tls->insecureSkipVerify;
  };
  const auto port = std::find_if(backend.ports.begin(), backend.ports.end(), skips);
  if (port == backend.ports.end()) return notes;
  notes.push_back({tlsOf(backend, *port)->path, "insecureSkipVerify: the certificate of this Backend is not verified"});
  return notes;
}

/// Adds a fault unless it is in the list already. Ports often share their TLS and so its faults.
void add(std::vector<Fault>& faults, const Fault& fault) {
  const bool known =
      std::any_of(faults.begin(), faults.end(), [&](const Fault& other) { return other.text() == fault.text(); });
  if (!known) faults.push_back(fault);
}

/// Returns true if the kind has the condition Available, which Gateway API's own kinds do not have.
bool hasAvailable(config::StatusShape shape) { return shape != config::StatusShape::kParents; }

/// Adds the condition that Gateway API calls Programmed and the proposal calls Available. A Backend that is `down` is
/// still Programmed, because its requests are sent as its object demands.
void setServed(Conditions& conditions, config::StatusShape shape, const std::optional<Fault>& unserved,
               const std::optional<Fault>& down = std::nullopt) {
  conditions.check(condition_type::kProgrammed, unserved);
  if (hasAvailable(shape)) {
    conditions.check(condition_type::kAvailable, unserved ? unserved : down);
  }
}

/// Stores the conditions where the kind's CRD has them. A Backend that no Gateway uses yet has the GatewayClass as its
/// parent.
void place(config::ObjectStatus& status, const config::Model& model, const std::vector<config::Condition>& conditions,
           const std::set<const config::Gateway*>& users) {
  if (status.shape == config::StatusShape::kConditions) {
    status.conditions = conditions;
    return;
  }
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
  std::vector<const config::Gateway*> byName(users.begin(), users.end());
  std::sort(byName.begin(), byName.end(), [](const config::Gateway* a, const config::Gateway* b) {
    return std::pair(a->meta.qualifiedName(), a->meta.kind) < std::pair(b->meta.qualifiedName(), b->meta.kind);
  });
  for (const config::Gateway* gateway : byName) {
    const config::ObjectMeta& meta = gateway->meta;
    add({std::string(meta.group), std::string(meta.kind), meta.nameSpace, meta.name, {}, {}});
  }
  const std::string group(config::kGatewayGroup);
  if (users.empty()) add({group, std::string(config::GatewayClass::kKind), {}, model.gatewayClassName, {}, {}});
}

/// Returns the uses of the Backend that cannot run, in whichever objects they are written.
std::vector<RefusedUse> refusedOf(const CompiledBackend& compiled) {
  std::vector<RefusedUse> all = compiled.refused;
  for (RefusedUse& each : compiled.attached.all()) {
    each.fault = each.named();
    all.push_back(std::move(each));
  }
  return all;
}

/// The faults of endpoints that do not serve.
struct Outage {
  std::optional<Fault> ofAll;   // no endpoint serves, so the Backend is not available
  std::optional<Fault> ofSome;  // other endpoints still serve, or other rules use them
};

Outage outageOf(const config::Backend& backend, const BackendFaults& faults) {
  const std::string object = objectOf(backend.meta);
  const std::optional<Fault> fault = faults.of(object);
  const std::optional<Fault> ejected = faults.ejectionsOf(object);
  const bool leavesSome = (backend.hasEndpoints || backend.service) && faults.leaveSome(object);
  return leavesSome ? Outage{std::nullopt, both(fault, ejected)} : Outage{fault, ejected};
}

/// Returns what the Backend waits for: a reference that does not resolve yet, a processor, or connections.
std::optional<Fault> awaitedBy(const std::vector<Fault>& unresolved, const std::vector<RefusedUse>& refused,
                               const Outage& outage) {
  std::vector<Fault> awaited = unresolved;
  for (const RefusedUse& each : refused) {
    if (each.fault.reason == reason::kExtensionPending) add(awaited, each.fault);
  }
  if (outage.ofAll && outage.ofAll->reason == reason::kUnreachable) add(awaited, *outage.ofAll);
  std::optional<Fault> all = joined(awaited);
  if (all) all->summary = true;
  return all;
}

/// Adds the condition that only the proposal for Backends has.
void setProgressing(Conditions& conditions, const std::optional<Fault>& awaited) {
  if (awaited) {
    conditions.set(condition_type::kProgressing, config::ConditionStatus::kTrue, *awaited);
  } else {
    conditions.set(condition_type::kProgressing, config::ConditionStatus::kFalse, summary(reason::kCompleted, ""));
  }
}

config::ObjectStatus backendStatus(const config::Model& model, const config::Backend& backend,
                                   const CompiledBackend& compiled, const std::vector<AskedServer>& servers,
                                   const Outage& outage) {
  std::vector<Fault> unaccepted;
  std::vector<Fault> unresolved;
  std::vector<Fault> closed;
  std::vector<Fault> outdated;
  bool served = false;
  for (const CompiledBackendPort& port : compiled.ports) {
    if (port.unaccepted) add(unaccepted, *port.unaccepted);
    if (port.unresolved) add(unresolved, *port.unresolved);
    if (port.closed) add(closed, *port.closed);
    if (port.outdated) {
      add(unresolved, *port.outdated);
      add(outdated, summarized(*port.outdated));
    }
    served = served || port.plan;
  }
  const bool anyAccepted = std::any_of(compiled.ports.begin(), compiled.ports.end(),
                                       [](const auto& port) { return !port.unaccepted.has_value(); });
  std::optional<Fault> refusal = compiled.unaccepted;
  if (!refusal && !anyAccepted) refusal = joined(unaccepted);

  config::ObjectStatus status = statusOf(backend.meta);
  Conditions conditions(backend.meta);
  const std::optional<Fault> kept = keptFault(model, backend.meta);
  conditions.check(condition_type::kAccepted, both(refusal, kept), notesOf(backend));
  conditions.check(condition_type::kResolvedRefs, joined(unresolved));
  std::optional<Fault> unprogrammed;
  if (refusal || !served)
    unprogrammed = summary(reason::kInvalid, "requests to it answer 500; see the other conditions");
  setServed(conditions, status.shape, unprogrammed, outage.ofAll);
  if (status.shape == config::StatusShape::kControllers) {
    setProgressing(conditions, awaitedBy(unresolved, refusedOf(compiled), outage));
  }
  if (!refusal && !unaccepted.empty()) {
    conditions.troubled(condition_type::kPartiallyInvalid, *joined(unaccepted));
  }
  // A kind without the condition Available reports the outage here.
  const std::optional<Fault> unsaid = hasAvailable(status.shape) ? outage.ofSome : both(outage.ofAll, outage.ofSome);
  const std::optional<Fault> away = both(degradation(refusedOf(compiled)), both(awayFault(servers), unsaid));
  if (const auto degraded = both(both(joined(closed), joined(outdated)), away)) {
    conditions.troubled(condition_type::kDegraded, *degraded);
  } else if (kept && hasAvailable(status.shape)) {
    conditions.troubled(condition_type::kDegraded, *kept);
  }
  std::vector<RefusedUse> refused = compiled.refused;
  noteOnce(refused, awayUses(servers));
  addUseConditions(refused, conditions);
  addServerConditions(servers, conditions, kMostUseConditions);
  place(status, model, conditions.take(), compiled.users);
  return status;
}

config::ObjectStatus refusedBackendStatus(const config::Model& model, const config::Rejected& rejected) {
  config::ObjectStatus status = statusOf(rejected);
  Conditions conditions(rejected.generation);
  conditions.bad(condition_type::kAccepted, summary(reason::kInvalid, rejected.message));
  setServed(conditions, status.shape, summary(reason::kInvalid, "requests to it answer 500"));
  place(status, model, conditions.take(), {});
  return status;
}

}  // namespace

void backendStatuses(const StatusSources& sources, Statuses& statuses) {
  for (const auto& [backend, compiled] : sources.backends.backends()) {
    statuses.push_back(backendStatus(sources.model, *backend, compiled,
                                     sources.servers.in(objectName(holderOf(backend->meta), backend->meta.name)),
                                     outageOf(*backend, sources.backendFaults)));
  }
  forEachRefused<config::Backend>(sources.model, [&](const config::Rejected& rejected) {
    statuses.push_back(refusedBackendStatus(sources.model, rejected));
  });
}

}  // namespace sluice::compile
