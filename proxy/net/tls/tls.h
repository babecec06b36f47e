// TLS over libuv's TCP: OpenSSL with a custom BIO, so that ciphertext is read straight out of the worker's shared
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
#include "proxy/pki/client_rules.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/trust_store.h"

namespace sluice::net {

/// TLS towards a backend. Connections may be shared only if all of these settings are equal.
struct TlsClientSettings {
  /// SNI (RFC 6066) and the name that the certificate must carry as a DNS SAN. An IP literal is not sent as SNI and is
  /// matched as an IP SAN.
  std::string serverName;
  /// If not empty, one of these must match instead of serverName (Gateway API subjectAltNames, DNS or URI).
  std::vector<std::string> subjectAltNames;
  std::shared_ptr<const pki::TrustStore> trust;
  /// Either both or neither is set.
  std::shared_ptr<const pki::CertificateChain> clientCertificate;
  std::shared_ptr<const pki::PrivateKey> clientKey;
  bool insecureSkipVerify = false;
  /// If not empty, some certificate of the verified chain must have one of these keys (base64 of the SHA-256 of its
  /// SubjectPublicKeyInfo). Not together with insecureSkipVerify.
  std::vector<std::string> spkiPins;
  /// "1.2" or "1.3".
  std::string minVersion = "1.2";
  /// If not empty, only these are used, in order of preference, by the names of OpenSSL or IANA, with TLS 1.3 and TLS
  /// 1.2 side by side; unknown names are left out. A version without any of them is disabled.
  std::vector<std::string> cipherSuites;
  /// In order of preference: "h2", "http/1.1".
  std::vector<std::string> alpn;
};

class TlsClientContext {
 public:
  /// Uses TLS 1.2 or later, with verification, without renegotiation or compression. Errors have config's origin: an
  /// invalid pin or version, suites of which none is known, or none that belongs to minVersion or later.
  static base::Result<std::unique_ptr<TlsClientContext>> make(const TlsClientSettings& settings);
  ~TlsClientContext();
  /// Drops all sessions, so that the next connections have full handshakes.
  void forgetSessions();
  struct ClientState;
  ClientState& state() { return *state_; }

 private:
  explicit TlsClientContext(std::unique_ptr<ClientState> state);
  std::unique_ptr<ClientState> state_;
};

/// The certificate that a listener wants of its clients. Connections with it are never resumed, so that each begins
/// with a verification.
struct TlsClientDemand {
  std::shared_ptr<const pki::ClientRules> rules;  // never null
  bool required = true;                           // false: a client may have none
  bool refuses = true;                            // false: any certificate, or none, completes the handshake
};

/// One certificate of a listener, chosen by SNI.
struct TlsServerIdentity {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
  /// Null: clients are not asked for a certificate.
  std::shared_ptr<const TlsClientDemand> clients = nullptr;
};

struct TlsServerSettings {
  /// At least one. The first identity whose names match the SNI is used, or else the first of all.
  std::vector<TlsServerIdentity> identities;
  std::vector<std::string> alpn;
};

/// Immutable, so that workers share one; its users keep it alive.
class TlsServerContext {
 public:
  static base::Result<std::shared_ptr<const TlsServerContext>> make(const TlsServerSettings& settings);
  ~TlsServerContext();
  struct ServerState;
  const ServerState& state() const { return *state_; }

 private:
  explicit TlsServerContext(std::unique_ptr<ServerState> state);
  std::unique_ptr<ServerState> state_;
};

/// Connects and verifies the backend. Failures by code: tls_certificate_error if verification refused the certificate
/// (the detail names the rule: expired, name mismatch, untrusted issuer, self-signed ...) or if the backend demands or
/// refuses a client certificate (alerts certificate_required, bad_certificate ...), tls_protocol_error otherwise. The
/// context outlives the transport.
std::unique_ptr<Transport> connectTls(Worker& worker, const Address& to, TlsClientContext& context,
                                      TransportSink& sink);
/// Accepts a connection, and verifies its client if the identity that it asks for has a demand. Failures are
/// tls_certificate_error if the client has shown no certificate or one that breaks the rules (the detail names the
/// rule), or if it refuses ours, tls_protocol_error otherwise.
std::unique_ptr<Transport> adoptTls(Worker& worker, int fd, const Address& peer, const TlsServerContext& context,
                                    TransportSink& sink);

}  // namespace sluice::net
