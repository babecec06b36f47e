// AuthenticationGate makes clients prove who they are before their requests go on, at listeners that demand it.
//
// A gateway finds the credentials in Authorization, a forward proxy in Proxy-Authorization. They are taken out of the
// head as soon as the listener is known, so that no rule, no step, no log and no Backend sees them. They are judged
// between the two rounds of steps, once for each exchange.
//
// It is made where it is needed, and keeps nothing: the state is the transaction's.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/base/error.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

/// It lives in the arena of the request; exchanges at listeners without authentication have none.
struct AuthenticationState {
  enum class Stage : std::uint8_t {
    kOwed,     // nothing is known of the client so far
    kChecked,  // the password was checked: see `right`
    kPassed
  };
  Stage stage = Stage::kOwed;
  bool right = false;
  bool refused = false;               // a client that is authenticated gets the error of the transaction
  bool halfway = false;               // it passes between the steps that come before routing
  std::string_view credentials = {};  // the value of the field; empty if the client has sent none
};

class AuthenticationGate {
 public:
  explicit AuthenticationGate(Transaction& transaction) : t_(transaction) {}

  /// Returns true if the listener authenticates clients. Without it, nothing else is called.
  static bool guards(const routing::ServedListener* listener) {
    return listener != nullptr && listener->authentication != nullptr;
  }
  /// Returns true if the client has still to be authenticated.
  static bool owes(const Transaction& t) {
    return t.authentication != nullptr && t.authentication->stage != AuthenticationState::Stage::kPassed;
  }

  /// Called when the listener is found. Takes the credentials out of the head. Returns true if that has changed its
  /// fields.
  bool begin();
  /// Called when the password that admit() waits for was checked. It is called again then.
  void onChecked(bool right);
  /// Judges the client. Returns true if it is authenticated. Else raises kRejected, or waits for onChecked().
  bool admit();

 private:
  bool refuse(const char* why);

  Transaction& t_;
};

/// Raises kRejected. If the client has still to be authenticated, that comes first, so that nobody else learns the
/// reason.
void refuseKnown(Transaction& transaction, const base::Error& error);

/// Adds the challenge to the answer to a client that is not authenticated (RFC 9110 section 11.6.1). `head` may be that
/// of any local reply.
void addChallenge(base::Arena& arena, const Transaction& transaction, http::ResponseHead& head);

}  // namespace sluice::exchange
