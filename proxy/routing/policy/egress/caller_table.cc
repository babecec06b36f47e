#include "proxy/routing/policy/egress/caller_table.h"

#include <string>

#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {
namespace {

constexpr std::size_t levelOf(base::Assurance assurance) { return static_cast<std::size_t>(assurance); }

bool givesCallers(const base::EgressCallers& callers) {
  return callers.namespaces || callers.serviceAccounts || callers.principals || callers.assurance;
}

}  // namespace

template <typename Rules>
CallerTable<Rules>::CallerTable(const std::vector<base::EgressRule>& rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) addRule(rules[i], i);
}

template <typename Rules>
void CallerTable<Rules>::addRule(const base::EgressRule& rule, std::size_t index) {
  const base::EgressCallers callers = rule.callers.value_or(base::EgressCallers());
  const auto addList = [&](bool isGiven, CallerNameSets& names) {
    if (!isGiven) names.anyone.insert(index);
    if (!isGiven || !rule.allows) names.anonymous.insert(index);
  };
  addList(callers.namespaces.has_value(), namespaces_);
  addList(callers.serviceAccounts.has_value(), accounts_);
  addList(callers.principals.has_value(), principals_);
  const bool isGiven = givesCallers(callers);
  if (isGiven) given_.insert(index);
  if (!isGiven || !rule.allows) byAssurance_.front().insert(index);
  for (std::size_t level = 1; level < kLevels; ++level) {
    if (level >= levelOf(callers.assurance.value_or(base::Assurance::kNone))) byAssurance_[level].insert(index);
  }
  if (callers.namespaces) {
    for (const std::string& each : *callers.namespaces) ofNamespace_[each].rules.insert(index);
  }
  if (callers.serviceAccounts) {
    for (const std::string& each : *callers.serviceAccounts) {
      const std::size_t slash = each.find('/');
      if (slash == std::string::npos) continue;  // it names no account
      ofNamespace_[each.substr(0, slash)].accounts[each.substr(slash + 1)].insert(index);
    }
  }
  if (callers.principals) {
    for (const std::string& each : *callers.principals) ofPrincipal_[each].insert(index);
  }
}

template <typename Rules>
Rules CallerTable<Rules>::find(const base::Caller* caller) const {
  if (caller == nullptr || caller->assurance == base::Assurance::kNone) return byAssurance_.front();
  return byAssurance_[levelOf(caller->assurance)] & ofWorkload(*caller) & ofPrincipal(caller->principal);
}

/// An account is one of a namespace, so a caller without a namespace has neither.
template <typename Rules>
Rules CallerTable<Rules>::ofWorkload(const base::Caller& caller) const {
  if (caller.nameSpace.empty()) return namespaces_.anonymous & accounts_.anonymous;
  const auto found = ofNamespace_.find(std::string_view(caller.nameSpace));
  const NamespaceEntry* const entry = found != ofNamespace_.end() ? &found->second : nullptr;
  Rules byNamespace = namespaces_.anyone;
  if (entry != nullptr) byNamespace |= entry->rules;
  if (caller.serviceAccount.empty()) return byNamespace & accounts_.anonymous;
  Rules byAccount = accounts_.anyone;
  if (entry != nullptr) {
    const auto account = entry->accounts.find(std::string_view(caller.serviceAccount));
    if (account != entry->accounts.end()) byAccount |= account->second;
  }
  return byNamespace & byAccount;
}

template <typename Rules>
Rules CallerTable<Rules>::ofPrincipal(std::string_view principal) const {
  if (principal.empty()) return principals_.anonymous;
  const auto found = ofPrincipal_.find(principal);
  return found != ofPrincipal_.end() ? principals_.anyone | found->second : principals_.anyone;
}

template class CallerTable<RuleSet<1>>;
template class CallerTable<RuleSet<kMostRuleWords>>;

}  // namespace sluice::routing
