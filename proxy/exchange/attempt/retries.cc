#include "proxy/exchange/attempt/retries.h"

#include <algorithm>
#include <utility>

#include "proxy/http/grpc.h"

namespace sluice::exchange {

base::Error Retries::constrained() {
  return base::Error::upstream(base::ErrorType::kDestinationUnavailable,
                               "the backend failed, and has had as many retries as its policy allows")
      .ofLimit("retryBudget");
}

std::uint64_t Retries::leftOut(const routing::WeightedBackend& failed) {
  const std::uint32_t most = rule_.retry->attemptsPerPriority;
  if (most == 0) return 0;
  const std::uint64_t all = rule_.failover->membersOf(rule_.failover->members[positionOf(failed)].priority);
  attemptsHere_ = std::exchange(priority_, all) == all ? attemptsHere_ + 1 : 1;
  if (attemptsHere_ < most) return ~all;
  attemptsHere_ = 0;
  leftPriorities_ |= all;
  const std::uint64_t every = ~std::uint64_t{0} >> (64 - rule_.backends.size());
  if (leftPriorities_ == every) leftPriorities_ = 0;  // all priorities have had theirs: the first one comes again
  return leftPriorities_;
}

bool Retries::covers(const http::ResponseHead& head) const {
  const routing::RetryPolicy& policy = *rule_.retry;
  if (policy.covers(head.status)) return true;
  if (policy.grpcCodes == 0 || head.body != http::Body::kNone) return false;
  // The answer to a call that failed before its first message is a head only ("Trailers-Only").
  const std::optional<std::uint32_t> code = http::grpcCodeOf(head.headers);
  return code && policy.coversGrpc(*code);
}

base::Duration Retries::pause(std::uint64_t random) const {
  const base::Duration least = rule_.retry->backoff;
  const base::Duration most = std::max(least, rule_.retry->longestBackoff);
  base::Duration pause = least;
  for (std::uint32_t i = 0; i < made_ && pause < most; ++i) pause = std::min(pause * 2, most);
  // The upper 53 bits as a fraction of one.
  const double fraction = static_cast<double>(random >> 11) * 0x1p-53;
  return pause + base::Duration(static_cast<base::Duration::rep>(static_cast<double>(pause.count() / 4) * fraction));
}

}  // namespace sluice::exchange
