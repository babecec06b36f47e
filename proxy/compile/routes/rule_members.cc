#include "proxy/compile/routes/rule_members.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sluice::compile {
namespace {

/// Returns the sum of the shares of the endpoints that divide the weight of one backendRef with `member`.
std::uint64_t sharesBeside(const std::vector<RuleMember>& members, const RuleMember& member) {
  std::uint64_t sum = 0;
  for (const RuleMember& each : members) {
    if (each.ref == member.ref && each.priority == member.priority) sum += each.share;
  }
  return sum;
}

/// Returns the number of parts into which one unit of weight is divided so that every endpoint gets a whole number of
/// parts. If that number is too large, returns the largest one with which the greatest weight fits into 32 bits.
std::uint64_t partsOfWeight(const std::vector<RuleMember>& members) {
  std::uint64_t greatest = 1;
  for (const RuleMember& each : members) greatest = std::max<std::uint64_t>(greatest, each.ref->weight);
  const std::uint64_t most = std::numeric_limits<std::uint32_t>::max() / greatest;
  std::uint64_t parts = 1;
  for (const RuleMember& each : members) {
    parts = std::lcm(parts, sharesBeside(members, each));
    if (parts > most) return most;
  }
  return parts;
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
  const std::uint64_t parts = haveEndpoints(members) ? partsOfWeight(members) : 0;
  std::uint32_t common = 0;
  for (RuleMember& member : members) {
    member.weight = member.ref->weight;
    if (parts > 0 && member.weight > 0) {
      const std::uint64_t part = member.weight * parts * member.share / sharesBeside(members, member);
      member.weight = static_cast<std::uint32_t>(std::max<std::uint64_t>(part, 1));
    }
    common = std::gcd(common, member.weight);
  }
  rule.totalWeight = 0;
  const RuleMember* first = nullptr;  // an endpoint of the backendRef with the lowest priority
  for (std::size_t i = 0; i < members.size(); ++i) {
    RuleMember& member = members[i];
    if (first == nullptr || first->ref != member.ref) first = &member;
    if (parts > 0 && common > 0) member.weight /= common;
    rule.backends[i].weight = member.priority == first->priority ? member.weight : 0;
    rule.totalWeight += rule.backends[i].weight;
  }
}

}  // namespace sluice::compile
