// What the request's head holds: its charge against limits.headerMemory while others could still need it, and its end
// as soon as the gateway answers itself. Small references to a large entry of HPACK's table would otherwise buy a
// client much memory for as long as it does not take the answers.
#include <algorithm>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/observe/access_log.h"

namespace sluice::exchange {
namespace {

// See Exchange::hasSmallHead().
constexpr std::size_t kFreeOfCharge = base::Chunk::kCapacity;

// A kept method or authority is no longer than what the access log shows of it, and a path neither.
constexpr std::size_t kKeptText = observe::AccessLog::kMaxTextBytes;
constexpr std::size_t kKeptPath = observe::AccessLog::kMaxPathBytes;

}  // namespace

std::optional<base::Error> Exchange::chargeHead() {
  Downstream* downstream = owner_.downstream(origin_.connection);
  if (downstream == nullptr) return std::nullopt;
  const std::size_t held = request_.arena.held();
  const std::size_t charge = held - std::min(held, kFreeOfCharge);
  const bool ofConnection = downstream->headerMemory + charge > owner_.limits().headerMemory;
  if (ofConnection || !owner_.headBudget().take(charge)) {
    owner_.onLimit(ofConnection ? "headerMemory" : "headerMemoryTotal");
    return base::Error(base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
                       "the heads of requests under way hold too much memory");
  }
  downstream->headerMemory += charge;
  headCharge_ = charge;
  return std::nullopt;
}

void Exchange::releaseHead() {
  if (headCharge_ == 0) return;
  owner_.headBudget().giveBack(headCharge_);
  if (Downstream* downstream = owner_.downstream(origin_.connection)) downstream->headerMemory -= headCharge_;
  headCharge_ = 0;
}

void Exchange::dropHeads() {
  response_.reset();  // the codec has what it needs
  // Steps live in the request's arena, and hold on to what they have counted until the exchange is over.
  if (steps_ || hasSmallHead()) return;
  http::RequestHead& head = request_.head;
  const std::string_view method = head.methodText.substr(0, kKeptText);
  const std::string_view authority = head.authority.substr(0, kKeptText);
  const std::string_view path = head.path().substr(0, kKeptPath);
  keptOfHead_ = std::make_unique_for_overwrite<char[]>(method.size() + authority.size() + path.size());
  char* end = keptOfHead_.get();
  const auto keep = [&end](std::string_view text) {
    const std::string_view kept(end, text.size());
    end = std::copy(text.begin(), text.end(), end);
    return kept;
  };
  head.methodText = keep(method);
  head.authority = keep(authority);
  head.target = keep(path);
  head.headers = {};
  head.webSocketAccept = {};
  request_.arena.clear();
  releaseHead();
}

}  // namespace sluice::exchange
