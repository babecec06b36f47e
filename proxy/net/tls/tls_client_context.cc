// The client's side of tls.h: verification, SNI, client certificate and sessions to resume.
#include <openssl/err.h>

#include <algorithm>

#include "proxy/net/tls/tls_context.h"
#include "proxy/net/tls/tls_policy.h"
#include "proxy/pki/asn1_time.h"
#include "proxy/pki/openssl_error.h"

namespace sluice::net {
namespace {

/// Returns the time in which the verification of this handshake stays valid. Without a verified chain
/// (insecureSkipVerify), only revocation lists limit it.
pki::Validity validityOf(SSL* ssl, base::WallTime listsExpire) {
  pki::Validity result{.until = listsExpire};
  const STACK_OF(X509)* chain = SSL_get0_verified_chain(ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const X509* certificate = sk_X509_value(chain, i);
    result.from = std::max(result.from, pki::toWallTime(X509_get0_notBefore(certificate)));
    result.until = std::min(result.until, pki::toWallTime(X509_get0_notAfter(certificate)));
  }
  return result;
}

// A resumed connection may get tickets too. They stay valid no longer than the session that it resumed, whose validity
// is stored with the connection.
int storeSession(SSL* ssl, SSL_SESSION* session) {
  auto* state = static_cast<TlsClientContext::ClientState*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
  const auto* notes = static_cast<const TlsClientNotes*>(SSL_get_app_data(ssl));
  const pki::Validity validity = SSL_session_reused(ssl) == 1 ? notes->resumed : validityOf(ssl, state->listsExpire);
  state->tickets.store({SslSession(session), validity});
  return 1;
}

// OpenSSL refuses a renegotiation by a warning, and goes on. Most servers then end the connection by an alert of their
// own, which says nothing about that.
void noteRefusal(const SSL* ssl, int where, int alert) {
  if (where != SSL_CB_WRITE_ALERT || alert != (SSL3_AL_WARNING << 8 | SSL_AD_NO_RENEGOTIATION)) return;
  static_cast<TlsClientNotes*>(SSL_get_app_data(ssl))->refusedRenegotiation = true;
}

base::Result<std::vector<pki::SpkiPin>> parsePins(const std::vector<std::string>& texts) {
  std::vector<pki::SpkiPin> pins;
  for (const std::string& text : texts) {
    auto pin = pki::parseSpkiPin(text);
    if (!pin) return std::move(pin).error();
    pins.push_back(*pin);
  }
  return pins;
}

base::Status setUpVerification(TlsClientContext::ClientState& state, const TlsClientSettings& settings) {
  SSL_CTX* context = state.context.get();
  if (settings.insecureSkipVerify) {
    if (!settings.spkiPins.empty()) return base::Error::config("pins say nothing about a peer that is not verified");
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_cert_verify_callback(context, acceptAnyPeer, nullptr);
    return base::Done{};
  }
  if (settings.trust == nullptr) return base::Error::config("no authorities to verify the peer by");
  auto names =
      PeerNames::make(settings.subjectAltNames.empty() ? std::vector{settings.serverName} : settings.subjectAltNames);
  if (!names) return std::move(names).error();
  auto pins = parsePins(settings.spkiPins);
  if (!pins) return std::move(pins).error();
  state.rules = PeerRules{std::move(names).value(), std::move(pins).value()};
  state.listsExpire = settings.trust->listsExpire();
  SSL_CTX_set1_cert_store(context, settings.trust->get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, verifyPeer, &*state.rules);
  return base::Done{};
}

base::Status setUpCertificate(TlsClientContext::ClientState& state, const TlsClientSettings& settings) {
  if ((settings.clientCertificate == nullptr) != (settings.clientKey == nullptr)) {
    return base::Error::config("a client certificate needs its key, and a key its certificate");
  }
  if (settings.clientCertificate == nullptr) return base::Done{};
  state.hasCertificate = true;
  return useIdentity(state.context.get(), *settings.clientCertificate, *settings.clientKey);
}

base::Status setUpAlpn(SSL_CTX* context, const std::vector<std::string>& names) {
  auto wire = alpnWireFormat(names);
  if (!wire) return std::move(wire).error();
  const auto* bytes = reinterpret_cast<const unsigned char*>(wire->data());
  // This is the one OpenSSL function here that returns 0 for success.
  if (!wire->empty() && SSL_CTX_set_alpn_protos(context, bytes, static_cast<unsigned int>(wire->size())) != 0) {
    return base::Error::config("ALPN: " + pki::takeOpensslError());
  }
  return base::Done{};
}

void setUpSessions(TlsClientContext::ClientState& state) {
  SSL_CTX* context = state.context.get();
  SSL_CTX_set_app_data(context, &state);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, storeSession);
  SSL_CTX_set_info_callback(context, noteRefusal);
}

}  // namespace

TlsClientContext::TlsClientContext(std::unique_ptr<ClientState> state) : state_(std::move(state)) {}
TlsClientContext::~TlsClientContext() = default;

void TlsClientContext::forgetSessions() { state_->tickets = {}; }

base::Result<std::unique_ptr<TlsClientContext>> TlsClientContext::make(const TlsClientSettings& settings) {
  auto context = makeSslContext(TLS_client_method());
  if (!context) return std::move(context).error();
  auto state = std::make_unique<ClientState>();
  state->context = std::move(context).value();
  if (!isIpLiteral(settings.serverName)) state->sni = settings.serverName;
  if (state->sni.size() > TLSEXT_MAXLEN_host_name) return base::Error::config("a server name has at most 255 bytes");
  for (const base::Status& status :
       {setUpVerification(*state, settings), setUpCertificate(*state, settings),
        setUpAlpn(state->context.get(), settings.alpn), restrictVersionsAndCiphers(state->context.get(), settings)}) {
    if (!status) return status.error();
  }
  setUpSessions(*state);
  return std::unique_ptr<TlsClientContext>(new TlsClientContext(std::move(state)));
}

}  // namespace sluice::net
