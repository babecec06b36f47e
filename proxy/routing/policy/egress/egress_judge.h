// An EgressJudge is an EgressPolicy in the form that workers use: tables that find the rules that match the facts of a
// request, in a time that hardly depends on their number. Immutable; shared by all workers.
//
// Each rule is true, false or unknown by the facts that are known so far. So the same policy is judged by name before
// the name is looked up, by the name of TLS in a tunnel, and by each address before it is dialled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/address_table.h"
#include "proxy/routing/policy/egress/egress_facts.h"
#include "proxy/routing/policy/egress/interval_table.h"
#include "proxy/routing/policy/egress/name_table.h"
#include "proxy/routing/policy/egress/rule_set.h"
#include "proxy/routing/table/regex.h"

namespace sluice::routing {

enum class EgressRuling : std::uint8_t {
  kPassed,
  kUndecided,  // facts that may become known decide
  kDenied
};

/// The judgement of one policy.
struct EgressJudgement {
  EgressRuling ruling;
  std::size_t rule;  // the one that has decided; EgressJudge::kByDefault for none
};

class EgressJudge {
 public:
  /// The index of no rule: the policy's default has decided.
  static constexpr std::size_t kByDefault = base::kMostEgressRules;

  /// Compiles the policy with that name ("namespace/name"). An error names the rule whose expression RE2 refuses.
  static base::Result<std::shared_ptr<const EgressJudge>> compile(std::string name, const base::EgressTerms& terms);

  std::string_view name() const { return name_; }
  bool audits() const { return audits_; }
  /// Returns the number of its rules.
  std::size_t rules() const { return names_.size(); }
  EgressJudgement judge(const EgressFacts& facts) const;
  /// Returns the name of a rule, or "default".
  std::string_view ruleName(std::size_t rule) const {
    return rule == kByDefault ? std::string_view("default") : std::string_view(names_[rule]);
  }

 private:
  struct RulePath {
    base::EgressPath::Type type;
    std::string value;
    std::optional<Regex> expression;

    bool matches(std::string_view path) const;
  };
  /// How the rules stand after some of their conditions.
  struct Standing {
    RuleSet left;     // those without a false condition
    RuleSet unknown;  // those with an unknown one
  };
  /// The conditions that some rule gives.
  struct Given {
    bool hostnames = false;
    bool ports = false;
    bool tls = false;
    bool clients = false;
    bool addresses = false;
    bool http = false;
  };

  EgressJudge() = default;
  base::Result<base::Done> addPaths(const base::EgressTerms& terms);
  void addTables(const base::EgressTerms& terms);
  void addRule(const base::EgressRule& rule, std::size_t index);
  EgressJudgement decide(const Standing& standing) const;

  void byName(const EgressFacts& facts, Standing& standing) const;
  void byPort(const EgressFacts& facts, Standing& standing) const;
  void byTls(const EgressFacts& facts, Standing& standing) const;
  void byClient(const EgressFacts& facts, Standing& standing) const;
  void byAddress(const EgressFacts& facts, Standing& standing) const;
  void byHttp(const EgressFacts& facts, Standing& standing) const;
  /// Keeps the rules that do not give a fact which the way does not see, or does not have.
  bool withoutSight(Sight sight, const RuleSet& given, Standing& standing) const;
  RuleSet ofHttp(const EgressHttp& http, const RuleSet& among) const;

  std::string name_;
  std::vector<std::string> names_;  // of rules
  bool audits_ = false;
  bool allowsByDefault_ = false;
  RuleSet all_;
  RuleSet allow_;
  RuleSet deny_;
  Given given_;
  // The rules that give each condition.
  RuleSet givenHostnames_;
  RuleSet givenPorts_;
  RuleSet givenClients_;
  RuleSet givenAddresses_;
  RuleSet givenMethods_;
  RuleSet givenPaths_;
  RuleSet givenTls_;
  RuleSet givenServerName_;  // with hostnames that the name of TLS must match
  NameTable hostnames_;
  IntervalTable<std::uint16_t> ports_;
  AddressTable clients_;
  AddressTable addresses_;
  std::vector<std::pair<std::string, RuleSet>> methods_;
  std::vector<std::vector<RulePath>> paths_;  // by rule; empty if no rule has any
};

}  // namespace sluice::routing
