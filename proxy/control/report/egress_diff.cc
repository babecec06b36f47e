#include "proxy/control/report/egress_diff.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "config/model/egress_policy.h"
#include "proxy/net/address.h"
#include "proxy/routing/backend_dial.h"
#include "proxy/routing/policy/egress/egress_policies.h"
#include "proxy/routing/table/route_survey.h"

namespace sluice::control {
namespace {

using routing::EgressRuling;

// --- policies and their rules

template <typename Item>
using ByName = std::map<std::string, const Item*>;

ByName<config::EgressPolicy> policiesOf(const config::Model& model) {
  ByName<config::EgressPolicy> policies;
  for (const config::EgressPolicy& each : model.all<config::EgressPolicy>()) policies[each.meta.title()] = &each;
  return policies;
}

ByName<base::EgressRule> namedRules(const config::EgressPolicy* policy) {
  ByName<base::EgressRule> rules;
  if (policy == nullptr) return rules;
  for (const base::EgressRule& each : policy->terms.rules) {
    rules[policy->meta.title() + ", rule " + each.name] = &each;
  }
  return rules;
}

/// Returns the fields that differ, by their names in the object.
std::string changedFields(const base::EgressRule& before, const base::EgressRule& after) {
  const base::EgressCallers callersBefore = before.callers.value_or(base::EgressCallers());
  const base::EgressCallers callersAfter = after.callers.value_or(base::EgressCallers());
  const std::pair<std::string_view, bool> fields[] = {
      {"action", before.allows == after.allows},
      {"from.cidrs", before.clients == after.clients},
      {"from.namespaces", callersBefore.namespaces == callersAfter.namespaces},
      {"from.serviceAccounts", callersBefore.serviceAccounts == callersAfter.serviceAccounts},
      {"from.principals", callersBefore.principals == callersAfter.principals},
      {"from.assurance", callersBefore.assurance == callersAfter.assurance},
      {"to.hostnames", before.hostnames == after.hostnames},
      {"to.cidrs", before.addresses == after.addresses},
      {"to.ports", before.ports == after.ports},
      {"http.methods", before.methods == after.methods},
      {"http.paths", before.paths == after.paths},
      {"tls.mode", before.requiresTls == after.requiresTls},
      {"tls.sni", before.matchesServerName == after.matchesServerName},
  };
  std::string changed;
  for (const auto& [name, same] : fields) {
    if (!same) changed.append(changed.empty() ? "" : ", ").append(name);
  }
  return changed;
}

std::vector<std::string> targetTexts(const config::EgressPolicy& policy) {
  std::vector<std::string> texts;
  for (const config::PolicyTarget& each : policy.targets) {
    texts.push_back(each.targetKind().text() + " " + each.object.name + " " + each.sectionName);
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string changedTerms(const config::EgressPolicy& before, const config::EgressPolicy& after) {
  std::string changed;
  const auto add = [&](const std::string& text) { changed += (changed.empty() ? "" : ", ") + text; };
  const auto addChoice = [&](std::string_view field, bool was, bool is, std::string_view set, std::string_view unset) {
    if (was == is) return;
    add(std::string(field) + " " + std::string(was ? set : unset) + " -> " + std::string(is ? set : unset));
  };
  addChoice("mode", before.terms.audits, after.terms.audits, "Audit", "Enforce");
  addChoice("default", before.terms.allowsByDefault, after.terms.allowsByDefault, "Allow", "Deny");
  if (targetTexts(before) != targetTexts(after)) add("targetRefs");
  return changed;
}

/// Adds the removed and changed items, and then the added ones; `changed` returns "" for items that are the same.
template <typename Item, typename Changed>
void addItems(const ByName<Item>& before, const ByName<Item>& after, const std::string& what, Changed&& changed,
              std::vector<ConfigurationChange>& changes) {
  for (const auto& [name, item] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      changes.push_back({ConfigurationChange::Kind::kRemoved, what, name, ""});
    } else if (std::string detail = changed(*item, *found->second); !detail.empty()) {
      changes.push_back({ConfigurationChange::Kind::kChanged, what, name, std::move(detail)});
    }
  }
  for (const auto& [name, item] : after) {
    if (!before.contains(name)) changes.push_back({ConfigurationChange::Kind::kAdded, what, name, ""});
  }
}

// --- verdicts

std::string verdictInWords(const routing::EgressVerdict& verdict) {
  if (verdict.ruling == EgressRuling::kUndecided) return "undecided";
  const std::string decision = verdict.ruling == EgressRuling::kDenied ? "denied" : "allowed";
  if (verdict.policy == nullptr) return decision;
  return decision + " by " + std::string(verdict.policyName()) + ", rule " + std::string(verdict.ruleName());
}

/// Judges a dial by what the objects tell: the name, the port, TLS and a literal address.
routing::EgressVerdict judgedByObjects(const routing::EgressCoverage& coverage, const routing::BackendPlan& backend) {
  routing::EgressFacts facts = routing::egressFacts(backend, {}, {}, {});
  facts.callerUnknown = true;
  const auto literal = net::Address::parse(backend.hostname, backend.port);
  if (literal) facts.address = literal->bytes();
  return routing::judgeEgress(coverage.ofListener.get(), coverage.ofRule.get(), facts);
}

using Verdicts = std::map<std::string, routing::EgressVerdict>;

/// Adds the verdicts about the Backends of a rule. A rule that answers all requests itself has none.
void addVerdicts(const routing::RuleOfTable& at, Verdicts& verdicts) {
  const routing::Rule& rule = *at.rule;
  if (rule.failure || rule.redirect) return;
  const routing::EgressCoverage coverage{at.listener->egress, rule.egress};
  const std::string place = (rule.grpc ? "GRPCRoute " : "HTTPRoute ") + rule.route + ", rule " +
                            std::to_string(at.index) + ", at " + at.listener->gateway + " " + at.listener->section +
                            ", to ";
  for (const routing::WeightedBackend& each : rule.backends) {
    if (!each.backend || each.backend->dynamic || each.redirect) continue;
    verdicts.emplace(place + each.backend->name + ":" + std::to_string(each.backend->port),
                     judgedByObjects(coverage, *each.backend));
  }
}

Verdicts verdictsOf(const routing::Snapshot& snapshot) {
  Verdicts verdicts;
  for (const routing::Bind& bind : snapshot.binds) {
    for (const routing::RuleOfTable& each : routing::rulesOf(routing::routesOf(bind.service))) {
      addVerdicts(each, verdicts);
    }
  }
  return verdicts;
}

}  // namespace

void addPolicyChanges(const config::Model& before, const config::Model& after,
                      std::vector<ConfigurationChange>& changes) {
  const ByName<config::EgressPolicy> old = policiesOf(before);
  const ByName<config::EgressPolicy> now = policiesOf(after);
  addItems(old, now, "policy", changedTerms, changes);
  ByName<config::EgressPolicy> all = old;
  all.insert(now.begin(), now.end());
  const auto find = [](const ByName<config::EgressPolicy>& policies, const std::string& name) {
    const auto found = policies.find(name);
    return found == policies.end() ? nullptr : found->second;
  };
  for (const auto& [name, policy] : all) {
    addItems(namedRules(find(old, name)), namedRules(find(now, name)), "rule", changedFields, changes);
  }
}

void addVerdictChanges(const routing::Snapshot& before, const routing::Snapshot& after,
                       std::vector<ConfigurationChange>& changes) {
  const Verdicts old = verdictsOf(before);
  std::size_t found = 0;
  for (const auto& [place, verdict] : verdictsOf(after)) {
    const auto earlier = old.find(place);
    if (earlier == old.end() || earlier->second.ruling == verdict.ruling || ++found > kMostVerdictChanges) continue;
    changes.push_back({ConfigurationChange::Kind::kChanged, "verdict", place,
                       verdictInWords(earlier->second) + " -> " + verdictInWords(verdict)});
  }
  if (found <= kMostVerdictChanges) return;
  changes.push_back({ConfigurationChange::Kind::kChanged, "verdict",
                     "and " + std::to_string(found - kMostVerdictChanges) + " more", ""});
}

}  // namespace sluice::control
