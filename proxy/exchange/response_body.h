// The body of the Backend's response on its way: from the attempt, through steps, to the client. It moves as far as
// there is credit, and gives the Backend as much again. The exchange owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/client_account.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction.h"

namespace sluice::exchange {

class ResponseBody {
 public:
  ResponseBody(Transaction& transaction, Attempts& attempts, Processing& processing, ClientAccount& account)
      : t_(transaction), attempts_(attempts), processing_(processing), account_(account) {}

  // what the upstream codec tells
  void add(std::string_view bytes);
  void end(std::optional<http::Trailers> trailers);
  // what the client's codec tells
  void onTaken(std::size_t count);

  /// Moves it through the steps of the response.
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
