// The memory of requests' heads and trailers: ClientHeads is the account of one client connection, and HeadMemory the
// charge of one exchange.
//
// The codec of the connection charges the bytes that it decodes. The exchange takes the charge over with the head, and
// keeps it as long as one of its parts may still need the head. It drops the head as soon as the gateway replies
// itself. A client would otherwise hold much memory for as long as it does not take the replies.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "proxy/base/error.h"
#include "proxy/exchange/egress/egress_state.h"
#include "proxy/exchange/transaction/transaction.h"
#include "proxy/http/head_account.h"

namespace sluice::exchange {

/// Bounds the memory of the heads and trailers of one connection's requests by limits.headerMemory, and that of all
/// connections by limits.headerMemoryTotal. The connection owns it; it outlives the codec.
class ClientHeads final : public http::HeadAccount {
 public:
  explicit ClientHeads(ExchangeContext& context) : context_(context) {}
  ClientHeads(const ClientHeads&) = delete;
  ClientHeads& operator=(const ClientHeads&) = delete;

  std::optional<http::Limit> take(std::size_t bytes) override {
    if (used_ + bytes > context_.limits().headerMemory) return http::Limit::kHeaderMemory;
    if (!context_.headBudget().take(bytes)) return http::Limit::kHeaderMemoryTotal;
    used_ += bytes;
    return std::nullopt;
  }
  void giveBack(std::size_t bytes) override {
    used_ -= bytes;
    context_.headBudget().giveBack(bytes);
  }

 private:
  ExchangeContext& context_;
  std::size_t used_ = 0;
};

/// The exchange owns it.
class HeadMemory {
 public:
  explicit HeadMemory(Transaction& transaction) : t_(transaction) {}

  /// Returns true if the head is so small that it is free (http::HeadCharge::kFree).
  bool isFree() const { return t_.request.arena.isSmall(); }
  /// Charges the memory of the head. Returns an error if there is no room for it; the request can only be refused then.
  std::optional<base::Error> charge();
  /// Takes over the charge of the request's trailers.
  void add(http::Trailers& trailers) { trailersCharge_ += trailers.charge.takeOver(); }
  /// Gives everything back. Called before the exchange goes.
  void release();
  /// Drops the head of the request except for the parts that the access log shows.
  void drop();

 private:
  void giveBack(std::size_t& charge);

  Transaction& t_;
  std::unique_ptr<char[]> kept_;  // the texts that the head points to once its arena has gone
  /// The decision of EgressPolicies once the arena has gone. Nothing is judged any more, so its facts are not read.
  std::unique_ptr<EgressState> egress_;
  std::size_t charge_ = 0;          // of the head
  std::size_t trailersCharge_ = 0;  // trailers stay in the body's pipe
};

}  // namespace sluice::exchange
