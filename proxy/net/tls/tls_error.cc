#include "proxy/net/tls/tls_error.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <string>

#include "proxy/net/tls/tls_verify.h"
#include "proxy/pki/client_rules.h"

namespace sluice::net {
namespace {

base::ErrorOrigin originOf(TlsPeer peer) {
  switch (peer) {
    case TlsPeer::kBackend:
      return base::ErrorOrigin::kUpstream;
    case TlsPeer::kClient:
      return base::ErrorOrigin::kDownstream;
  }
  return base::ErrorOrigin::kInternal;
}

// Returns true for the alerts by which a peer refuses a certificate (RFC 8446 section 6.2).
bool isAboutCertificate(int alert) {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
    case TLS13_AD_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

std::string alertWords(int alert) {
  // OpenSSL has no words for this one.
  return alert == TLS13_AD_CERTIFICATE_REQUIRED ? "certificate required" : SSL_alert_desc_string_long(alert);
}

base::Error alertError(int alert, base::ErrorOrigin origin, bool certificateMissing) {
  const std::string words = alertWords(alert);
  // TLS 1.2 has no alert of its own for a missing certificate.
  const bool missing = certificateMissing && (alert == SSL_AD_HANDSHAKE_FAILURE || isAboutCertificate(alert));
  if (missing) {
    return {base::ErrorType::kTlsCertificateError, origin,
            "the peer demands a client certificate (TLS alert: " + words + ")"};
  }
  if (isAboutCertificate(alert)) {
    return {base::ErrorType::kTlsCertificateError, origin,
            "the peer refuses our certificate (TLS alert: " + words + ")"};
  }
  return {base::ErrorType::kTlsProtocolError, origin, "TLS alert from the peer: " + words};
}

// Describes the result of the verification: in OpenSSL's words, unless they do not show what to do.
std::string ruleBroken(long verdict) {
  switch (verdict) {
    case X509_V_ERR_CERT_REVOKED:
      return "it has been revoked";
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "the revocation list has expired";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return "there is no revocation list of its issuer";
    case kPinMismatch:
      return "no certificate of the chain matches a pin";
    default:
      return X509_verify_cert_error_string(verdict);
  }
}

}  // namespace

base::Error takeTlsError(const SSL* ssl, TlsPeer peer, bool certificateMissing) {
  const base::ErrorOrigin origin = originOf(peer);
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const int reason = ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) : 0;
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) {
    return {base::ErrorType::kTlsCertificateError, origin, "the client shows no certificate"};
  }
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && peer == TlsPeer::kClient) {
    return pki::clientRefused(static_cast<int>(SSL_get_verify_result(ssl)));
  }
  if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    return {base::ErrorType::kTlsCertificateError, origin,
            "the peer's certificate is refused: " + ruleBroken(SSL_get_verify_result(ssl))};
  }
  if (reason > SSL_AD_REASON_OFFSET) return alertError(reason - SSL_AD_REASON_OFFSET, origin, certificateMissing);
  const char* words = ERR_reason_error_string(code);
  return {base::ErrorType::kTlsProtocolError, origin,
          std::string("TLS: ") + (words == nullptr ? "unknown error" : words)};
}

base::Error renegotiationRefused() {
  return {base::ErrorType::kTlsProtocolError, base::ErrorOrigin::kUpstream,
          "the backend asks for a renegotiation of TLS, which this gateway refuses"};
}

base::Error endedInHandshake(TlsPeer peer) {
  return {base::ErrorType::kConnectionTerminated, originOf(peer),
          "the peer closed the connection in the TLS handshake"};
}

}  // namespace sluice::net
