// One dial that EgressPolicies judge: first by name, and then by each address that the name leads to, because a name
// that is allowed may lead to an address that is not. A small value; its user keeps all that it refers to.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/base/error.h"
#include "proxy/routing/policy/egress/egress_policies.h"

namespace sluice::routing {

/// Returns the name of a destination as policies see it: without a trailing dot, and empty for an IP literal.
std::string_view dialledName(std::string_view hostname);
/// Returns the error of a request whose destination is denied (403). It does not name the policy, because that may
/// belong to others than the client.
base::Error egressDenied();

class EgressDial {
 public:
  EgressDial(const EgressPolicies* ofListener, const EgressPolicies* ofRule, const EgressFacts& facts)
      : ofListener_(ofListener), ofRule_(ofRule), facts_(facts) {}

  const EgressFacts& facts() const { return facts_; }
  /// Judges by all that is known without a look-up.
  EgressRuling judge() {
    permitted_ = false;
    verdict_ = judgeEgress(ofListener_, ofRule_, facts_);
    return verdict_.ruling;
  }
  /// Returns whether that address may be dialled. What is still unknown is denied, unless the first bytes of a tunnel
  /// will tell.
  bool permits(base::AddressBytes address);
  /// Judges a tunnel to that address by its first bytes: `serverName` is empty if these name none, and nullopt if that
  /// cannot be told. What is still unknown is denied.
  bool permitsFirstBytes(bool tls, std::optional<std::string_view> serverName, base::AddressBytes address);
  /// Drops the addresses that may not be dialled. Returns false if none is left.
  template <typename Addresses>
  bool narrow(Addresses& addresses) {
    permitted_ = false;
    verdict_ = {};
    verdict_.ruling = EgressRuling::kUndecided;
    std::erase_if(addresses, [this](const auto& each) { return !permits(each.bytes()); });
    return !addresses.empty();
  }
  /// Returns the last judgement: of several addresses, that of one that may be dialled, if there is one. Undecided
  /// until the addresses were judged, if these decide.
  const EgressVerdict& verdict() const { return verdict_; }
  /// Calls visit(policy, judgement) for each policy that is only audited; with `address`, if it is not empty.
  template <typename Visit>
  void audit(base::AddressBytes address, Visit&& visit) const {
    EgressFacts facts = facts_;
    facts.address = address;
    auditEgress(ofListener_, facts, visit);
    auditEgress(ofRule_, facts, visit);
  }

 private:
  const EgressPolicies* ofListener_;
  const EgressPolicies* ofRule_;
  EgressFacts facts_;
  EgressVerdict verdict_;
  bool permitted_ = false;  // an address may be dialled
};

}  // namespace sluice::routing
