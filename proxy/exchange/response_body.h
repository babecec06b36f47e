// ResponseBody moves the body of the Backend's response from the attempt through steps to the client. It moves as far
// as there is credit, and the Backend is granted as much again. The exchange owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/client_account.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

class ResponseBody {
 public:
  ResponseBody(Transaction& transaction, Attempts& attempts, Processing& processing, ClientAccount& account)
      : t_(transaction), attempts_(attempts), processing_(processing), account_(account) {}

  // Called by the upstream codec.
  void add(std::string_view bytes);
  void end(std::optional<http::Trailers> trailers);
  // Called by the client's codec.
  void onTaken(std::size_t count);

  /// Moves the body through the steps of the response.
  processing::Pipeline::Outcome move();
  /// Lets the Backend send as much as was taken.
  void grant();
  /// Drops the body of an attempt that is given up.
  void reset();

 private:
  Transaction& t_;
  Attempts& attempts_;
  Processing& processing_;
  ClientAccount& account_;
  std::size_t ungranted_ = 0;  // taken and not granted to the Backend again
};

}  // namespace sluice::exchange
