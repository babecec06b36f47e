// ClientAccount charges the bodies of one exchange to the memory of its client's connection, and measures how fast the
// client takes the bytes that wait for it. The exchange owns it.
#pragma once

#include <cstdint>

#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class ClientAccount {
 public:
  ClientAccount(Transaction& transaction, const Processing& processing) : t_(transaction), processing_(processing) {}

  /// Returns true if there is nothing to settle, as for most messages that are complete.
  bool isIdle() const {
    return heldOfRequest() + heldOfResponse() == 0 && units_ == 0 && !requestWide_ && !responseWide_ &&
           owesSince_ == base::MonotonicTime{};
  }
  /// Charges the bytes that are held now. Called at the end of each drive of the exchange.
  void settle();

  /// Returns true if a body that holds `held` bytes gets no credit, because a bound of the client's memory is reached.
  bool withholds(std::uint64_t held) const;
  /// Return true once, when the consumer of the body has taken enough of it to have the whole window, and there is
  /// room.
  bool widensRequest();
  bool widensResponse();
  /// The next attempt's response begins with a first window again.
  void resetResponse() { responseWide_ = false; }

  /// Returns when a bound will have been reached for too long; max() if none is reached.
  base::MonotonicTime withheldDeadline() const;
  /// Returns since when bytes wait for the client, of which it has taken too few; max() if none do.
  base::MonotonicTime owesSince() const {
    return owesSince_ != base::MonotonicTime{} ? owesSince_ : base::MonotonicTime::max();
  }
  /// Returns when the client will have taken too little for too long; max() if nothing waits for it.
  base::MonotonicTime takingDeadline() const;
  /// Returns true, and gives the client its time once more, if its socket has moved since the last call.
  bool renewIfSocketMoves();

 private:
  std::uint64_t heldOfRequest() const {
    const ExchangeSteps* steps = processing_.steps();
    return t_.requestBody.bytes.size() + (steps != nullptr ? steps->heldOfRequest() : 0);
  }
  std::uint64_t heldOfResponse() const {
    const ExchangeSteps* steps = processing_.steps();
    return t_.responseBody.bytes.size() + (steps != nullptr ? steps->heldOfResponse() : 0);
  }
  bool earnsWholeWindow(std::uint64_t taken, std::uint64_t held);
  void watchClient();

  Transaction& t_;
  const Processing& processing_;
  std::uint32_t units_ = 0;   // charged to the client's ClientMemory
  bool requestWide_ = false;  // the request's body has the whole of its window
  bool responseWide_ = false;
  bool looked_ = false;                  // acknowledgedMark_ is set
  std::uint64_t takenMark_ = 0;          // responseBytes when owesSince_ was set
  std::uint64_t acknowledgedMark_ = 0;   // the bytes that the client's system had acknowledged at the last look
  base::MonotonicTime withheldSince_{};  // zero if no bound is reached
  base::MonotonicTime owesSince_{};      // zero if nothing waits for the client
};

}  // namespace sluice::exchange
