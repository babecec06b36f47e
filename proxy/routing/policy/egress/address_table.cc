#include "proxy/routing/policy/egress/address_table.h"

#include <algorithm>
#include <limits>

#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {
namespace {

constexpr unsigned kBitsOfHalf = 64;
constexpr std::uint32_t kLastV4 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kLastHalf = std::numeric_limits<std::uint64_t>::max();

/// The prefix of ::ffff:0:0/96.
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned kMappedBits = kMapped.size() * 8;

template <typename Number>
Number numberOf(const std::uint8_t* bytes) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) number = number << 8 | bytes[i];
  return number;
}

/// Returns the last `count` bits, at most 64 of them, set.
std::uint64_t lowBits(unsigned count) { return count >= kBitsOfHalf ? kLastHalf : (std::uint64_t{1} << count) - 1; }

}  // namespace

template <typename Rules>
AddressTable<Rules>::AddressTable(const Rules& everywhere, const std::vector<RuleNetwork>& networks)
    : everywhere_(everywhere) {
  std::vector<typename IntervalTable<std::uint32_t, Rules>::Interval> v4;
  std::vector<typename IntervalTable<V6, Rules>::Interval> v6;
  for (const auto& [network, rule] : networks) {
    const std::uint8_t* const prefix = network.prefix.data();
    const unsigned free = network.bytes * 8U - network.bits;
    if (network.bytes == 4) {
      const auto first = numberOf<std::uint32_t>(prefix);
      v4.push_back({first, first | static_cast<std::uint32_t>(lowBits(free)), rule});
      continue;
    }
    // A network of mapped addresses means those of IPv4, too.
    if (network.bits >= kMappedBits && std::equal(kMapped.begin(), kMapped.end(), prefix)) {
      const auto from = numberOf<std::uint32_t>(prefix + kMapped.size());
      v4.push_back({from, from | static_cast<std::uint32_t>(lowBits(free)), rule});
    }
    const V6 first{numberOf<std::uint64_t>(prefix), numberOf<std::uint64_t>(prefix + sizeof(std::uint64_t))};
    const unsigned upper = free > kBitsOfHalf ? free - kBitsOfHalf : 0;
    v6.push_back({first, {first[0] | lowBits(upper), first[1] | lowBits(free)}, rule});
  }
  v4_ = {everywhere, v4, kLastV4, [](std::uint32_t value) { return value + 1; }};
  v6_ = {everywhere, v6, V6{kLastHalf, kLastHalf}, [](const V6& value) {
           return value[1] == kLastHalf ? V6{value[0] + 1, 0} : V6{value[0], value[1] + 1};
         }};
}

template <typename Rules>
const Rules& AddressTable<Rules>::find(base::AddressBytes address) const {
  if (address.size() == 4) return v4_.find(numberOf<std::uint32_t>(address.data()));
  if (address.size() != 16) return everywhere_;
  return v6_.find(
      {numberOf<std::uint64_t>(address.data()), numberOf<std::uint64_t>(address.data() + sizeof(std::uint64_t))});
}

template class AddressTable<RuleSet<1>>;
template class AddressTable<RuleSet<kMostRuleWords>>;

}  // namespace sluice::routing
