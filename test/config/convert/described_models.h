// Describes models completely as text, by which an object and its counterpart in another spelling can be compared. Only
// the metadata, the places where fields were written and the notes of the reader are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/model/model.h"
#include "config/yaml/yaml_writer.h"

namespace sluice::config {

/// Writes values, each followed by a space.
class ModelDescription {
 public:
  template <typename... Values>
  void add(std::string_view name, const Values&... values) {
    text_ << name << " ";
    (one(values), ...);
    text_ << "\n";
  }
  std::string text() const { return text_.str(); }

 private:
  template <typename T>
  void one(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      text_ << static_cast<int>(value) << " ";
    } else {
      text_ << value << " ";
    }
  }
  void one(std::uint8_t value) { text_ << int{value} << " "; }
  void one(base::Duration value) { text_ << value.count() << "ns "; }
  void one(const Value& value) { text_ << writeYaml(value) << " "; }
  void one(const PackedValue& value) { one(value.unpacked()); }
  void one(const ObjectRef& ref) { text_ << ref.group + "/" + ref.kind + "/" + ref.nameSpace + "/" + ref.name << " "; }
  template <typename T>
  void one(const std::optional<T>& value) {
    if (value) {
      one(*value);
    } else {
      text_ << "- ";
    }
  }
  template <typename T>
  void one(const std::vector<T>& values) {
    text_ << "[ ";
    for (const T& each : values) one(each);
    text_ << "] ";
  }

  std::ostringstream text_;
};

inline void describe(const std::vector<PolicyTarget>& targets, ModelDescription& to) {
  for (const PolicyTarget& each : targets) to.add("target", each.object, each.sectionName);
}

inline void describe(const BackendTraffic& of, ModelDescription& to) {
  if (const auto& p = of.passiveHealth) {
    to.add("passive", p->consecutive5XxErrors, p->consecutiveGatewayErrors, p->failurePercentage, p->minimumRequests,
           p->interval, p->maxEjectionPercent, p->baseEjectionTime, p->maxEjectionTime);
  }
  for (const ActiveHealthSettings& a : of.activeHealth.value_or(ActiveChecks())) {
    to.add("active", a.type, a.timeout, a.interval, a.unhealthyInterval, a.initialJitter, a.unhealthyThreshold,
           a.healthyThreshold, a.port, a.plain, a.serverName, a.insecureSkipVerify, a.log);
    to.add("asks", a.hostname, a.path, a.method, a.send, a.expected, a.expectedStatuses, a.service);
    for (const HeaderValue& header : a.headers) to.add("with", header.name, header.value);
  }
  if (const auto& t = of.timeouts) {
    to.add("timeouts", t->connect, t->connectionIdle, t->connectionLifetime, t->request, t->streamIdle,
           t->streamLifetime);
  }
  if (of.keepalive) to.add("keepalive", of.keepalive->probes, of.keepalive->idleTime, of.keepalive->interval);
  if (of.dns) {
    to.add("dns", of.dns->logical, of.dns->terms.family, of.dns->terms.respectTtl, of.dns->terms.refreshRate);
  }
  if (const auto& b = of.circuitBreaker) {
    to.add("breaker", b->bounds.connections, b->bounds.pendingRequests, b->bounds.requests, b->requestsPerConnection,
           b->maxParallelRetries);
    for (const base::CircuitBreakerBounds& each : {b->perEndpoint, b->high}) {
      to.add("bounds", each.connections, each.pendingRequests, each.requests);
    }
  }
  if (const auto& l = of.loadBalancing) {
    to.add("balancing", l->type, l->source, l->names, l->cookieTtl, l->cookiePath, l->tableSize, l->slowStart,
           l->panicThreshold, l->prefersZone, l->minEndpointsInZone, l->minEndpoints);
  }
  if (of.sendsVia) to.add("via", *of.sendsVia);
}

inline std::string described(const TrafficPolicy& policy) {
  ModelDescription to;
  describe(policy.targets, to);
  if (const auto& r = policy.retry) {
    to.add("retry", r->codes, r->attempts, r->backoff, r->grpcCodes, r->longestBackoff, r->attemptTimeout,
           r->attemptIdleTimeout, r->attemptsPerPriority, r->replayBytes);
    to.add("budget", r->budget.percent, r->budget.minPerSecond, r->budget.minConcurrent, r->budget.maxConcurrent);
  }
  if (const auto& m = policy.matching) to.add("matching", m->stripAuthorityPort, m->ignorePathParameters);
  if (const auto& i = policy.integrations) to.add("integrations", i->addLinkerdHeaders);
  to.add("selectors", policy.selectors.size(), policy.merges, policy.retryConstraint.has_value(),
         policy.sessionPersistence.has_value());
  describe(static_cast<const BackendTraffic&>(policy), to);
  return to.text();
}

inline void describe(const std::vector<ProcessorUse>& uses, ModelDescription& to) {
  for (const ProcessorUse& each : uses) {
    to.add("use", each.name, each.type, each.phase, each.priority, each.failOpen, each.preAuth, each.timeout,
           each.config);
    if (each.fallback) to.add("fallback", each.fallback->use, each.fallback->status, each.fallback->detail);
  }
}

inline void describe(const std::optional<BackendTls>& tls, ModelDescription& to) {
  if (!tls) return;
  to.add("tls", tls->mode, tls->serverName, tls->caRefs, tls->subjectAltNames, tls->clientCertificateRef,
         tls->insecureSkipVerify);
  for (const auto& [key, value] : tls->options) to.add("option", key, value);
}

inline std::string described(const Backend& backend) {
  ModelDescription to;
  to.add("host", backend.hostname, backend.service, backend.hasEndpoints, backend.isFallback);
  if (backend.dynamic) to.add("dynamic", backend.dynamic->hostnames);
  for (const BackendPort& each : backend.ports) {
    to.add("port", each.name, each.number, each.protocol, each.hostname, each.priority, each.weight);
    describe(each.tls, to);
  }
  describe(backend.tls, to);
  describe(backend.extensions, to);
  describe(backend.traffic, to);
  return to.text();
}

inline std::string described(const PayloadProcessor& processor) {
  ModelDescription to;
  describe(processor.targets, to);
  to.add("phase", processor.phase);
  describe(processor.processors, to);
  return to.text();
}

inline std::string described(const std::vector<ProcessorUse>& uses) {
  ModelDescription to;
  describe(uses, to);
  return to.text();
}

}  // namespace sluice::config
