// The identity that a backend must prove: the names that its certificate must carry (RFC 9525), never its common name,
// and the public keys one of which its chain must have.
//
// The checks run inside the handshake, right behind that of the chain, so that a client certificate is never sent to an
// unverified peer.
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/pki/spki_pin.h"

namespace sluice::net {

/// Returns true if the text is an IP literal, and so is neither sent as SNI (RFC 6066 section 3) nor matched by a
/// wildcard.
bool isIpLiteral(std::string_view text);

class PeerNames {
 public:
  /// One of `names` must be in the subjectAltName: a DNS name, an IP literal or, with a colon that is no IP's, a URI.
  /// Fails with an error of config's origin if there is no name at all, or one that no certificate could carry.
  static base::Result<PeerNames> make(std::vector<std::string> names);

  /// Returns X509_V_OK, or which kind of name does not match: X509_V_ERR_HOSTNAME_MISMATCH,
  /// X509_V_ERR_IP_ADDRESS_MISMATCH.
  int check(X509* certificate) const;
  /// Returns which names were expected, and which the certificate has, at most three of each: "expected api.test, but
  /// the certificate is for other.test". For logs: the names are text of the peer, in printable ASCII.
  std::string mismatchOf(X509* certificate) const;

 private:
  struct PeerName {
    enum class Kind { kDns, kIp, kUri };
    Kind kind;
    std::string text;
  };
  static bool carries(X509* certificate, const PeerName& name);

  std::vector<PeerName> names_;
};

/// The checks of a peer whose chain is good.
struct PeerRules {
  PeerNames names;
  /// If there are any, one certificate of the verified chain, its authority included, must have one of these keys.
  std::vector<pki::SpkiPin> pins;
};

/// The handshake's verify result when no pin matches; OpenSSL's own checks never return it.
inline constexpr int kPinMismatch = X509_V_ERR_APPLICATION_VERIFICATION;

/// Has verifyPeer() write PeerNames::mismatchOf() there if the connection's peer has none of its names. The text
/// outlives the handshake.
void tellMismatch(SSL* ssl, std::string& text);

/// A callback for SSL_CTX_set_cert_verify_callback: applies OpenSSL's rules to the chain, then `rules`, a const
/// PeerRules*.
int verifyPeer(X509_STORE_CTX* store, void* rules);
/// A callback for SSL_CTX_set_cert_verify_callback that accepts any peer (insecureSkipVerify).
int acceptAnyPeer(X509_STORE_CTX* store, void* unused);

}  // namespace sluice::net
