// The server's side of tls.h: certificates chosen by SNI, ALPN by the gateway's preference. A context is immutable
// once it is made, so that workers share it, and with it the keys of its session tickets, which are good only for the
// name that they were given for.
#include <algorithm>

#include "proxy/base/text.h"
#include "proxy/net/tls/tls_client_demand.h"
#include "proxy/net/tls/tls_client_hello.h"
#include "proxy/net/tls/tls_context.h"
#include "proxy/pki/digest.h"
#include "proxy/pki/names/dns_name.h"
#include "proxy/pki/openssl_error.h"

namespace sluice::net {
namespace {

using ServerState = TlsServerContext::ServerState;

const ServerState::ListenerCertificate& certificateFor(const ServerState& state, std::string_view host) {
  const auto covers = [host](const ServerState::ListenerCertificate& each) {
    const auto& names = each.certificate->dnsNames();
    return std::any_of(names.begin(), names.end(),
                       [host](const auto& name) { return pki::dnsNameMatches(name, host); });
  };
  const auto found = std::find_if(state.certificates.begin(), state.certificates.end(), covers);
  return found == state.certificates.end() ? state.certificates.front() : *found;
}

// Selects the certificate before OpenSSL looks at the client's session, which it accepts if its context is the
// connection's: resuming a session of another name would skip the certificate and the policy of this name. A client
// that is asked for a second hello (RFC 8446 section 4.1.4) may have changed the name, or left it out: that one counts.
int takeServerName(SSL* ssl, int* /*alert*/, void* argument) {
  const std::string name = base::toLower(helloServerName(ssl));
  SSL_CTX* const chosen = certificateFor(*static_cast<const ServerState*>(argument), name).context.get();
  const pki::Sha256Digest scope = pki::sha256(name);
  const bool done = moveTo(ssl, chosen) &&
                    SSL_set_session_id_context(ssl, scope.data(), static_cast<unsigned int>(scope.size())) == 1;
  return done ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_ERROR;
}

// Acknowledges the name, because OpenSSL otherwise forgets it with the session.
int acknowledgeServerName(SSL* ssl, int* /*alert*/, void* /*argument*/) {
  const bool named = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) != nullptr;
  return named ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Refuses a client that offers none of the listener's protocols by no_application_protocol (RFC 7301 section 3.2).
int chooseProtocol(SSL* /*ssl*/, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
                   unsigned int offeredSize, void* argument) {
  const std::string& ours = static_cast<const ServerState*>(argument)->alpn;
  unsigned char* match = nullptr;
  if (SSL_select_next_proto(&match, length, reinterpret_cast<const unsigned char*>(ours.data()),
                            static_cast<unsigned int>(ours.size()), offered, offeredSize) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = match;
  return SSL_TLSEXT_ERR_OK;
}

base::Result<SslContext> makeListenerContext(ServerState& state, const TlsServerIdentity& identity) {
  auto context = makeSslContext(TLS_server_method());
  if (!context) return context;
  SSL_CTX* const raw = context->get();
  if (auto status = useIdentity(raw, *identity.certificate, *identity.key); !status) return status.error();
  if (identity.clients != nullptr) {
    setUpDemand(raw, *identity.clients);
    state.hasDemand = true;
  }
  // Clients keep their sessions themselves, as tickets.
  SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
  // This is SSL_CTX_set_tlsext_servername_callback(), which is a macro with a C cast.
  SSL_CTX_callback_ctrl(raw, SSL_CTRL_SET_TLSEXT_SERVERNAME_CB, reinterpret_cast<void (*)()>(acknowledgeServerName));
  SSL_CTX_set_client_hello_cb(raw, takeServerName, &state);
  if (!state.alpn.empty()) SSL_CTX_set_alpn_select_cb(raw, chooseProtocol, &state);
  return context;
}

}  // namespace

TlsServerContext::TlsServerContext(std::unique_ptr<ServerState> state) : state_(std::move(state)) {}
TlsServerContext::~TlsServerContext() = default;

base::Result<std::shared_ptr<const TlsServerContext>> TlsServerContext::make(const TlsServerSettings& settings) {
  if (settings.identities.empty()) return base::Error::config("a TLS listener needs a certificate");
  auto alpn = alpnWireFormat(settings.alpn);
  if (!alpn) return std::move(alpn).error();
  auto state = std::make_unique<ServerState>();
  state->alpn = std::move(alpn).value();
  for (const TlsServerIdentity& identity : settings.identities) {
    auto context = makeListenerContext(*state, identity);
    if (!context) return std::move(context).error();
    state->certificates.push_back({identity.certificate, identity.clients, std::move(context).value()});
  }
  return std::shared_ptr<const TlsServerContext>(
      std::unique_ptr<const TlsServerContext>(new TlsServerContext(std::move(state))));
}

}  // namespace sluice::net
