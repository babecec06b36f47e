// The address of a Kubernetes API server, and the credentials by which this process authenticates to it.
//
// An ApiAccess is a plain value, made of files that others replace while the process runs: projected tokens,
// certificates that are renewed. Its reader is called again about once a minute, and whenever the server refuses the
// credentials; the new value is then compared with the old one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "proxy/base/secret.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"
#include "proxy/pki/trust_store.h"

namespace sluice::kubernetes {

/// The address of an API server and the credentials for it.
struct ApiAccess {
  /// A name in lower case, or an IP address without brackets.
  std::string host;
  std::uint16_t port = 443;
  /// The path of the server's URL, without a slash at its end: "" or "/k8s/clusters/c-1".
  std::string pathPrefix;
  /// If false, `host` is this machine, and there are no credentials.
  bool tls = true;
  /// The name, or IP address, that the server's certificate must have; a name is sent as SNI too.
  std::string serverName;
  /// The authorities of the server's certificate; the system's if it is null.
  std::shared_ptr<const pki::TrustStore> trust;
  /// The server's certificate is not verified at all; `trust` is null.
  bool insecureSkipVerify = false;
  /// Either both are set, and belong together, or neither is.
  std::shared_ptr<const pki::CertificateChain> clientCertificate;
  std::shared_ptr<const pki::PrivateKey> clientKey;
  /// Visible ASCII characters; empty if there is none.
  base::Secret token;
  /// The namespace of the kubeconfig's context, or of the service account; "default" if none is named.
  std::string nameSpace;
  /// SHA-256 in hex over the address of the server and everything that affects a TLS handshake. If it changes,
  /// connections must be replaced; it does not change for a token or a namespace alone. It reveals nothing about keys.
  std::string fingerprint;
};

/// Returns the fingerprint of the other members.
std::string fingerprintOfAccess(const ApiAccess& access);

}  // namespace sluice::kubernetes
