#include "proxy/compile/destinations/destination_catalog.h"

#include <utility>

#include "config/read/object_kinds.h"
#include "config/status/conditions.h"
#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/hints.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

/// Returns nullopt for a protocol that is not supported.
std::optional<routing::UpstreamProtocol> upstreamProtocol(config::BackendProtocol protocol) {
  switch (protocol) {
    case config::BackendProtocol::kAuto:
      return routing::UpstreamProtocol::kAuto;
    case config::BackendProtocol::kHttp11:
      return routing::UpstreamProtocol::kHttp11;
    case config::BackendProtocol::kHttp2:
      return routing::UpstreamProtocol::kHttp2;
    case config::BackendProtocol::kOther:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Returns the fault that prevents the whole Backend from being served, regardless of its references.
std::optional<Fault> acceptance(const config::Backend& backend) { return alteringFault(backend.unsupported); }

/// Returns the fault that prevents one port from being served, regardless of its references.
std::optional<Fault> acceptance(const config::BackendPort& port, const std::optional<config::BackendTls>& tls) {
  if (!upstreamProtocol(port.protocol)) {
    return fault(reason::kUnsupportedProtocol, port.protocolPath,
                 port.protocolName + " is not supported; requests to this port answer 500");
  }
  if (!tls) return std::nullopt;
  if (tls->mode == config::TlsMode::kPassthrough) {
    return fault(reason::kUnsupportedProtocol, tls->path + ".mode",
                 "Passthrough cannot carry HTTP routes; requests from an HTTPRoute answer 500");
  }
  routing::UpstreamTls ignored;
  return compileTlsOptions(*tls, ignored);
}

/// Explains why a reference with that port matches no port of the Backend.
std::string whyNoPort(const config::Backend& backend, std::uint16_t port, std::string_view reader) {
  if (backend.hasEndpoints) return "each of its endpoints has a port, so the reference must name none";
  if (port == 0) return "it has several ports, so the reference must name one";
  std::vector<std::uint16_t> numbers;
  if (reader == backend.meta.nameSpace) {
    for (const config::BackendPort& each : backend.ports) numbers.push_back(each.number);
  }
  return "it has no port " + std::to_string(port) + availablePorts(numbers);
}

/// Returns a fault because the Backend's own TLS contradicts a policy for it.
Fault contradiction(const config::Finding& own, const config::ObjectMeta& policy) {
  return fault(
      reason::kInvalid, own.field,
      own.message + " contradicts " + policy.title() + ", which is for this Backend; requests to it answer 500");
}

bool originatesTls(const std::optional<config::BackendTls>& tls) {
  return tls && (tls->mode == config::TlsMode::kServerAuth || tls->mode == config::TlsMode::kMutual);
}

}  // namespace

DestinationCatalog::DestinationCatalog(const config::Model& model, const SystemTrust& systemTrust,
                                       const DestinationRules& rules, BackendCache& cache,
                                       processing::SharedStates& states)
    : model_(model), services_(model, rules, cache) {
  TlsCompiler tls(model, systemTrust);
  for (const std::shared_ptr<const config::Backend>& object : model.all<config::Backend>().shared()) {
    const config::Backend& backend = *object;
    BackendDestination& entry = backends_[&backend];
    entry.backend = object;
    entry.unaccepted = acceptance(backend);
    for (const config::BackendPort& port : backend.ports) {
      entry.ports.push_back(compilePort(backend, port, tls, rules, cache, states));
    }
  }
}

DestinationPort DestinationCatalog::compilePort(const config::Backend& backend, const config::BackendPort& port,
                                                TlsCompiler& tls, const DestinationRules& rules, BackendCache& cache,
                                                processing::SharedStates& states) {
  DestinationPort entry;
  entry.unaccepted = acceptance(port, tlsOf(backend, port));
  if (entry.unaccepted) return entry;
  Resolved<routing::BackendPlan> destination = planOf(backend, port);
  if (!destination) {
    entry.unresolved = std::move(destination.fault);
    return entry;
  }
  auto plan = std::make_shared<routing::BackendPlan>(*std::move(destination.value));
  if (!addTls(backend, port, tls, rules.tls, *plan, entry)) return entry;
  plan->authority = authorityOf(*plan);
  plan->identity = identityOf(*plan);
  // One destination that a request names says nothing about the others.
  if (!backend.dynamic) {
    plan->reach = states.get<routing::BackendReach>("reach of " + plan->identity.text(),
                                                    [] { return std::make_shared<const routing::BackendReach>(); });
  }
  plan->http11 = overHttp11(*plan);
  if (plan->endpoints) ofServices_.insert_or_assign(plan->identity, plan);
  entry.closed = rules.closing.faultOf(backend.meta, {port.name, port.number});
  entry.plan = cache.destinations.get(
      plan->identity, [&](const auto& before) { return sameSecrets(*before, *plan); }, [&] { return std::move(plan); });
  return entry;
}

Resolved<routing::BackendPlan> DestinationCatalog::planOf(const config::Backend& backend,
                                                          const config::BackendPort& port) const {
  routing::BackendPlan plan;
  if (backend.service) {
    const Holder holder = holderOf(backend.meta);
    if (auto forbidden = crossNamespaceFault(model_, *backend.service, holder)) return *std::move(forbidden);
    const BackendResult service = services_.resolve({*backend.service, port.number}, holder);
    if (!service) return service.fault;
    plan = *services_.newest(*service.value);
  } else {
    plan.hostname = hostnameOf(backend, port);
    plan.port = port.number;
  }
  plan.name = backend.meta.qualifiedName();
  plan.object = objectOf(backend.meta);
  if (port.protocol != config::BackendProtocol::kAuto) plan.protocol = *upstreamProtocol(port.protocol);
  return plan;
}

bool DestinationCatalog::addTls(const config::Backend& backend, const config::BackendPort& port, TlsCompiler& tls,
                                const BackendTlsPolicies& policies, routing::BackendPlan& plan,
                                DestinationPort& entry) {
  const std::optional<config::BackendTls>& own = tlsOf(backend, port);
  const config::PolicySection section{port.name, port.number};
  auto found = policies.of(backend.meta, section);
  if (found && backend.dynamic) {
    entry.closed = fault(reason::kUnsupportedValue, {},
                         policies.find(backend.meta, section)->policy->meta.title() +
                             " names one server, but requests name the destinations of this Backend; requests to it "
                             "answer 500");
  } else if (const auto against = contradictionIn(own); found && against) {
    entry.unaccepted = contradiction(*against, policies.find(backend.meta, section)->policy->meta);
  } else if (found && !*found) {
    entry.closed = std::move(found->fault);
  } else if (own && (found || originatesTls(own))) {
    Resolved<CompiledTls> compiled = found ? tls.complete(holderOf(backend.meta), *std::move(found->value), *own)
                                           : tls.compile(holderOf(backend.meta), plan.hostname, *own);
    if (compiled) {
      found = std::move(compiled.value->tls);
      entry.outdated = std::move(compiled.value->outdated);
    } else {
      entry.unresolved = std::move(compiled.fault);
    }
  }
  if (entry.fault()) return false;
  if (found) plan.tls = std::move(found->value);
  return true;
}

std::shared_ptr<const routing::BackendPlan> DestinationCatalog::newest(
    const std::shared_ptr<const routing::BackendPlan>& plan) const {
  const auto found = ofServices_.find(plan->countedAs());
  return found == ofServices_.end() ? services_.newest(plan) : withEndpoints(plan, *found->second);
}

config::ObjectRef DestinationCatalog::meaningOf(const config::ObjectRef& ref, const Holder& holder) const {
  config::ObjectRef meant = ref;
  meant.nameSpace = targetNamespace(ref, holder.nameSpace);
  meant.kind = meantKind(model_, ref, meant.nameSpace);
  return meant;
}

BackendUse DestinationCatalog::resolve(const config::BackendObjectReference& ref, const Holder& holder) const {
  if (auto forbidden = permission(ref.object, holder)) return {ref, {{*std::move(forbidden)}}, {}, nullptr};
  if (isService(ref.object)) {
    return {ref, {{services_.resolve(ref, holder)}}, services_.note(ref, holder.nameSpace), nullptr};
  }
  const config::ObjectRef meant = meaningOf(ref.object, holder);
  const config::Backend* backend = model_.find<config::Backend>(meant.group, meant.kind, meant.nameSpace, meant.name);
  if (backend == nullptr) {
    return {ref, {{absenceFault(reason::kBackendNotFound, model_, meant, holder)}}, {}, nullptr};
  }
  const bool isOwn = backend->meta.nameSpace == holder.nameSpace;
  return {ref, resolve(ref, holder, *backend), isOwn ? noteOn(*backend, ref.port) : config::Finding(),
          of(*backend).backend};
}

config::Finding DestinationCatalog::noteOn(const config::Backend& backend, std::uint16_t port) const {
  const config::BackendPort* found = backend.service ? backend.findPort(port) : nullptr;
  if (found == nullptr) return {};
  return {{}, services_.note({*backend.service, found->number}, backend.meta.nameSpace).text()};
}

std::vector<EndpointUse> DestinationCatalog::resolve(const config::BackendObjectReference& ref, const Holder& holder,
                                                     const config::Backend& backend) const {
  const std::string object = describe(ref.object, holder.nameSpace) + ": ";
  const BackendDestination& entry = backends_.at(&backend);
  const auto told = [&](const Fault& broken) {
    const Fault seen = toldTo(holder.nameSpace, backend.meta.nameSpace, broken);
    return summary(seen.reason, ref.object.path, object + seen.text());
  };
  if (entry.unaccepted) return {{told(*entry.unaccepted)}};
  const std::vector<const config::BackendPort*> meant = portsOf(backend, ref.port);
  if (meant.empty())
    return {
        {fault(reason::kBackendNotFound, ref.object.path, object + whyNoPort(backend, ref.port, holder.nameSpace))}};
  if (backend.dynamic) return {{requestsNameIt(ref.object, holder)}};
  std::vector<EndpointUse> uses;
  for (const config::BackendPort* each : meant) {
    const DestinationPort& found = entry.ports[indexOf(backend, *each)];
    const std::optional<Fault>& broken = found.fault();
    uses.push_back({broken ? BackendResult(told(*broken)) : found.plan,
                    backend.hasEndpoints ? hostAndPort(each->hostname, each->number) : std::string(), each->priority,
                    each->weight});
  }
  return uses;
}

std::string DestinationCatalog::hintAtKind(const config::ObjectRef& ref, const Holder& holder) const {
  return nearestObject(model_, ref, holder, kindsLike(config::kOwnGroup, config::Backend::kKind));
}

std::optional<Fault> DestinationCatalog::permission(const config::ObjectRef& ref, const Holder& holder) const {
  const config::ObjectKind* kind = config::findObjectKind(ref.group, ref.kind);
  if (kind == nullptr || !(kind->isOf<config::Backend>() || kind->isOf<config::Service>())) {
    const std::string name = ref.group.empty() ? ref.kind : ref.kind + "." + ref.group;
    return fault(reason::kInvalidKind, ref.path,
                 describe(ref, holder.nameSpace) + ": backends of kind " + name + " are not supported" +
                     hintAtKind(ref, holder));
  }
  if (!kind->crossesNamespaces && targetNamespace(ref, holder.nameSpace) != holder.nameSpace) {
    return fault(reason::kRefNotPermitted, ref.path,
                 describe(ref, holder.nameSpace) + ": an " + ref.kind + " must be in the namespace of the route");
  }
  return crossNamespaceFault(model_, ref, holder);
}

}  // namespace sluice::compile
