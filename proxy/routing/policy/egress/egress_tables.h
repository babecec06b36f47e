// The tables of an EgressPolicy, which find the rules that match the facts of a request in a time that hardly depends
// on their number. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/policy/egress/address_table.h"
#include "proxy/routing/policy/egress/caller_table.h"
#include "proxy/routing/policy/egress/egress_facts.h"
#include "proxy/routing/policy/egress/egress_paths.h"
#include "proxy/routing/policy/egress/egress_ruling.h"
#include "proxy/routing/policy/egress/interval_table.h"
#include "proxy/routing/policy/egress/name_table.h"
#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {

/// For a policy whose rules fit into sets of that many words.
template <std::size_t Words>
class EgressTables {
 public:
  EgressTables(const base::EgressTerms& terms, EgressPaths paths);

  EgressJudgement judge(const EgressFacts& facts) const;
  /// Returns true if a rule gives addresses of clients.
  bool lookAtClients() const { return given_.clients; }
  /// Returns true if a rule gives names or the assurance of callers.
  bool lookAtCallers() const { return given_.callers; }
  /// Returns true if a rule gives addresses of destinations.
  bool lookAtAddresses() const { return given_.addresses; }

 private:
  using Rules = RuleSet<Words>;

  /// How the rules stand after some of their conditions.
  struct Standing {
    Rules left;     // those without a false condition
    Rules unknown;  // those with an unknown one
  };
  /// The conditions that some rule gives.
  struct Given {
    bool hostnames = false;
    bool ports = false;
    bool tls = false;
    bool clients = false;
    bool callers = false;
    bool addresses = false;
    bool http = false;
  };

  void addRule(const base::EgressRule& rule, std::size_t index);
  void addTables(const base::EgressTerms& terms);
  EgressJudgement decide(const Standing& standing) const;

  void byName(const EgressFacts& facts, Standing& standing) const;
  void byPort(const EgressFacts& facts, Standing& standing) const;
  void byTls(const EgressFacts& facts, Standing& standing) const;
  void byClient(const EgressFacts& facts, Standing& standing) const;
  void byCaller(const EgressFacts& facts, Standing& standing) const;
  void byAddress(const EgressFacts& facts, Standing& standing) const;
  void byHttp(const EgressFacts& facts, Standing& standing) const;
  /// Keeps the rules that do not give a fact which the way does not see, or does not have.
  bool withoutSight(Sight sight, const Rules& given, Standing& standing) const;
  Rules ofHttp(const EgressHttp& http, const Rules& among) const;
  /// Returns the Allow rules that match all forms of the request, and the Deny rules that match one of them.
  Rules ofForms(const EgressFacts& facts, const Rules& among) const;

  bool allowsByDefault_;
  Rules all_;
  Rules allow_;
  Rules deny_;
  bool denies_ = false;  // some rule denies
  Given given_;
  // The rules that give each condition.
  Rules givenHostnames_;
  Rules givenPorts_;
  Rules givenClients_;
  Rules givenAddresses_;
  Rules givenMethods_;
  Rules givenPaths_;
  Rules givenTls_;
  Rules givenServerName_;  // with hostnames that the name of TLS must match
  NameTable<Rules> hostnames_;
  IntervalTable<std::uint16_t, Rules> ports_;
  AddressTable<Rules> clients_;
  CallerTable<Rules> callers_;
  AddressTable<Rules> addresses_;
  std::vector<std::pair<std::string, Rules>> methods_;
  EgressPaths paths_;
};

}  // namespace sluice::routing
