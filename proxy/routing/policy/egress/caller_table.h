// A CallerTable finds the rules of an EgressPolicy that match a caller, in a time that does not depend on their number.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "proxy/base/terms/caller.h"
#include "proxy/base/terms/egress_terms.h"
#include "proxy/routing/table/text_map.h"

namespace sluice::routing {

/// `Rules` is a RuleSet.
template <typename Rules>
class CallerTable {
 public:
  CallerTable() = default;
  explicit CallerTable(const std::vector<base::EgressRule>& rules);

  /// Returns the rules that give callers.
  const Rules& given() const { return given_; }
  /// Returns the rules whose callers include this one, and those that give none. A caller without identity (null, or
  /// with kNone) cannot be told from those of a Deny rule, so each Deny rule matches it, and no Allow rule that gives
  /// callers does. The same is true of a list that asks for a name that the caller does not have.
  Rules find(const base::Caller* caller) const;

 private:
  /// A list of names that rules may give.
  struct CallerNameSets {
    Rules anyone;     // rules without the list
    Rules anonymous;  // rules that match a caller without such a name
  };
  /// The rules that list a namespace, and those that list accounts of it.
  struct NamespaceEntry {
    Rules rules;
    TextMap<Rules> accounts;
  };

  void addRule(const base::EgressRule& rule, std::size_t index);
  Rules ofWorkload(const base::Caller& caller) const;
  Rules ofPrincipal(std::string_view principal) const;

  static constexpr std::size_t kLevels = 4;

  Rules given_;
  /// The rules that each assurance is enough for; the first set is for callers without identity.
  std::array<Rules, kLevels> byAssurance_{};
  CallerNameSets namespaces_;
  CallerNameSets accounts_;
  CallerNameSets principals_;
  TextMap<NamespaceEntry> ofNamespace_;  // with the namespaces of accounts
  TextMap<Rules> ofPrincipal_;
};

}  // namespace sluice::routing
