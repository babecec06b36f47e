#include "proxy/compile/policies/egress_visibility.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

namespace sluice::compile {
namespace {

using routing::EgressWay;

constexpr std::string_view kTunnelMethod = "CONNECT";

bool isSeen(const base::EgressRule& rule, EgressWay way) {
  const bool givesHttp = rule.methods.has_value() || rule.paths.has_value();
  return !givesHttp || routing::sightOf(way).http != routing::Sight::kUnknown;
}

/// Returns "connect", or "connect and tls".
std::string namesOf(const std::vector<EgressWay>& ways) {
  std::string text;
  for (const EgressWay way : ways) text += (text.empty() ? "" : " and ") + std::string(routing::sightOf(way).name);
  return text;
}

std::vector<EgressWay> blindWays(const base::EgressRule& rule, const EgressWays& ways) {
  std::vector<EgressWay> blind;
  std::copy_if(ways.begin(), ways.end(), std::back_inserter(blind), [&](EgressWay way) { return !isSeen(rule, way); });
  return blind;
}

/// Adds the ways of a rule with these matches.
void addWays(const std::vector<config::HttpRouteMatch>& matches, const EgressWays& toListeners, EgressWays& ways) {
  for (const config::HttpRouteMatch& match : matches) {
    const bool takesTunnels = match.method == kTunnelMethod;
    std::copy_if(toListeners.begin(), toListeners.end(), std::inserter(ways, ways.end()),
                 [&](EgressWay way) { return (way == EgressWay::kConnect) == takesTunnels; });
  }
}

}  // namespace

EgressWays waysOfRoute(const config::Model& model, const config::ObjectMeta& route, std::string_view rule,
                       const EgressWays& toListeners) {
  EgressWays ways;
  const auto* const http =
      route.kind == config::HttpRoute::kKind ? model.find<config::HttpRoute>(route.nameSpace, route.name) : nullptr;
  if (http == nullptr) {
    ways = toListeners;
    ways.erase(EgressWay::kConnect);  // no match of a GRPCRoute takes it
    return ways;
  }
  for (const config::HttpRouteRule& each : http->rules) {
    if (rule.empty() || each.name == rule) addWays(each.matches, toListeners, ways);
  }
  return ways;
}

std::optional<Fault> unseenRule(const config::EgressPolicy& policy, const EgressWays& ways) {
  for (std::size_t i = 0; i < policy.terms.rules.size(); ++i) {
    const base::EgressRule& rule = policy.terms.rules[i];
    const std::vector<EgressWay> blind = blindWays(rule, ways);
    if (blind.empty() || blind.size() < ways.size()) continue;
    return fault(config::reason::kUnsupportedRule, policy.rulePaths[i] + ".http",
                 "requests come there by " + namesOf(blind) + " alone, which shows no methods and paths");
  }
  return std::nullopt;
}

std::optional<Fault> partlySeenRules(const config::EgressPolicy& policy, const EgressWays& ways) {
  std::string text;
  for (std::size_t i = 0; i < policy.terms.rules.size(); ++i) {
    const std::vector<EgressWay> blind = blindWays(policy.terms.rules[i], ways);
    if (blind.empty()) continue;
    text += (text.empty() ? "" : "; ") + policy.rulePaths[i] + " (" + policy.terms.rules[i].name +
            ") is not visible to " + namesOf(blind);
  }
  if (text.empty()) return std::nullopt;
  return summary(config::reason::kUnsupportedRule,
                 text + "; there, an Allow rule that is not visible allows nothing, and a Deny rule denies");
}

}  // namespace sluice::compile
