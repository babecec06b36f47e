// HeadMemory charges what the request's head holds against limits.headerMemory while parts of the exchange may still
// need it, and drops the head as soon as the gateway replies itself. Small references to a large entry of HPACK's table
// would otherwise buy a client much memory for as long as it does not take the replies. The exchange owns it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "proxy/base/error.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

class HeadMemory {
 public:
  explicit HeadMemory(Transaction& transaction) : t_(transaction) {}

  /// Returns true if there is nothing to charge: a chunk is part of what a request costs, and limits.concurrentStreams
  /// bounds how many there are.
  bool isFree() const { return t_.request.arena.isSmall(); }
  /// Charges what the head holds. An error says that there is no room for it, and that the request can only be refused.
  std::optional<base::Error> charge();
  /// Gives the charge back. Called before the exchange goes.
  void release();
  /// Drops the head of the request except for what the access log shows of it.
  void drop();

 private:
  Transaction& t_;
  std::unique_ptr<char[]> kept_;  // the texts that the head points to once its arena has gone
  std::size_t charge_ = 0;
};

}  // namespace sluice::exchange
