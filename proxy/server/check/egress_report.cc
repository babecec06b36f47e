#include "proxy/server/check/egress_report.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/base/duration.h"

namespace sluice::server {
namespace {

using net::ProbeResult;

bool controlGot(const ProbedAddress& probed, ProbeResult result) { return probed.control == result; }

std::string_view reasonFor(const ProbedAddress& probed) {
  if (!probed.outcome) return "NotResolved";
  switch (probed.outcome->result) {
    case ProbeResult::kReached:
      return controlGot(probed, ProbeResult::kReached) ? "Intercepted" : "Reached";
    case ProbeResult::kRefused:
      return controlGot(probed, ProbeResult::kRefused) ? "RefusedOnTheWay" : "Refused";
    case ProbeResult::kRejected:
      return "RefusedOnTheWay";
    case ProbeResult::kUnreachable:
      return "Unreachable";
    case ProbeResult::kTimedOut:
      return "NoAnswer";
    case ProbeResult::kFailed:
      break;
  }
  return "NotTried";
}

std::string reachedText(const ProbedAddress& probed) {
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(probed.took).count();
  const bool tcp = probed.target.protocol == net::ProbeProtocol::kTcp;
  std::string text = std::string(tcp ? "connected" : "answered") + " after " + std::to_string(took) + " ms";
  if (controlGot(probed, ProbeResult::kReached)) {
    text += ", as " + controlAddress(*probed.address).ip() + " did, where nobody is";
  }
  return text;
}

std::string refusedText(const ProbedAddress& probed) {
  std::string text = probed.outcome->sender ? "refused by ICMP of the address itself" : "refused by the address itself";
  if (!controlGot(probed, ProbeResult::kRefused)) return text;
  return "refused, as " + controlAddress(*probed.address).ip() + " was, where nobody is";
}

std::string whatHappened(const ProbedAddress& probed, base::Duration timeout) {
  if (!probed.outcome) return "not resolved: " + probed.unresolved;
  const net::ProbeOutcome& outcome = *probed.outcome;
  switch (outcome.result) {
    case ProbeResult::kReached:
      return reachedText(probed);
    case ProbeResult::kRefused:
      return refusedText(probed);
    case ProbeResult::kRejected:
      return "refused by " + outcome.sender->ip() + " on the way: " + outcome.detail;
    case ProbeResult::kUnreachable:
      return "no way there: " + outcome.detail;
    case ProbeResult::kTimedOut:
      return "no answer within " + base::formatDuration(timeout);
    case ProbeResult::kFailed:
      break;
  }
  return "could not be tried: " + outcome.detail;
}

JudgedAddress judged(const ProbedAddress& probed, base::Duration timeout) {
  return {probed.target.text(),
          protocolName(probed.target.protocol),
          probed.address ? probed.address->toString() : std::string(),
          verdictOn(probed),
          reasonFor(probed),
          whatHappened(probed, timeout),
          probed.took};
}

EgressVerdict verdictOnAll(const std::vector<JudgedAddress>& addresses) {
  const auto has = [&](EgressVerdict verdict) {
    return std::any_of(addresses.begin(), addresses.end(),
                       [verdict](const JudgedAddress& each) { return each.verdict == verdict; });
  };
  const bool doubtful = std::any_of(addresses.begin(), addresses.end(), [](const JudgedAddress& each) {
    return each.verdict == EgressVerdict::kUnclear && each.reason != "NotResolved";
  });
  if (has(EgressVerdict::kOpen)) return EgressVerdict::kOpen;
  return doubtful || !has(EgressVerdict::kClosed) ? EgressVerdict::kUnclear : EgressVerdict::kClosed;
}

JudgedGateway judgedGateway(const std::vector<ProbedAddress>& probed, const CheckTarget& target,
                            base::Duration timeout) {
  JudgedGateway gateway{target.text(), false, {}};
  for (const ProbedAddress& each : probed) {
    gateway.reachable = gateway.reachable || (each.outcome && each.outcome->result == ProbeResult::kReached);
    gateway.addresses.push_back(judged(each, timeout));
  }
  return gateway;
}

bool hasReason(const EgressReport& report, std::string_view reason) {
  return std::any_of(report.addresses.begin(), report.addresses.end(),
                     [reason](const JudgedAddress& each) { return each.reason == reason; });
}

std::vector<std::string> adviceFor(const EgressReport& report) {
  const std::string nameSpace = report.nameSpace.empty() ? "NAMESPACE" : report.nameSpace;
  std::vector<std::string> advice;
  if (report.verdict == EgressVerdict::kOpen) {
    advice.push_back("Apply the NetworkPolicies that allow the gateway and DNS alone: kubectl apply -n " + nameSpace +
                     " -k config/kustomize/enforced-egress");
    advice.push_back(
        "If they are there: what one NetworkPolicy allows, no other one takes away (kubectl get "
        "networkpolicy -n " +
        nameSpace +
        "); Pods with hostNetwork are bound by none; and the network plug-in "
        "of the cluster must enforce them.");
  }
  if (report.verdict == EgressVerdict::kOpen && hasReason(report, "Refused")) {
    advice.push_back(
        "A target that refused counts as open, because an address where nobody is was not refused. A "
        "firewall that refuses in the name of that target alone looks the same.");
  }
  if (hasReason(report, "Intercepted")) {
    advice.push_back(
        "Something on the way accepts connections to any address, as a sidecar or a transparent proxy "
        "does, so they show nothing. Run the check from a Pod of " +
        nameSpace + " without it.");
  }
  if (hasReason(report, "NotTried")) advice.push_back("Some targets could not be tried; run the check again.");
  if (report.verdict == EgressVerdict::kUnclear && !hasReason(report, "Intercepted") &&
      !hasReason(report, "NotTried")) {
    advice.push_back("No name was resolved, so nothing was tried. Name an address, as --target 1.1.1.1:443.");
  }
  if (report.gateway && !report.gateway->reachable) {
    advice.push_back("Allow the way to the gateway: a NetworkPolicy of " + nameSpace +
                     " must name the gateway's Pods "
                     "and the port of the container, not those of its Service, and no policy of the gateway's own "
                     "namespace may keep " +
                     nameSpace + " out.");
  }
  if (!report.gateway && report.verdict == EgressVerdict::kClosed) {
    advice.push_back("With --gateway HOST:PORT the way that shall be open is tried, too.");
  }
  return advice;
}

}  // namespace

std::string_view verdictName(EgressVerdict verdict) {
  switch (verdict) {
    case EgressVerdict::kClosed:
      return "closed";
    case EgressVerdict::kOpen:
      return "open";
    case EgressVerdict::kUnclear:
      break;
  }
  return "unclear";
}

EgressVerdict verdictOn(const ProbedAddress& probed) {
  if (!probed.outcome) return EgressVerdict::kUnclear;
  switch (probed.outcome->result) {
    case ProbeResult::kReached:
      return controlGot(probed, ProbeResult::kReached) ? EgressVerdict::kUnclear : EgressVerdict::kOpen;
    case ProbeResult::kRefused:
      return controlGot(probed, ProbeResult::kRefused) ? EgressVerdict::kClosed : EgressVerdict::kOpen;
    case ProbeResult::kRejected:
    case ProbeResult::kUnreachable:
    case ProbeResult::kTimedOut:
      return EgressVerdict::kClosed;
    case ProbeResult::kFailed:
      break;
  }
  return EgressVerdict::kUnclear;
}

EgressReport judgeEgress(const EgressFindings& findings, const std::optional<CheckTarget>& gateway,
                         std::string nameSpace, base::Duration timeout) {
  EgressReport report{std::move(nameSpace), EgressVerdict::kUnclear, {}, std::nullopt, {}};
  for (const ProbedAddress& each : findings.targets) report.addresses.push_back(judged(each, timeout));
  report.verdict = verdictOnAll(report.addresses);
  if (gateway) report.gateway = judgedGateway(findings.gateway, *gateway, timeout);
  report.advice = adviceFor(report);
  return report;
}

}  // namespace sluice::server
