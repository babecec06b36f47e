// Judges the findings of a check: whether direct egress is closed, and how to close it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/server/check/egress_probes.h"

namespace sluice::server {

enum class EgressVerdict : std::uint8_t {
  kClosed,
  kOpen,
  kUnclear  // something on the path answers for every address, or nothing could be tried
};

struct JudgedAddress {
  std::string target;  // "example.com:443"
  std::string_view protocol;
  std::string address;  // "192.0.2.1:443"; empty if the name is not resolved
  EgressVerdict verdict;
  std::string_view reason;  // the same in one word, for programs: "NoAnswer"
  std::string happened;     // the outcome, in words
  base::Duration took;
};

struct JudgedGateway {
  std::string target;
  bool reachable;
  std::vector<JudgedAddress> addresses;
};

struct EgressReport {
  std::string nameSpace;  // empty if it is not known
  EgressVerdict verdict;
  std::vector<JudgedAddress> addresses;
  std::optional<JudgedGateway> gateway;
  std::vector<std::string> advice;

  /// Returns true if direct egress is closed, and the gateway, if one was named, is reachable.
  bool good() const { return verdict == EgressVerdict::kClosed && (!gateway || gateway->reachable); }
};

/// Judges one address. Closed: nothing came back, or another machine refused. Open: the address was reached, or it
/// refused while the control did not, so that the refusal is its own. Unclear: the control was reached, too.
EgressVerdict verdictOn(const ProbedAddress& probed);

/// `timeout` is the time that the probes had. `gateway` is the target of findings.gateway.
EgressReport judgeEgress(const EgressFindings& findings, const std::optional<CheckTarget>& gateway,
                         std::string nameSpace, base::Duration timeout);

std::string_view verdictName(EgressVerdict verdict);

}  // namespace sluice::server
