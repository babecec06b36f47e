#include "proxy/routing/policy/egress/egress_dial.h"

#include <algorithm>

namespace sluice::routing {
namespace {

bool isDecimalDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view dialledName(std::string_view hostname) {
  if (hostname.ends_with('.')) hostname.remove_suffix(1);
  if (hostname.find(':') != std::string_view::npos) return {};
  // The last label of a name is never a number (config/ground/patterns.h), and that of an IPv4 address always is.
  const std::string_view last = hostname.substr(hostname.rfind('.') + 1);
  return std::all_of(last.begin(), last.end(), isDecimalDigit) ? std::string_view() : hostname;
}

base::Error egressDenied() {
  return {base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kDownstream,
          "an egress policy denies this destination"};
}

bool EgressDial::permits(base::AddressBytes address) {
  EgressFacts facts = facts_;
  facts.address = address;
  EgressVerdict verdict = judgeEgress(ofListener_, ofRule_, facts);
  const bool firstBytesTell = sightOf(facts.way).serverName == Sight::kSeen && !facts.serverName;
  const bool isUndecided = verdict.ruling == EgressRuling::kUndecided;
  if (verdict.ruling == EgressRuling::kPassed || (isUndecided && firstBytesTell)) {
    // If one of several addresses depends on the first bytes, these decide.
    if (!permitted_ || isUndecided) verdict_ = verdict;
    permitted_ = true;
    return true;
  }
  if (isUndecided) verdict.ruling = EgressRuling::kDenied;
  if (!permitted_) verdict_ = verdict;
  return false;
}

bool EgressDial::permitsFirstBytes(bool tls, std::optional<std::string_view> serverName, base::AddressBytes address) {
  facts_.tls = tls;
  facts_.serverName = serverName;
  EgressFacts facts = facts_;
  facts.address = address;
  verdict_ = judgeEgress(ofListener_, ofRule_, facts);
  if (verdict_.ruling == EgressRuling::kUndecided) verdict_.ruling = EgressRuling::kDenied;
  return verdict_.ruling == EgressRuling::kPassed;
}

}  // namespace sluice::routing
