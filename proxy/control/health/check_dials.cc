#include "proxy/control/health/check_dials.h"

#include <algorithm>
#include <utility>

namespace sluice::control {

CheckDials::CheckDials(std::vector<routing::EgressCoverage> covers, const routing::BackendPlan& plan)
    : covers_(std::move(covers)) {
  routing::EgressFacts facts;
  facts.way = routing::EgressWay::kHealthCheck;
  facts.name = routing::dialledName(plan.hostname);
  facts.port = plan.port;
  facts.tls = plan.tls.has_value();
  for (const routing::EgressCoverage& each : covers_) {
    routing::EgressDial dial(each.ofListener.get(), each.ofRule.get(), facts);
    switch (dial.judge()) {
      case routing::EgressRuling::kPassed:
        dials_.clear();
        denial_.reset();
        return;
      case routing::EgressRuling::kUndecided:
        dials_.push_back(dial);
        break;
      case routing::EgressRuling::kDenied:
        denial_ = dial.verdict();
        break;
    }
  }
  if (!dials_.empty()) denial_.reset();
}

bool CheckDials::narrow(net::Addresses& addresses) {
  if (dials_.empty()) return true;
  std::erase_if(addresses, [this](const net::Address& address) {
    return std::none_of(dials_.begin(), dials_.end(),
                        [&](routing::EgressDial& each) { return each.permits(address.bytes()); });
  });
  return !addresses.empty();
}

}  // namespace sluice::control
