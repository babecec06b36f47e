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
  const EgressVerdict verdict = judgeEgress(ofListener_, ofRule_, facts);
  const bool firstBytesTell = sightOf(facts.way).serverName == Sight::kSeen && !facts.serverName;
  if (firstBytesTell && verdict.ruling == EgressRuling::kUndecided) {
    verdict_ = verdict;
    return true;
  }
  return decide(verdict);
}

bool EgressDial::permitsFirstBytes(bool tls, std::string_view serverName, base::AddressBytes address) {
  facts_.tls = tls;
  facts_.serverName = serverName;
  EgressFacts facts = facts_;
  facts.address = address;
  verdict_ = {};
  verdict_.ruling = EgressRuling::kUndecided;
  return decide(judgeEgress(ofListener_, ofRule_, facts));
}

bool EgressDial::decide(const EgressVerdict& verdict) {
  if (verdict_.ruling != EgressRuling::kPassed) verdict_ = verdict;
  if (verdict_.ruling == EgressRuling::kUndecided) verdict_.ruling = EgressRuling::kDenied;
  return verdict.ruling == EgressRuling::kPassed;
}

}  // namespace sluice::routing
