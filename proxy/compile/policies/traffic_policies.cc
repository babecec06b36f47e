#include "proxy/compile/policies/traffic_policies.h"

#include <algorithm>
#include <string>

#include "config/read/object_kinds.h"
#include "proxy/compile/ground/disclosure.h"
#include "proxy/compile/ground/references.h"

namespace sluice::compile {

namespace {

bool isOfBackends(const config::TrafficPolicy& policy) {
  const auto mayBeBackend = [](const auto& named) {
    const config::PolicyTargetKind kind = named.targetKind();
    return !kind.legible() || config::isKindOf<config::Backend>(kind.group, kind.kind) ||
           config::isKindOf<config::Service>(kind.group, kind.kind);
  };
  return std::any_of(policy.targets.begin(), policy.targets.end(), mayBeBackend) ||
         std::any_of(policy.selectors.begin(), policy.selectors.end(), mayBeBackend);
}

/// Returns true if some policy targets a Backend or a Service, or some Backend has settings of its own.
bool speaksOfBackends(const config::Model& model) {
  const auto& policies = model.all<config::TrafficPolicy>();
  if (std::any_of(policies.begin(), policies.end(), isOfBackends)) return true;
  const auto isRefused = [](const config::Rejected& each) {
    const auto* legible = each.legible<config::TrafficPolicy>();
    return legible != nullptr && isOfBackends(*legible);
  };
  if (std::any_of(model.rejected.begin(), model.rejected.end(), isRefused)) return true;
  const auto& backends = model.all<config::Backend>();
  return std::any_of(backends.begin(), backends.end(), [](const config::Backend& each) { return each.traffic.any(); });
}

void addBackendTraffic(const config::BackendTraffic& traffic, TrafficSettings& settings) {
  if (traffic.passiveHealth) settings.passiveHealth = &*traffic.passiveHealth;
  if (traffic.activeHealth) settings.activeHealth = &*traffic.activeHealth;
  if (traffic.timeouts) settings.timeouts = &*traffic.timeouts;
  if (traffic.keepalive) settings.keepalive = &*traffic.keepalive;
  if (traffic.dns) settings.dns = &*traffic.dns;
  if (traffic.circuitBreaker) settings.circuitBreaker = &*traffic.circuitBreaker;
  if (traffic.loadBalancing) settings.loadBalancing = &*traffic.loadBalancing;
  if (traffic.sendsVia) settings.sendsVia = &*traffic.sendsVia;
}

/// Returns the value of a field; null if it is absent.
template <typename Field>
const Field* valueOf(const std::optional<Field>& field) {
  return field ? &*field : nullptr;
}

/// Returns the fault of a policy that its schema refused, or that has an unsupported field.
std::optional<Fault> faultOfPolicy(const AttachedPolicies<config::TrafficPolicy>::PolicyCandidate& candidate) {
  const config::TrafficPolicy& policy = *candidate.policy;
  const std::string title = policy.meta.title() + ": ";
  if (candidate.rejected != nullptr) {
    return summary(config::reason::kInvalid, title + candidate.rejected->message);
  }
  std::optional<Fault> unsupported = alteringFault(policy.unsupported);
  if (!unsupported) return std::nullopt;
  return summary(unsupported->reason, title + unsupported->text());
}

/// Returns the section for a port of a Backend or a Service. Without a port, the section is the whole object.
template <typename Port>
config::PolicySection sectionOf(const Port* port) {
  return port == nullptr ? config::PolicySection() : config::PolicySection{port->name, port->number};
}

}  // namespace

void TrafficSettings::inherit(const TrafficSettings& others) {
  if (retry == nullptr) retry = others.retry;
  if (failover == nullptr) failover = others.failover;
  if (retryConstraint == nullptr) retryConstraint = others.retryConstraint;
  if (sessions == nullptr) sessions = others.sessions;
  // Both are parts of the same field.
  if (passiveHealth == nullptr && activeHealth == nullptr) {
    passiveHealth = others.passiveHealth;
    activeHealth = others.activeHealth;
  }
  if (timeouts == nullptr) timeouts = others.timeouts;
  if (keepalive == nullptr) keepalive = others.keepalive;
  if (dns == nullptr) dns = others.dns;
  if (circuitBreaker == nullptr) circuitBreaker = others.circuitBreaker;
  if (loadBalancing == nullptr) loadBalancing = others.loadBalancing;
  if (sendsVia == nullptr) sendsVia = others.sendsVia;
  if (matching == nullptr) matching = others.matching;
  if (integrations == nullptr) integrations = others.integrations;
  if (priority == nullptr) priority = others.priority;
  policies.insert(policies.end(), others.policies.begin(), others.policies.end());
  if (!fault) fault = others.fault;
}

void TrafficSettings::replace(const config::TrafficPolicy& policy, const config::TrafficPolicy& other) {
  const auto isFrom = [](const auto* setting, const auto& field) {
    return setting != nullptr && setting == valueOf(field);
  };
  const auto swap = [&](auto*& setting, const auto& before, const auto& after) {
    if (isFrom(setting, before)) setting = valueOf(after);
  };
  if (isFrom(passiveHealth, policy.passiveHealth) || isFrom(activeHealth, policy.activeHealth)) {
    passiveHealth = valueOf(other.passiveHealth);
    activeHealth = valueOf(other.activeHealth);
  }
  swap(retry, policy.retry, other.retry);
  swap(timeouts, policy.timeouts, other.timeouts);
  swap(keepalive, policy.keepalive, other.keepalive);
  swap(dns, policy.dns, other.dns);
  swap(circuitBreaker, policy.circuitBreaker, other.circuitBreaker);
  swap(loadBalancing, policy.loadBalancing, other.loadBalancing);
}

TrafficSettings RuleTraffic::ofRule() const {
  TrafficSettings settings = own;
  settings.inherit(inherited);
  return settings;
}

TrafficSettings RuleTraffic::ofBackend(std::size_t index) const {
  TrafficSettings settings = own;
  if (index < ofBackends.size()) settings.inherit(ofBackends[index]);
  settings.inherit(inherited);
  return settings;
}

TrafficPolicies::TrafficPolicies(const config::Model& model)
    : model_(model), policies_(model), ofBackends_(speaksOfBackends(model)) {}

const config::Service* TrafficPolicies::serviceOf(const BackendUse& use, const Holder& holder) const {
  if (use.backend != nullptr || !use.first() || !isService(use.target.object)) return nullptr;
  return model_.find<config::Service>(targetNamespace(use.target.object, holder.nameSpace), use.target.object.name);
}

TrafficSettings TrafficPolicies::of(const BackendUse& use, const Holder& holder) const {
  TrafficSettings settings;
  if (!ofBackends_) return settings;
  if (use.backend != nullptr) {
    addBackendTraffic(use.backend->traffic, settings);
    const config::BackendPort* port = use.backend->findPort(use.target.port);
    settings.inherit(of(use.backend->meta, sectionOf(port)));
  } else if (const config::Service* service = serviceOf(use, holder)) {
    const auto port = std::find_if(service->ports.begin(), service->ports.end(),
                                   [&](const config::ServicePort& each) { return each.number == use.target.port; });
    settings.inherit(of(service->meta, sectionOf(port != service->ports.end() ? &*port : nullptr)));
  }
  return settings;
}

TrafficSettings TrafficPolicies::of(const config::ObjectMeta& object, const config::PolicySection& section) const {
  TrafficSettings settings;
  if (!section.isWhole()) add(policies_.findExactly(object, section), settings);
  add(policies_.findExactly(object, {}), settings);
  return settings;
}

TrafficSettings TrafficPolicies::merged(TrafficSettings own, const TrafficSettings& inherited) const {
  const auto parent = std::find_if(inherited.policies.begin(), inherited.policies.end(),
                                   [](const auto& each) { return each->shipped != nullptr; });
  if (parent == inherited.policies.end()) return own;
  for (const auto& policy : own.policies) {
    if (!policy->merges) continue;
    const auto [entry, isNew] = merged_.try_emplace({parent->get(), policy.get()});
    if (isNew) entry->second = config::mergedTraffic(**parent, *policy);
    own.replace(*policy, entry->second.policy);
    if (own.fault || entry->second.error.empty()) continue;
    const config::ObjectMeta& other = (*parent)->meta;
    const bool isOwn = other.nameSpace == policy->meta.nameSpace;
    own.fault = fault(config::reason::kInvalid, policy->meta.title() + ": merged with " +
                                                    nameFor(policy->meta.nameSpace, other) + ": " +
                                                    (isOwn ? entry->second.error : "what comes of it is not valid"));
  }
  return own;
}

ListenerTraffic TrafficPolicies::ofListener(const config::ObjectMeta& gateway, std::string_view listener) const {
  ListenerTraffic traffic{of(gateway, config::PolicySection{listener}), gateway.title()};
  if (policies_.findExactly(gateway, {listener}) != nullptr) traffic.place += ", listener " + std::string(listener);
  return traffic;
}

void TrafficPolicies::add(const Candidate* candidate, TrafficSettings& settings) {
  if (candidate == nullptr) return;
  const config::TrafficPolicy& policy = *candidate->policy;
  TrafficSettings own;
  own.policies = {*candidate->shared};
  own.fault = faultOfPolicy(*candidate);
  if (policy.retry) own.retry = &*policy.retry;
  if (policy.failover) own.failover = &*policy.failover;
  own.matching = valueOf(policy.matching);
  own.integrations = valueOf(policy.integrations);
  if (policy.retryConstraint) own.retryConstraint = &*policy.retryConstraint;
  if (policy.sessionPersistence) own.sessions = &policy;
  own.priority = valueOf(policy.priority);
  addBackendTraffic(policy, own);
  settings.inherit(own);
}

}  // namespace sluice::compile
