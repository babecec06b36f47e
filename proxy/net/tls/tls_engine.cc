#include "proxy/net/tls/tls_engine.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/net/tls/tls_client_demand.h"
#include "proxy/pki/asn1_time.h"

namespace sluice::net {
namespace {

/// Returns true if the call that has just failed refuses the peer's certificate, or the lack of one.
bool refusesPeer() {
  const unsigned long code = ERR_peek_last_error();
  const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
  return reason == SSL_R_CERTIFICATE_VERIFY_FAILED || reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE;
}

}  // namespace

TlsEngine::TlsEngine(TlsClientContext::ClientState& context, base::WallTime now)
    : ssl_(SSL_new(context.context.get())), peer_(TlsPeer::kBackend) {
  attach(context.bioMethod);
  // This is SSL_set_tlsext_host_name(), which is a macro with a C cast; OpenSSL copies the name.
  if (!context.sni.empty()) SSL_ctrl(ssl_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, context.sni.data());
  if (!context.hasCertificate) SSL_set_cert_cb(ssl_, noteDemand, this);
  const TlsTicket ticket = context.tickets.take(now);
  notes_.resumed = ticket.validity;
  SSL_set_app_data(ssl_, &notes_);
  tellMismatch(ssl_, mismatch_);
  if (ticket.session != nullptr) SSL_set_session(ssl_, ticket.session.get());
  SSL_set_connect_state(ssl_);
}

TlsEngine::TlsEngine(const TlsServerContext::ServerState& context, const base::Clock& clock)
    : ssl_(SSL_new(context.certificates.front().context.get())), peer_(TlsPeer::kClient) {
  attach(context.bioMethod);
  if (context.hasDemand) useClock(ssl_, clock);
  SSL_set_accept_state(ssl_);
}

TlsEngine::~TlsEngine() {
  // Without this, OpenSSL forgets the session of a connection that ends without close_notify, stored tickets included.
  if (!failed_) SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
  SSL_free(ssl_);
}

void TlsEngine::attach(const BioMethod& method) {
  BIO* bio = makeWireBio(method, wire_);
  SSL_set_bio(ssl_, bio, bio);
}

// Called when the server asks for a client certificate.
int TlsEngine::noteDemand(SSL* /*ssl*/, void* engine) {
  static_cast<TlsEngine*>(engine)->certificateMissing_ = true;
  return 1;
}

TlsEngine::Step TlsEngine::classify(int result) {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Step::kNeedsInput;
    case SSL_ERROR_WANT_WRITE:
      return Step::kNeedsOutput;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kClosed;
    default:
      failed_ = true;
      refusedPeer_ = refusesPeer();
      error_ = takeTlsError(ssl_, peer_, certificateMissing_);
      if (!mismatch_.empty()) error_.note = std::move(mismatch_);
      return Step::kFailed;
  }
}

TlsEngine::Step TlsEngine::handshake() {
  const int result = SSL_do_handshake(ssl_);
  if (result != 1) return classify(result);
  // Verification and decoders may have queued errors of attempts that failed.
  ERR_clear_error();
  // From now on each record is taken with one call instead of two. Not earlier, when OpenSSL also accepts other
  // headers.
  wire_.startRecords();
  SSL_set_read_ahead(ssl_, 1);
  return Step::kDone;
}

TlsEngine::Step TlsEngine::decrypt(std::span<char> into, std::size_t& count) {
  count = 0;
  while (count < into.size()) {
    std::size_t size = 0;
    const int result = SSL_read_ex(ssl_, into.data() + count, into.size() - count, &size);
    if (result != 1) return classify(result);
    count += size;
    notes_.refusedRenegotiation = false;
    // This saves a call that would only report that it needs more input.
    if (wire_.input.empty() && SSL_pending(ssl_) == 0) return Step::kNeedsInput;
  }
  return Step::kDone;
}

TlsEngine::Step TlsEngine::encrypt(std::string_view plain, std::size_t& count) {
  count = 0;
  const int result =
      SSL_write_ex(ssl_, plain.data(), std::min<std::size_t>(plain.size(), SSL3_RT_MAX_PLAIN_LENGTH), &count);
  return result == 1 ? Step::kDone : classify(result);
}

// OpenSSL before 3.0.14 frees a buffer that is in use if a record was read in part (CVE-2024-4741).
bool TlsEngine::releaseBuffers() {
  return wire_.betweenRecords() && SSL_pending(ssl_) == 0 && SSL_free_buffers(ssl_) == 1;
}

void TlsEngine::close() {
  if (SSL_shutdown(ssl_) < 0) ERR_clear_error();
}

TlsFacts TlsEngine::facts() const {
  TlsFacts facts;
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_, &protocol, &size);
  if (size > 0) facts.alpn.assign(reinterpret_cast<const char*>(protocol), size);
  if (const char* name = SSL_get_servername(ssl_, TLSEXT_NAMETYPE_host_name);
      name != nullptr && peer_ == TlsPeer::kClient) {
    facts.sni = base::toLower(name);
  }
  const X509* const certificate = peer_ == TlsPeer::kBackend ? SSL_get0_peer_certificate(ssl_) : nullptr;
  if (certificate != nullptr) facts.peerEnds = pki::toWallTime(X509_get0_notAfter(certificate));
  facts.resumed = SSL_session_reused(ssl_) == 1;
  facts.version = SSL_get_version(ssl_);
  facts.version.remove_prefix(std::min(facts.version.find_first_of("0123456789"), facts.version.size()));
  return facts;
}

std::string TlsEngine::certificateDigest() const {
  const X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr) return {};
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) {
    ERR_clear_error();
    return {};
  }
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::shared_ptr<const pki::PeerChain> TlsEngine::clientChain() const {
  X509* const certificate = SSL_get0_peer_certificate(ssl_);
  if (certificate == nullptr || peer_ != TlsPeer::kClient) return nullptr;
  return std::make_shared<const pki::PeerChain>(certificate, SSL_get_peer_cert_chain(ssl_));
}

}  // namespace sluice::net
