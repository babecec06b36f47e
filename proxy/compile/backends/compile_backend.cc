#include "proxy/compile/backends/compile_backend.h"

#include <algorithm>
#include <utility>

#include "proxy/compile/ground/backend_plan.h"
#include "proxy/compile/ground/compiled_chain.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/named_secrets.h"
#include "proxy/compile/processors/permitted_steps.h"
#include "proxy/compile/processors/refused_uses.h"

namespace sluice::compile {
namespace {

/// Returns a fault of the Backend as the holder of a reference may see it.
Fault told(const Fault& broken, const config::Backend& backend, const config::BackendObjectReference& ref,
           const Holder& holder) {
  const Fault seen = toldTo(holder.nameSpace, backend.meta.nameSpace, broken);
  return summary(seen.reason, ref.object.path, describe(ref.object, holder.nameSpace) + ": " + seen.text());
}

}  // namespace

BackendCatalog::BackendCatalog(const config::Model& model, const DestinationCatalog& destinations,
                               const ProcessorCompiler& processors, BackendCache& cache)
    : destinations_(destinations), cache_(cache) {
  for (const config::Backend& backend : model.all<config::Backend>()) {
    const BackendDestination& destination = destinations.of(backend);
    CompiledBackend& entry = backends_[&backend];
    entry.unaccepted = destination.unaccepted;
    for (const DestinationPort& each : destination.ports) {
      CompiledBackendPort port = compilePort(backend, each, processors, cache, entry);
      const config::BackendPort& written = backend.ports[entry.ports.size()];
      if (!model.controllerNamespace.empty()) port.secrets.merge(secretsNamedBy(backend, written, model));
      entry.ports.push_back(std::move(port));
    }
  }
}

CompiledBackendPort BackendCatalog::compilePort(const config::Backend& backend, const DestinationPort& destination,
                                                const ProcessorCompiler& processors, BackendCache& cache,
                                                CompiledBackend& whole) {
  CompiledBackendPort entry;
  entry.unaccepted = destination.unaccepted;
  entry.unresolved = destination.unresolved;
  entry.closed = destination.closed;
  entry.outdated = destination.outdated;
  if (destination.plan == nullptr) return entry;
  const UsesOf uses{holderOf(backend.meta), backend.meta.name, processing::Scope::kBackend,
                    destination.plan->tls ? Exposure::kNone : Exposure::kSome};
  const config::BackendPort& port = backend.ports[whole.ports.size()];
  CompiledUses own = processors.compile(backend.extensions, uses);
  noteOnce(whole.refused, own.refused);
  CompiledUses compiled = processors.targeting(backend.meta, {port.name, port.number}, uses, std::move(own));
  for (const RefusedUse& each : compiled.refused) {
    if (!each.origin.empty()) whole.attached.note({each});
  }
  entry.secrets = secretsUsedBy(compiled);
  entry.unprocessed = joined(compiled.closed());
  if (entry.unprocessed || entry.closed) return entry;
  auto plan = std::make_shared<routing::BackendPlan>(*destination.plan);
  plan->chain = chainOf(std::move(compiled.steps));
  plan->http11 = overHttp11(*plan);
  if (backend.dynamic) plan->stream = asStream(*plan);
  entry.plan = sharedPlan(std::move(plan), cache);
  return entry;
}

BackendUse BackendCatalog::resolve(const config::BackendObjectReference& ref, const Holder& holder) const {
  BackendUse use = destinations_.resolve(ref, holder);
  for (const EndpointUse& each : use.endpoints) {
    if (!each.result || !(*each.result.value)->tls) continue;
    const base::ObjectNames& ofTls = (*each.result.value)->tls->secrets;
    use.secrets.insert(ofTls.begin(), ofTls.end());
  }
  if (use.backend == nullptr) return use;
  const CompiledBackend& compiled = backends_.at(use.backend.get());
  const std::vector<const config::BackendPort*> meant = portsOf(*use.backend, ref.port);
  for (const config::BackendPort* each : meant) {
    const base::ObjectNames& named = compiled.ports[indexOf(*use.backend, *each)].secrets;
    use.secrets.insert(named.begin(), named.end());
  }
  if (use.backend->dynamic && !compiled.unaccepted && !meant.empty()) {
    use.endpoints = {{resolveDynamic(*use.backend, ref, holder)}};
    return use;
  }
  for (std::size_t i = 0; i < use.endpoints.size(); ++i) {
    BackendResult& result = use.endpoints[i].result;
    if (!result) continue;
    const CompiledBackendPort& port = compiled.ports[indexOf(*use.backend, *meant[i])];
    if (port.unprocessed) {
      result = told(*port.unprocessed, *use.backend, ref, holder);
    } else {
      result = port.plan;
    }
  }
  return use;
}

BackendResult BackendCatalog::resolveDynamic(const config::Backend& backend, const config::BackendObjectReference& ref,
                                             const Holder& holder) const {
  std::vector<std::shared_ptr<const routing::BackendPlan>> ports;
  for (const config::BackendPort* each : portsOf(backend, ref.port)) {
    const CompiledBackendPort& port = backends_.at(&backend).ports[indexOf(backend, *each)];
    if (const auto broken = port.fault()) return told(*broken, backend, ref, holder);
    // The steps of a request are chosen before its port is known.
    if (!ports.empty() && !same(ports.front()->chain.get(), port.plan->chain.get())) {
      return fault(config::reason::kUnsupportedValue, ref.object.path,
                   describe(ref.object, holder.nameSpace) +
                       ": its ports have different processors, so the reference must name one of them");
    }
    ports.push_back(port.plan);
  }
  const std::vector<std::string>& hostnames = backend.dynamic->hostnames;
  const auto need = hostnames.empty() ? routing::PolicyNeed::kDenyByDefault : routing::PolicyNeed::kNone;
  return sharedPlan(dynamicPlan(need, hostnames, ports), cache_);
}

std::shared_ptr<const routing::BackendPlan> BackendCatalog::governed(
    const std::shared_ptr<const routing::BackendPlan>& plan, const routing::ConnectionSettings& settings) const {
  if (plan->connection == settings) return plan;
  return sharedPlan(governedPlan(plan, settings), cache_);
}

bool BackendCatalog::keepGoverned(const routing::Rule& rule) const {
  const auto keeps = [&](const std::shared_ptr<const routing::BackendPlan>& plan) {
    const bool isGoverned = plan != nullptr && plan->connection != routing::ConnectionSettings();
    return !isGoverned || sharedPlan(plan, cache_) == plan;
  };
  const auto keepsAll = [&](const std::vector<routing::RequestMirror>& mirrors) {
    return std::all_of(mirrors.begin(), mirrors.end(), [&](const auto& each) { return keeps(each.backend); });
  };
  return keepsAll(rule.mirrors) &&
         std::all_of(rule.backends.begin(), rule.backends.end(), [&](const routing::WeightedBackend& each) {
           return keeps(each.backend) && keepsAll(each.mirrors);
         });
}

}  // namespace sluice::compile
