// AuthenticationGate makes clients prove who they are before their requests go on, at listeners that demand it.
//
// There are two proofs: the certificate of the connection, whose rules are asked for each request, and credentials. A
// gateway finds these in Authorization, a forward proxy in Proxy-Authorization. They are taken out of the head as soon
// as the listener is known, so that no rule, no step, no log and no Backend sees them. Both are judged between the two
// rounds of steps, once for each exchange, and the certificate first: the caller that it names stays.
//
// It is made where it is needed, and keeps nothing: the state is the transaction's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/error.h"
#include "proxy/exchange/authentication/certified_caller.h"
#include "proxy/exchange/transaction/transaction.h"

namespace sluice::exchange {

struct BasicCredentials;

/// It lives in the arena of the request; exchanges of which nothing is left to judge have none.
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
  bool certificateAdmitted = false;   // the rules about certificates let the client pass
  bool nameless = false;              // these rules let it pass without a proof, so that nothing else names the caller
  std::string_view credentials = {};  // the value of the field; empty if the client has sent none
};

class AuthenticationGate {
 public:
  explicit AuthenticationGate(Transaction& transaction) : t_(transaction) {}

  /// Returns true if the listener authenticates clients, or tells Backends of them. Without it, nothing else is called.
  static bool guards(const routing::ServedListener* listener) {
    return listener != nullptr &&
           (listener->authentication != nullptr || listener->clients != nullptr || !listener->identityHeader.empty());
  }
  /// Returns true if the client has still to be authenticated.
  static bool owes(const Transaction& t) {
    return t.authentication != nullptr && t.authentication->stage != AuthenticationState::Stage::kPassed;
  }

  /// Called when the listener is found. Takes the credentials out of the head, and the field that only the gateway
  /// writes. Returns true if that has changed its fields. A certificate whose verdict is known and good is taken at
  /// once. `downstream` is null if the client has gone.
  bool begin(Downstream* downstream) {
    const routing::ServedListener& listener = *t_.route.listener;
    const bool asksForCertificatesAlone = listener.authentication == nullptr && listener.identityHeader.empty();
    return !(asksForCertificatesAlone && isAdmitted(downstream)) && open(downstream);
  }
  /// Called when the password that admit() waits for was checked. It is called again then.
  void onChecked(bool right);
  /// Judges the client. Returns true if it is authenticated. Else raises kRejected, or waits for onChecked().
  bool admit();
  /// Does the same if that never waits; else raises kAuthenticate.
  bool admitAtOnce();

 private:
  bool takeCredentials();
  /// Returns true if the certificate was judged by an earlier request, and was good; takes the caller that it names, if
  /// it names one. A refusal comes where clients are authenticated, behind the steps before that.
  bool isAdmitted(const Downstream* downstream) {
    const CertifiedCaller* const certified = downstream != nullptr ? downstream->certified : nullptr;
    if (certified == nullptr) return false;
    const auto* const admission = certified->admission(t_.route.listener->clients.get(), t_.started);
    if (admission == nullptr) return false;
    t_.caller = admission->caller;  // nobody has counted the request yet, so nobody is told
    t_.share = admission->share;
    return true;
  }
  bool open(const Downstream* downstream);
  bool admitCertificate();
  bool admitWithoutCertificate();
  bool admitCredentials();
  bool check(const BasicCredentials& credentials);
  void nameUser(std::string_view user);
  bool refuseCredentials(const char* why);
  bool refuse(base::Error error);
  void endConnection();
  base::ErrorType demand() const;

  Transaction& t_;
};

/// Raises kRejected. If the client has still to be authenticated, that comes first, so that nobody else learns the
/// reason.
void refuseKnown(Transaction& transaction, const base::Error& error);

/// Adds the challenge to the answer to a client whose credentials are missing or wrong (RFC 9110 section 11.6.1).
/// `head` may be that of any local reply.
void addChallenge(base::Arena& arena, const Transaction& transaction, http::ResponseHead& head);

/// Writes the caller into the field by which the listener tells Backends of it, if it has one. `head` is the one that
/// is sent: no filter and no step sees the field, or can name another caller. It gets a list of fields of its own.
void nameCaller(const Transaction& transaction, base::Arena& arena, http::RequestHead& head);

}  // namespace sluice::exchange
