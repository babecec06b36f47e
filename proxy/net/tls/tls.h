// TLS over libuv's TCP: OpenSSL with a BIO of our own, so that ciphertext is read straight out of the worker's shared
// buffer and all records of a turn leave by one try-write.
//
// Contexts hold the configuration and, on the client's side, the sessions to resume; one per worker and Backend, never
// shared between different configurations (a session must not be resumed under another policy).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/transport.h"
#include "proxy/net/worker.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/trust_store.h"

namespace sluice::net {

/// TLS towards a backend. Everything in here makes two connections different.
struct TlsClientSettings {
  /// SNI (RFC 6066) and the name that the certificate must carry as a DNS SAN; an IP literal is sent as no SNI and
  /// matched as IP SAN.
  std::string serverName;
  /// If not empty: one of these must match instead of serverName (Gateway API subjectAltNames, DNS or URI).
  std::vector<std::string> subjectAltNames;
  std::shared_ptr<const pki::TrustStore> trust;
  /// Both or neither.
  std::shared_ptr<const pki::CertificateChain> clientCertificate;
  std::shared_ptr<const pki::PrivateKey> clientKey;
  bool insecureSkipVerify = false;
  /// If not empty: some certificate of the verified chain has one of these keys (base64 of the SHA-256 of its
  /// SubjectPublicKeyInfo). Not together with insecureSkipVerify.
  std::vector<std::string> spkiPins;
  /// "1.2" or "1.3".
  std::string minVersion = "1.2";
  /// If not empty: these only, in order of preference, by the names of OpenSSL or IANA, those of TLS 1.3 and of TLS 1.2
  /// side by side; what is not known is left out. A version that none of them belongs to is not spoken.
  std::vector<std::string> cipherSuites;
  /// In order of preference: "h2", "http/1.1".
  std::vector<std::string> alpn;
};

class TlsClientContext {
 public:
  /// Errors are config's: a pin or version that is none, suites of which none is known or none
  /// belongs to minVersion or later, too. TLS 1.2 or later,
  /// verification on, no renegotiation, no compression.
  static base::Result<std::unique_ptr<TlsClientContext>> make(const TlsClientSettings& settings);
  ~TlsClientContext();
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  explicit TlsClientContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// One certificate of a listener, chosen by SNI.
struct TlsServerIdentity {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

struct TlsServerSettings {
  /// At least one. By SNI the first whose names match, else the first of all.
  std::vector<TlsServerIdentity> identities;
  std::vector<std::string> alpn;
};

/// Immutable, so that workers share one; what uses it keeps it alive.
class TlsServerContext {
 public:
  static base::Result<std::shared_ptr<const TlsServerContext>> make(const TlsServerSettings& settings);
  ~TlsServerContext();
  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit TlsServerContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Failures by code: tls_certificate_error for what the verification refused (the detail says which rule: expired, name
/// mismatch, untrusted issuer, self-signed ...) and for a client certificate that the backend demands or refuses
/// (alerts certificate_required, bad_certificate ...), tls_protocol_error for the rest. The context outlives the
/// transport.
std::unique_ptr<Transport> connectTls(Worker& worker, const Address& to, TlsClientContext& context,
                                      TransportSink& sink);
std::unique_ptr<Transport> adoptTls(Worker& worker, int fd, const Address& peer, const TlsServerContext& context,
                                    TransportSink& sink);

}  // namespace sluice::net
