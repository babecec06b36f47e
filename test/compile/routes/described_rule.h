// Describes a compiled rule completely as text, by which the rules of two compilations can be compared.
#pragma once

#include <sstream>
#include <string>

#include "proxy/processing/phase.h"
#include "proxy/routing/snapshot.h"
#include "test/compile/processor_types.h"

namespace sluice::compile::test {

/// Writes members of a rule, each followed by a space.
class RuleWriter {
 public:
  void write(const routing::Rule& rule) {
    add(rule.route, rule.grpc, rule.totalWeight, rule.backendRequestTimeout, rule.attemptIdleTimeout);
    add(rule.requestTimeout, rule.streamIdleTimeout);
    for (const routing::WeightedBackend& each : rule.backends) write(each);
    for (const routing::RequestMirror& each : rule.mirrors) write(each.backend.get());
    if (rule.retry) write(*rule.retry);
    if (rule.failover) write(*rule.failover);
    for (const auto& each : rule.healthChecks) write(each.get());
    write(rule.chain.get());
    if (rule.session) write(*rule.session);
    if (rule.failure) add("failure", rule.failure->detail);
  }
  std::string text() const { return text_.str(); }

 private:
  template <typename... Values>
  void add(const Values&... values) {
    (one(values), ...);
  }
  template <typename Value>
  void one(const Value& value) {
    text_ << value << " ";
  }
  void one(base::Duration value) { text_ << value.count() << "ns "; }
  template <typename Value>
  void one(const std::optional<Value>& value) {
    if (value) {
      one(*value);
    } else {
      text_ << "- ";
    }
  }

  void write(const routing::WeightedBackend& weighted) {
    add("\n    backend", weighted.weight);
    write(weighted.backend.get());
    if (weighted.failure) add("failure", weighted.failure->detail);
    write(weighted.chain.get());
    if (weighted.retryConstraint) add("retries", weighted.retryConstraint->percent, weighted.retryConstraint->minCount);
  }
  void write(const routing::BackendPlan* plan) {
    if (plan == nullptr) return;
    add(plan->name, plan->identity.text(), plan->countedAs().text(), plan->boundedAs().text(), plan->authority);
    write(plan->chain.get());
  }
  void write(const processing::Chain* chain) {
    if (chain == nullptr) return;
    for (const processing::Step& each : chain->all()) write(each);
  }
  void write(const processing::Step& step) {
    add("\n    step", step.name, step.type, processing::phaseName(step.phase), static_cast<int>(step.scope));
    add(step.priority, step.failOpen, step.preAuth, step.preRouting, step.timeout, step.authorizes);
    for (const auto& [nameSpace, name] : step.secrets) add(nameSpace + "/" + name);
    const auto* recalling = dynamic_cast<const RecallingProcessor*>(step.processor.get());
    if (recalling != nullptr) add(recalling->made());
  }
  void write(const routing::RetryPolicy& retry) {
    add("\n    retry", retry.codes, retry.attempts, retry.grpcCodes, retry.backoff, retry.longestBackoff);
    add(retry.attemptsPerPriority, retry.replayBytes);
    add(retry.bounds.percent, retry.bounds.minPerSecond, retry.bounds.minConcurrent, retry.bounds.maxConcurrent);
  }
  void write(const routing::FailoverPolicy& failover) {
    add("\n    failover", failover.usualWeight, failover.overprovisioning, failover.longestRest);
    for (const routing::FailoverMember& each : failover.members) {
      add("\n      member", each.priority, each.weight, each.passive.errors, each.passive.gatewayErrors);
      add(each.passive.baseEjection, each.passive.ejectedPercent, each.check != nullptr);
    }
  }
  void write(const routing::HealthCheck* check) {
    if (check == nullptr) return add("unchecked");
    for (const auto& each : check->checks()) {
      const routing::HealthCheckSettings& settings = each->settings();
      add("\n    check", static_cast<int>(settings.kind), settings.interval, settings.timeout, settings.path);
    }
  }
  void write(const routing::SessionPolicy& session) {
    add("\n    session", session.byHeader, session.name, session.scope, session.absoluteTimeout, session.permanent);
    for (const std::string& each : session.paths) add(each);
    for (const std::uint64_t each : session.shares) add(each);
  }

  std::ostringstream text_;
};

inline std::string describedRule(const routing::Rule& rule) {
  RuleWriter writer;
  writer.write(rule);
  return writer.text();
}

}  // namespace sluice::compile::test
