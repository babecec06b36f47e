#include "proxy/exchange/authentication/authentication_gate.h"

#include <optional>
#include <utility>

#include "proxy/exchange/authentication/authenticator.h"
#include "proxy/exchange/authentication/basic_credentials.h"
#include "proxy/routing/policy/client_authentication.h"

namespace sluice::exchange {
namespace {

constexpr std::uint16_t kUnauthorized = 401;

base::Error notAuthenticated(const char* why) {
  return {base::ErrorType::kAuthenticationRequired, base::ErrorOrigin::kDownstream, why};
}

base::Error noRoom() {
  return {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
          "too many passwords wait to be checked"};
}

}  // namespace

// Credentials of another scheme are for the Backend.
bool AuthenticationGate::begin() {
  AuthenticationState& state = *(t_.authentication = t_.request.arena.make<AuthenticationState>());
  http::Headers& headers = t_.request.head.headers;
  const http::Field* const field = headers.find(http::FieldId::kAuthorization);
  if (field == nullptr || !isOfBasic(field->value)) return false;
  state.credentials = field->value;
  headers.remove(http::FieldId::kAuthorization);
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
    if (!credentials) return refuse(notAuthenticated("the credentials are malformed"));
    const pki::PasswordClaim claim(demand.users, credentials->user.reveal(), credentials->password.reveal());
    const auto verdict = t_.context.authenticator().judge(claim, t_.client.network, t_.token());
    if (verdict == Authenticator::Verdict::kPending) {
      t_.rearm = true;
      return false;
    }
    if (verdict == Authenticator::Verdict::kNoRoom) {
      t_.context.onLimit(kPasswordLimit);
      return refuse(noRoom().ofLimit(kPasswordLimit));
    }
    state.stage = AuthenticationState::Stage::kChecked;
    state.right = verdict == Authenticator::Verdict::kRight;
  }
  if (state.stage == AuthenticationState::Stage::kChecked && !state.right)
    return refuse(notAuthenticated("the name or the password is wrong"));
  if (state.stage == AuthenticationState::Stage::kOwed && demand.required) {
    return refuse(notAuthenticated("the request has no credentials for this gateway"));
  }
  state.stage = AuthenticationState::Stage::kPassed;
  return true;
}

bool AuthenticationGate::refuse(const base::Error& error) {
  t_.raise(Event::kRejected, error);
  return false;
}

void refuseKnown(Transaction& t, const base::Error& error) {
  if (!AuthenticationGate::owes(t)) return t.raise(Event::kRejected, error);
  t.authentication->refused = true;
  t.raise(Event::kAuthenticate, error);
}

void addChallenge(base::Arena& arena, const Transaction& t, http::ResponseHead& head) {
  if (!t.error || t.error->type != base::ErrorType::kAuthenticationRequired || head.status != kUnauthorized) return;
  const std::string realm = "Basic realm=\"" + t.route.listener->authentication->realm + "\", charset=\"UTF-8\"";
  head.headers.add(arena, "www-authenticate", arena.copy(realm));
}

}  // namespace sluice::exchange
