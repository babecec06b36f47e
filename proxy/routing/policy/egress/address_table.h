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

using RuleNetwork = std::pair<base::IpNetwork, std::size_t>;  // and the index of the rule

/// `Rules` is a RuleSet.
template <typename Rules>
class AddressTable {
 public:
  AddressTable() = default;
  /// The rules of `everywhere` contain all addresses.
  AddressTable(const Rules& everywhere, const std::vector<RuleNetwork>& networks);

  /// An address of another size than 4 or 16 bytes is in no network.
  const Rules& find(base::AddressBytes address) const;

 private:
  using V6 = std::array<std::uint64_t, 2>;  // the more significant half comes first

  Rules everywhere_;
  IntervalTable<std::uint32_t, Rules> v4_;
  IntervalTable<V6, Rules> v6_;
};

}  // namespace sluice::routing
