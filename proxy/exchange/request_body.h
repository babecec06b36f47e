// RequestBody moves the body of a request from the client through the steps of Gateway and rule, then through the steps
// of the Backend to the attempt. On the way the body is kept for further attempts and copied to mirrors. It moves as
// far as there is credit, and the client is granted as much again. The exchange owns it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "proxy/exchange/attempt/attempts.h"
#include "proxy/exchange/client_account.h"
#include "proxy/exchange/mirror/request_mirrors.h"
#include "proxy/exchange/steps/processing.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

/// A grant waits until this much was taken, so that window updates stay rare.
inline constexpr std::size_t kGrantUnit = 32 * 1024;

class RequestBody {
 public:
  using Outcome = processing::Pipeline::Outcome;

  RequestBody(Transaction& transaction, Attempts& attempts, Processing& processing, ClientAccount& account,
              RequestMirrors& mirrors)
      : t_(transaction), attempts_(attempts), processing_(processing), account_(account), mirrors_(mirrors) {}

  // Called by the client's connection.
  void add(std::string_view bytes);
  void end(std::optional<http::Trailers> trailers);
  void breakOff();
  // Called by the upstream codec.
  void onTaken(std::size_t count);

  /// Returns the pipe that is sent to the backend.
  http::BodyPipe& outlet() const {
    if (t_.streamTunnel != nullptr && !t_.streamTunnel->released) return t_.streamTunnel->nothing;
    return processing_.attemptCarrier() != nullptr ? processing_.steps()->attemptBody : t_.requestBody;
  }
  /// Moves the body through the steps of Gateway and rule.
  Outcome moveRequest();
  /// Moves the body through the steps of Gateway and rule, as far as they have begun, and with `attempt` through those
  /// of the attempt, whose outcome it returns.
  Outcome move(bool attempt);
  /// Lets the client send as much as was taken.
  void grant();

 private:
  void receive(std::string_view bytes);
  void receiveEnd(std::optional<http::Trailers> trailers);
  void pass(std::size_t count);
  bool feedAttempt(processing::Pipeline& pipeline, const base::ByteQueue& to);
  bool feedOwn(processing::Pipeline& pipeline, const base::ByteQueue& to, processing::OwnBody& own);

  Transaction& t_;
  Attempts& attempts_;
  Processing& processing_;
  ClientAccount& account_;
  RequestMirrors& mirrors_;
  std::size_t ungranted_ = 0;  // taken and not granted to the client again
};

}  // namespace sluice::exchange
