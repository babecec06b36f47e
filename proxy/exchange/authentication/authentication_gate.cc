#include "proxy/exchange/authentication/authentication_gate.h"

#include <optional>
#include <utility>

#include "proxy/exchange/authentication/authenticator.h"
#include "proxy/exchange/authentication/basic_credentials.h"
#include "proxy/routing/policy/client_authentication.h"

namespace sluice::exchange {
namespace {

base::Error noRoom() {
  return {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
          "too many passwords wait to be checked"};
}

}  // namespace

bool AuthenticationGate::begin() {
  AuthenticationState& state = *(t_.authentication = t_.request.arena.make<AuthenticationState>());
  http::RequestHead& head = t_.request.head;
  if (t_.client.forwardProxy) {
    if (head.proxyAuthorization != nullptr) state.credentials = *std::exchange(head.proxyAuthorization, nullptr);
    return false;
  }
  const http::Field* const field = head.headers.find(http::FieldId::kAuthorization);
  if (field == nullptr || !isOfBasic(field->value)) return false;  // those of another scheme are for the Backend
  state.credentials = field->value;
  head.headers.remove(http::FieldId::kAuthorization);
  return true;
}

void AuthenticationGate::onChecked(bool right) {
  t_.authentication->stage = AuthenticationState::Stage::kChecked;
  t_.authentication->right = right;
}

bool AuthenticationGate::admit() {
  AuthenticationState& state = *t_.authentication;
  const routing::ClientAuthentication& demand = *t_.route.listener->authentication;
  if (state.stage == AuthenticationState::Stage::kOwed && !state.credentials.empty()) {
    const auto credentials = readBasic(state.credentials);
    if (!credentials) return refuse("the credentials are malformed");
    const pki::PasswordClaim claim(demand.users, credentials->user.reveal(), credentials->password.reveal());
    const auto verdict = t_.context.authenticator().judge(claim, t_.client.network, t_.token());
    if (verdict == Authenticator::Verdict::kPending) {
      t_.rearm = true;
      return false;
    }
    if (verdict == Authenticator::Verdict::kNoRoom) {
      t_.context.onLimit(kPasswordLimit);
      t_.raise(Event::kRejected, noRoom().ofLimit(kPasswordLimit));
      return false;
    }
    state.stage = AuthenticationState::Stage::kChecked;
    state.right = verdict == Authenticator::Verdict::kRight;
  }
  const bool isWrong = state.stage == AuthenticationState::Stage::kChecked && !state.right;
  if (isWrong) return refuse("the name or the password is wrong");
  if (state.stage == AuthenticationState::Stage::kOwed && demand.required) {
    return refuse("the request has no credentials for this gateway");
  }
  state.stage = AuthenticationState::Stage::kPassed;
  return true;
}

bool AuthenticationGate::refuse(const char* why) {
  const auto type =
      t_.client.forwardProxy ? base::ErrorType::kProxyAuthenticationRequired : base::ErrorType::kAuthenticationRequired;
  t_.raise(Event::kRejected, base::Error(type, base::ErrorOrigin::kDownstream, why));
  return false;
}

void refuseKnown(Transaction& t, const base::Error& error) {
  if (!AuthenticationGate::owes(t)) return t.raise(Event::kRejected, error);
  t.authentication->refused = true;
  t.raise(Event::kAuthenticate, error);
}

void addChallenge(base::Arena& arena, const Transaction& t, http::ResponseHead& head) {
  const bool isAsked = t.error && head.status == t.error->status &&
                       (t.error->type == base::ErrorType::kAuthenticationRequired ||
                        t.error->type == base::ErrorType::kProxyAuthenticationRequired);
  if (!isAsked) return;  // it is refused for another reason, or in the form of gRPC
  const std::string challenge = "Basic realm=\"" + t.route.listener->authentication->realm + "\"";
  if (t.client.forwardProxy) {
    head.headers.add(arena, http::FieldId::kProxyAuthenticate, arena.copy(challenge));
  } else {
    head.headers.add(arena, "www-authenticate", arena.copy(challenge + ", charset=\"UTF-8\""));
  }
}

}  // namespace sluice::exchange
