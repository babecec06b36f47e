// The certificates that a peer has shown in its TLS handshake, verified or not. A value shared as const.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct stack_st_X509;
struct x509_st;

namespace sluice::pki {

class PeerChain {
 public:
  /// Shares the certificates; `others` may be null. Keeps at most kMostCertificates of them.
  PeerChain(x509_st* leaf, const stack_st_X509* others);
  PeerChain(const PeerChain&) = delete;
  PeerChain& operator=(const PeerChain&) = delete;
  ~PeerChain();

  static constexpr std::size_t kMostCertificates = 16;

  x509_st* leaf() const { return leaf_; }
  /// Returns the certificates that the peer has sent behind its own, in its order.
  const std::vector<x509_st*>& others() const { return others_; }
  /// Returns the names of the leaf's subjectAltName. One with a NUL is left out. DNS names are in lower case, and have
  /// only characters of host names and wildcards.
  std::vector<std::string> uris() const;
  std::vector<std::string> dnsNames() const;
  /// Returns the subject of the leaf in the form of RFC 4514, in printable ASCII: all other characters are escaped.
  /// Empty if it has none.
  std::string subject() const;

 private:
  x509_st* leaf_;
  std::vector<x509_st*> others_;
};

}  // namespace sluice::pki
