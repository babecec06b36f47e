#include "proxy/kubernetes/lease/reporters.h"

#include <algorithm>
#include <cstddef>

namespace sluice::kubernetes {
namespace {

constexpr std::size_t kPodSuffix = 5;        // characters that an API server adds to a generateName
constexpr std::size_t kMostPodPrefix = 58;   // it cuts a longer generateName, so that the name has 63
constexpr std::size_t kMostHashDigits = 10;  // of a ReplicaSet

bool isPodNameDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string_view namespaceOfGateway(std::string_view gateway) { return gateway.substr(0, gateway.find('/')); }

bool isNamedAsPodOfAny(const ReplicaReport& report, const std::set<std::string>& deployments) {
  return std::any_of(deployments.begin(), deployments.end(),
                     [&](const std::string& deployment) { return isNameOfPod(report.replica, deployment); });
}

bool isPodOfAny(const ReplicaReport& report, const std::set<std::string>& deployments) {
  return !report.podUid.empty() && isNamedAsPodOfAny(report, deployments);
}

}  // namespace

bool isNameOfPod(std::string_view pod, std::string_view deployment) {
  if (pod.size() <= kPodSuffix) return false;
  const std::string_view suffix = pod.substr(pod.size() - kPodSuffix);
  const std::string_view prefix = pod.substr(0, pod.size() - kPodSuffix);
  const std::string_view name = deployment.substr(0, kMostPodPrefix);
  if (!std::all_of(suffix.begin(), suffix.end(), isPodNameDigit) || !prefix.starts_with(name)) return false;
  // The name is followed by "-HASH-", which is cut if it does not fit.
  std::string_view rest = prefix.substr(name.size());
  const bool cut = prefix.size() == kMostPodPrefix;
  if (rest.empty()) return cut;
  if (rest.front() != '-') return false;
  rest.remove_prefix(1);
  const bool ends = !rest.empty() && rest.back() == '-';
  if (ends) rest.remove_suffix(1);
  const bool isHash = rest.size() <= kMostHashDigits && std::all_of(rest.begin(), rest.end(), isPodNameDigit);
  return isHash && (ends ? !rest.empty() : cut);
}

template <typename Predicate>
bool Reporters::anyOf(std::string_view nameSpace, Predicate&& predicate) const {
  auto each = gateways.lower_bound(std::string(nameSpace) + "/");
  for (; each != gateways.end() && namespaceOfGateway(each->first) == nameSpace; ++each) {
    if (predicate(each->first, each->second)) return true;
  }
  return false;
}

bool Reporters::mayTrust(std::string_view nameSpace) const {
  return nameSpace == home || anyOf(nameSpace, [](const auto&, const auto&) { return true; });
}

bool Reporters::isNamedAsPodAtHome(const ReplicaReport& report) const {
  return anyOf(home, [&](const auto&, const auto& deployments) { return isNamedAsPodOfAny(report, deployments); });
}

bool Reporters::trustsAtHome(const ReplicaReport& report, std::string_view gateway) const {
  const auto found = gateways.find(gateway);
  const bool keepsItsPods = found != gateways.end() && !found->second.empty();
  const bool isHere = namespaceOfGateway(gateway) == home;
  if (isNamedAsPodAtHome(report)) return isHere && keepsItsPods && isPodOfAny(report, found->second);
  const bool keepsPodsHere = anyOf(home, [](const auto&, const auto& deployments) { return !deployments.empty(); });
  return isHere || !keepsItsPods || !keepsPodsHere;
}

bool Reporters::trusts(const ReplicaReport& report, std::string_view gateway) const {
  if (report.nameSpace == home) return trustsAtHome(report, gateway);
  const auto found = gateways.find(gateway);
  if (found == gateways.end() || report.nameSpace != namespaceOfGateway(gateway)) return false;
  return found->second.empty() || isPodOfAny(report, found->second);
}

bool Reporters::trusts(const ReplicaReport& report) const {
  if (report.nameSpace == home && !isNamedAsPodAtHome(report)) return true;
  return anyOf(report.nameSpace, [&](const std::string& gateway, const auto&) {
    return report.serves(gateway) && trusts(report, gateway);
  });
}

}  // namespace sluice::kubernetes
