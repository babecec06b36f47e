#include "proxy/net/tls/tls_client_demand.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <cstddef>
#include <memory>

#include "proxy/net/tls/tls_verify.h"

namespace sluice::net {
namespace {

/// Each handshake sends the names of all authorities, or none if they have more bytes than this: a client that misses
/// its own in the list may show no certificate at all.
constexpr std::size_t kMostNameBytes = std::size_t{16} * 1024;

struct CertificateStackFree {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_pop_free(stack, X509_free); }
};
struct NameStackFree {
  void operator()(STACK_OF(X509_NAME) * stack) const { sk_X509_NAME_pop_free(stack, X509_NAME_free); }
};
using NameStack = std::unique_ptr<STACK_OF(X509_NAME), NameStackFree>;

/// Returns the names that the issuers of admitted certificates may have; nullptr if they are too long to be sent.
NameStack authorityNames(const pki::TrustStore& trust) {
  const std::unique_ptr<STACK_OF(X509), CertificateStackFree> trusted(X509_STORE_get1_all_certs(trust.get()));
  NameStack names(sk_X509_NAME_new_null());
  std::size_t size = 0;
  for (int i = 0; i < sk_X509_num(trusted.get()); ++i) {
    X509* const each = sk_X509_value(trusted.get(), i);
    // A certificate that is trusted by itself, and is no authority, is chosen by its issuer.
    const bool isAuthority = X509_check_ca(each) != 0;
    X509_NAME* const name = X509_NAME_dup(isAuthority ? X509_get_subject_name(each) : X509_get_issuer_name(each));
    if (sk_X509_NAME_push(names.get(), name) == 0) X509_NAME_free(name);
    std::size_t bytes = 0;
    const unsigned char* der = nullptr;
    if (X509_NAME_get0_der(name, &der, &bytes) == 1) size += bytes;
    if (size > kMostNameBytes) return nullptr;
  }
  return names;
}

// A callback for SSL_CTX_set_cert_verify_callback. OpenSSL has made a context for its own rules; the code that is left
// in it decides the alert.
int judgePeer(X509_STORE_CTX* store, void* demand) {
  const auto* ssl = static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const auto* clock = static_cast<const base::Clock*>(SSL_get_app_data(ssl));
  const pki::PeerChain chain(X509_STORE_CTX_get0_cert(store), X509_STORE_CTX_get0_untrusted(store));
  const int code = static_cast<const TlsClientDemand*>(demand)->rules->check(chain, clock->wallNow());
  X509_STORE_CTX_set_error(store, code);
  return code == X509_V_OK ? 1 : 0;
}

}  // namespace

void setUpDemand(SSL_CTX* context, const TlsClientDemand& demand) {
  const bool insists = demand.required && demand.refuses;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (insists ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  // OpenSSL hands the pointer back as it is, and only judgePeer() reads through it.
  SSL_CTX_set_cert_verify_callback(context, demand.refuses ? judgePeer : acceptAnyPeer,
                                   const_cast<TlsClientDemand*>(&demand));
  if (NameStack names = authorityNames(*demand.rules->trust); names != nullptr) {
    SSL_CTX_set_client_CA_list(context, names.release());
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  ERR_clear_error();
}

// SSL_set_SSL_CTX() replaces the certificate, the list of authorities and the callback of verification. What a
// connection has copied from its first context, it keeps, so it is set here, whichever of the two has a demand.
bool moveTo(SSL* ssl, SSL_CTX* context) {
  if (context == SSL_get_SSL_CTX(ssl)) return true;
  if (SSL_set_SSL_CTX(ssl, context) != context) return false;
  SSL_set_verify(ssl, SSL_CTX_get_verify_mode(context), nullptr);
  SSL_clear_options(ssl, SSL_OP_NO_TICKET);
  SSL_set_options(ssl, SSL_CTX_get_options(context) & SSL_OP_NO_TICKET);
  return SSL_set_num_tickets(ssl, SSL_CTX_get_num_tickets(context)) == 1;
}

void useClock(SSL* ssl, const base::Clock& clock) { SSL_set_app_data(ssl, const_cast<base::Clock*>(&clock)); }

}  // namespace sluice::net
