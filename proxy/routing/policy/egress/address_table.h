// An AddressTable finds the rules of an EgressPolicy whose networks contain an address.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "proxy/base/ip_network.h"
#include "proxy/routing/policy/egress/interval_table.h"

namespace sluice::routing {

class AddressTable {
 public:
  using RuleNetwork = std::pair<base::IpNetwork, std::size_t>;  // and the index of the rule

  AddressTable() = default;
  /// The rules of `everywhere` contain all addresses.
  AddressTable(const RuleSet& everywhere, const std::vector<RuleNetwork>& networks);

  /// An address of another size than 4 or 16 bytes is in no network.
  const RuleSet& find(base::AddressBytes address) const;

 private:
  using V6 = std::array<std::uint64_t, 2>;  // the more significant half comes first

  RuleSet everywhere_;
  IntervalTable<std::uint32_t> v4_;
  IntervalTable<V6> v6_;
};

}  // namespace sluice::routing
