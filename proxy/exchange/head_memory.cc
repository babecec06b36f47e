#include "proxy/exchange/head_memory.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "proxy/observe/access_log.h"

namespace sluice::exchange {
namespace {

// A method, an authority or a path that is kept is as long as the access log shows it, at most.
constexpr std::size_t kKeptText = observe::AccessLog::kMaxTextBytes;
constexpr std::size_t kKeptPath = observe::AccessLog::kMaxPathBytes;

}  // namespace

std::optional<base::Error> HeadMemory::charge() {
  Downstream* downstream = t_.downstream();
  if (downstream == nullptr) return std::nullopt;
  charge_ = t_.request.charge.takeOver();
  http::HeadCharge rest(&downstream->heads());
  const std::size_t held = t_.request.arena.held();
  if (const std::optional<http::Limit> reached = rest.reach(held - std::min(held, charge_))) {
    t_.context.onLimit(http::limitName(*reached));
    return http::noRoomForHead(*reached);
  }
  charge_ += rest.takeOver();
  return std::nullopt;
}

void HeadMemory::release() {
  giveBack(charge_);
  giveBack(trailersCharge_);
}

void HeadMemory::giveBack(std::size_t& charge) {
  if (charge == 0) return;
  if (Downstream* downstream = t_.downstream()) {
    downstream->heads().giveBack(charge);
  } else {
    t_.context.headBudget().giveBack(charge);
  }
  charge = 0;
}

void HeadMemory::drop() {
  http::RequestHead& head = t_.request.head;
  const std::string_view method = head.methodText.substr(0, kKeptText);
  const std::string_view authority = head.authority.substr(0, kKeptText);
  const std::string_view path = head.path().substr(0, kKeptPath);
  const http::TraceContext trace = http::traceContextOf(head.headers);
  kept_ = std::make_unique_for_overwrite<char[]>(method.size() + authority.size() + path.size() + t_.requestId.size() +
                                                 trace.traceId.size() + trace.spanId.size());
  char* end = kept_.get();
  const auto keep = [&end](std::string_view text) {
    const std::string_view kept(end, text.size());
    end = std::copy(text.begin(), text.end(), end);
    return kept;
  };
  head.methodText = keep(method);
  head.authority = keep(authority);
  head.target = keep(path);
  head.sentPath = {};
  t_.requestId = keep(t_.requestId);
  t_.keptTrace = {keep(trace.traceId), keep(trace.spanId)};
  head.headers = {};
  head.tunnelProof = {};
  head.proxyAuthorization = nullptr;
  t_.authentication = nullptr;
  if (t_.egress != nullptr) {
    egress_ = std::make_unique<EgressState>(*t_.egress);
    t_.egress = egress_.get();
  }
  t_.request.arena.clear();
  giveBack(charge_);
}

}  // namespace sluice::exchange
