#include "proxy/exchange/authentication/authentication_gate.h"

#include <memory>
#include <optional>
#include <utility>

#include "proxy/exchange/authentication/authenticator.h"
#include "proxy/exchange/authentication/basic_credentials.h"
#include "proxy/exchange/transaction/fair_share.h"
#include "proxy/exchange/transaction/forwarded_caller.h"
#include "proxy/routing/policy/client_authentication.h"
#include "proxy/routing/policy/client_validation.h"

namespace sluice::exchange {
namespace {

base::Error noRoom() {
  return {base::ErrorType::kConnectionLimitReached, base::ErrorOrigin::kDownstream,
          "too many passwords wait to be checked"};
}

void tell(const Transaction& t, IdentitySource source, IdentityResult result) {
  t.context.observer().onIdentity(source, result);
}

}  // namespace

/// Begins for a listener that asks for more than certificates, and for a certificate that has still to be judged.
bool AuthenticationGate::open(const Downstream* downstream) {
  const routing::ServedListener& listener = *t_.route.listener;
  const std::string& field = listener.identityHeader;
  const bool removed = !field.empty() && t_.request.head.headers.removeTwins(field) > 0;
  if (listener.authentication == nullptr && (listener.clients == nullptr || isAdmitted(downstream))) {
    return removed;
  }
  t_.authentication = t_.request.arena.make<AuthenticationState>();
  return (listener.authentication != nullptr && takeCredentials()) || removed;
}

/// Returns true if that has changed the fields of the head.
bool AuthenticationGate::takeCredentials() {
  AuthenticationState& state = *t_.authentication;
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

bool AuthenticationGate::admitAtOnce() {
  if (t_.route.listener->authentication == nullptr) return admit();
  t_.raise(Event::kAuthenticate);
  return false;
}

bool AuthenticationGate::admit() {
  AuthenticationState& state = *t_.authentication;
  const routing::ServedListener& listener = *t_.route.listener;
  if (listener.clients != nullptr && !state.certificateAdmitted && !admitCertificate()) return false;
  state.certificateAdmitted = true;
  if (listener.authentication != nullptr && !admitCredentials()) return false;
  state.stage = AuthenticationState::Stage::kPassed;
  return true;
}

// --- the certificate ------------------------------------------------------------------------------------------------

bool AuthenticationGate::admitCertificate() {
  Downstream* const downstream = t_.downstream();
  CertifiedCaller* const certified = downstream != nullptr ? downstream->certified : nullptr;
  if (certified == nullptr) return admitWithoutCertificate();
  const auto& rules = t_.route.listener->clients;
  const auto [verdict, anew] = certified->judge(rules, t_.now(), t_.context.worker().clock().wallNow());
  if (anew && !verdict.admits()) tell(t_, IdentitySource::kCertificate, IdentityResult::kRefused);
  if (anew && verdict.caller != nullptr) tell(t_, IdentitySource::kCertificate, IdentityResult::kIdentified);
  if (verdict.admits()) {
    if (verdict.caller != nullptr) t_.identify(verdict.caller);
    t_.share = verdict.share;
    return true;
  }
  if (rules->insecureFallback) {
    t_.authentication->nameless = true;
    return true;
  }
  endConnection();
  base::Error error(demand(), base::ErrorOrigin::kDownstream, "the certificate of this connection is not valid here");
  error.note = verdict.refusal;
  return refuse(std::move(error));
}

/// Called for a client that has shown no certificate. Where one is required, the handshake was that of another
/// listener, or one of an earlier configuration: the request belongs on a connection of its own (RFC 9110 section
/// 15.5.20).
bool AuthenticationGate::admitWithoutCertificate() {
  const routing::ClientValidation& rules = *t_.route.listener->clients;
  tell(t_, IdentitySource::kCertificate, IdentityResult::kAbsent);
  t_.authentication->nameless = rules.insecureFallback;
  if (rules.insecureFallback || !rules.required) return true;
  endConnection();
  return refuse({base::ErrorType::kMisdirectedRequest, base::ErrorOrigin::kDownstream,
                 "clients must show a certificate here, and this connection has none"});
}

/// Lets the connection end behind the answer, so that the client makes another one, with another handshake.
void AuthenticationGate::endConnection() {
  if (http::ServerCodec* const codec = t_.codec()) codec->announceEnd();
}

// --- credentials ----------------------------------------------------------------------------------------------------

bool AuthenticationGate::admitCredentials() {
  AuthenticationState& state = *t_.authentication;
  if (state.credentials.empty()) {
    tell(t_, IdentitySource::kToken, IdentityResult::kAbsent);
    if (!t_.route.listener->authentication->required) return true;
    return refuse({demand(), base::ErrorOrigin::kDownstream, "the request has no credentials for this gateway"});
  }
  const auto credentials = readBasic(state.credentials);
  if (!credentials) return refuseCredentials("the credentials are malformed");
  if (state.stage == AuthenticationState::Stage::kOwed && !check(*credentials)) return false;
  if (!state.right) return refuseCredentials("the name or the password is wrong");
  tell(t_, IdentitySource::kToken, IdentityResult::kIdentified);
  nameUser(credentials->user.reveal());
  return true;
}

/// Returns false if the result is not known yet, or never will be.
bool AuthenticationGate::check(const BasicCredentials& credentials) {
  const pki::PasswordClaim claim(t_.route.listener->authentication->users, credentials.user.reveal(),
                                 credentials.password.reveal());
  const auto verdict = t_.context.authenticator().judge(claim, t_.client.network, t_.token());
  if (verdict == Authenticator::Verdict::kPending) {
    t_.rearm = true;
    return false;
  }
  if (verdict == Authenticator::Verdict::kNoRoom) {
    t_.context.onLimit(kPasswordLimit);
    return refuse(noRoom().ofLimit(kPasswordLimit));
  }
  onChecked(verdict == Authenticator::Verdict::kRight);
  return true;
}

/// Names the user as the caller, unless a stronger proof has, or was wanting.
void AuthenticationGate::nameUser(std::string_view user) {
  if (t_.caller != nullptr || t_.authentication->nameless || user.empty()) return;
  auto caller = std::make_shared<const base::Caller>(base::Caller{
      .nameSpace = {}, .serviceAccount = {}, .principal = std::string(user), .assurance = base::Assurance::kToken});
  const net::ClientNetwork share = shareOf(caller.get(), t_.client.network);
  t_.identify(caller);
  t_.share = share;
}

bool AuthenticationGate::refuseCredentials(const char* why) {
  tell(t_, IdentitySource::kToken, IdentityResult::kRefused);
  return refuse({demand(), base::ErrorOrigin::kDownstream, why});
}

bool AuthenticationGate::refuse(base::Error error) {
  t_.raise(Event::kRejected, std::move(error));
  return false;
}

base::ErrorType AuthenticationGate::demand() const {
  return t_.client.forwardProxy ? base::ErrorType::kProxyAuthenticationRequired
                                : base::ErrorType::kAuthenticationRequired;
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
  // No challenge asks for a certificate, and credentials do not replace one.
  if (!t.authentication->certificateAdmitted) return;
  const std::string challenge = "Basic realm=\"" + t.route.listener->authentication->realm + "\"";
  if (t.client.forwardProxy) {
    head.headers.add(arena, http::FieldId::kProxyAuthenticate, arena.copy(challenge));
  } else {
    head.headers.add(arena, "www-authenticate", arena.copy(challenge + ", charset=\"UTF-8\""));
  }
}

void nameCaller(const Transaction& t, base::Arena& arena, http::RequestHead& head) {
  const std::string& field = t.route.listener->identityHeader;
  if (field.empty()) return;
  head.headers = head.headers.copy(arena);
  writeCaller(arena, head.headers, field, t.caller.get());
}

}  // namespace sluice::exchange
