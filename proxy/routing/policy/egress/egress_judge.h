// An EgressJudge is an EgressPolicy in the form that workers use. Immutable; shared by all workers.
//
// Each rule is true, false or unknown by the facts that are known so far. So the same policy is judged by name before
// the name is looked up, by the name of TLS in a tunnel, and by each address before it is dialled.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/egress_facts.h"
#include "proxy/routing/policy/egress/egress_ruling.h"
#include "proxy/routing/policy/egress/egress_tables.h"
#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {

class EgressJudge {
 public:
  /// Compiles the policy with that name ("namespace/name"). An error names the rule with a path that cannot be used.
  static base::Result<std::shared_ptr<const EgressJudge>> compile(std::string name, const base::EgressTerms& terms);

  std::string_view name() const { return name_; }
  bool audits() const { return audits_; }
  bool deniesByDefault() const { return deniesByDefault_; }
  /// Returns the number of its rules.
  std::size_t rules() const { return names_.size(); }
  /// Returns the name of a rule, or "default".
  std::string_view ruleName(std::size_t rule) const {
    return rule == kEgressDefault ? std::string_view("default") : std::string_view(names_[rule]);
  }
  EgressJudgement judge(const EgressFacts& facts) const {
    return std::visit([&](const auto& tables) { return tables.judge(facts); }, tables_);
  }
  /// Returns true if a rule gives addresses of clients.
  bool looksAtClients() const {
    return std::visit([](const auto& tables) { return tables.lookAtClients(); }, tables_);
  }
  /// Returns true if a rule gives names or the assurance of callers.
  bool looksAtCallers() const {
    return std::visit([](const auto& tables) { return tables.lookAtCallers(); }, tables_);
  }
  /// Returns true if a rule gives addresses of destinations.
  bool looksAtAddresses() const {
    return std::visit([](const auto& tables) { return tables.lookAtAddresses(); }, tables_);
  }

 private:
  using Tables = std::variant<EgressTables<1>, EgressTables<kMostRuleWords>>;

  EgressJudge(std::string name, const base::EgressTerms& terms, Tables tables);

  std::string name_;
  std::vector<std::string> names_;  // of rules
  bool audits_;
  bool deniesByDefault_;
  Tables tables_;
};

}  // namespace sluice::routing
