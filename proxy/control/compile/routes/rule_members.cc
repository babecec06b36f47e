#include "proxy/control/compile/routes/rule_members.h"

#include <algorithm>
#include <numeric>

namespace sluice::control {
namespace {

// With the greatest weight of a backendRef, which is a million, it fits into 32 bits.
constexpr std::uint64_t kPartsOfWeight = 4000;

/// Returns the sum of the shares of the endpoints among which `member` shares the weight of its backendRef.
std::uint64_t sharesBeside(const std::vector<RuleMember>& members, const RuleMember& member) {
  std::uint64_t sum = 0;
  for (const RuleMember& each : members) {
    if (each.ref == member.ref && each.priority == member.priority) sum += each.share;
  }
  return sum;
}

}  // namespace

bool haveEndpoints(const std::vector<RuleMember>& members) {
  return std::any_of(members.begin(), members.end(), [](const RuleMember& each) { return !each.endpoint.empty(); });
}

bool haveOrder(const std::vector<RuleMember>& members) {
  return haveEndpoints(members) ||
         std::any_of(members.begin(), members.end(), [](const RuleMember& each) { return each.isFallback; });
}

void setWeights(std::vector<RuleMember>& members, routing::Rule& rule) {
  const bool parts = haveEndpoints(members);
  std::uint32_t common = 0;
  for (RuleMember& member : members) {
    member.weight = member.ref->weight;
    if (parts && member.weight > 0) {
      const std::uint64_t part = member.weight * kPartsOfWeight * member.share / sharesBeside(members, member);
      member.weight = static_cast<std::uint32_t>(std::max<std::uint64_t>(part, 1));
    }
    common = std::gcd(common, member.weight);
  }
  rule.totalWeight = 0;
  const RuleMember* first = nullptr;  // of the backendRef; no other endpoint of it has a lower priority
  for (std::size_t i = 0; i < members.size(); ++i) {
    RuleMember& member = members[i];
    if (first == nullptr || first->ref != member.ref) first = &member;
    if (parts && common > 0) member.weight /= common;
    rule.backends[i].weight = member.priority == first->priority ? member.weight : 0;
    rule.totalWeight += rule.backends[i].weight;
  }
}

}  // namespace sluice::control
