#include "proxy/exchange/transaction/client_memory.h"

#include <algorithm>

namespace sluice::exchange {
namespace {

// The usual size of a DATA frame.
constexpr std::uint64_t kLeastFirstWindow = 16 * 1024;

std::uint64_t roundedUp(std::uint64_t bytes, std::uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

BodyWindow bodyWindowOf(const base::LimitSettings& limits) {
  const std::uint64_t whole = std::min(limits.streamWindow, limits.exchangeBuffer);
  const std::uint64_t share = roundedUp(limits.connectionMemory / limits.concurrentStreams + 1, ClientMemory::kUnit);
  return {std::min(std::max(share, kLeastFirstWindow), whole), whole};
}

std::string_view ClientMemory::reached(std::uint64_t most) const {
  if (used_ >= most) return "connectionMemory";
  return total_.hasRoomFor(1) ? std::string_view() : "connectionMemoryTotal";
}

void ClientMemory::follow() {
  const std::uint64_t wanted = roundedUp(used_, kUnitOfTotal);
  if (wanted > taken_) {
    total_.take(wanted - taken_);
  } else {
    total_.giveBack(taken_ - wanted);
  }
  taken_ = wanted;
}

}  // namespace sluice::exchange
