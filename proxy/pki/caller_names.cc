#include "proxy/pki/caller_names.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "proxy/base/text.h"
#include "proxy/pki/names/alternative_names.h"
#include "proxy/pki/names/spiffe_id.h"

namespace sluice::pki {
namespace {

constexpr std::size_t kLongestPrincipal = 2048;

bool isAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isAsciiDigit(char c) { return c >= '0' && c <= '9'; }

/// Returns true for a URI with its scheme in visible ASCII (RFC 3986), which no "namespace/name" can be mistaken for.
bool isPrincipalUri(std::string_view text) {
  const std::string_view scheme = text.substr(0, std::min(text.find(':'), text.size()));
  const auto isOfScheme = [](char c) {
    return isAsciiLetter(c) || isAsciiDigit(c) || c == '+' || c == '-' || c == '.';
  };
  return text.size() <= kLongestPrincipal && scheme.size() < text.size() && !scheme.empty() &&
         isAsciiLetter(scheme.front()) && std::all_of(scheme.begin(), scheme.end(), isOfScheme) &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
}

bool isOfSpiffe(std::string_view uri) {
  constexpr std::string_view kScheme = "spiffe:";
  return base::equalsIgnoringCase(uri.substr(0, kScheme.size()), kScheme);
}

/// Returns the SPIFFE ID of a workload: the only URI, in a certificate that is no authority's (the X509-SVID standard,
/// sections 2 and 5.2).
std::optional<SpiffeId> spiffeIdOf(X509* leaf, const std::vector<std::string>& uris) {
  if (uris.size() != 1 || X509_check_ca(leaf) != 0) return std::nullopt;
  return SpiffeId::parse(uris.front());
}

std::string otherPrincipal(const PeerChain& chain, const std::vector<std::string>& uris) {
  const auto isPlainUri = [](const std::string& uri) { return isPrincipalUri(uri) && !isOfSpiffe(uri); };
  const auto uri = std::find_if(uris.begin(), uris.end(), isPlainUri);
  if (uri != uris.end()) return *uri;
  const auto isShort = [](const std::string& name) { return name.size() <= kLongestPrincipal; };
  const std::vector<std::string> hosts = chain.dnsNames();
  const auto host = std::find_if(hosts.begin(), hosts.end(), isShort);
  if (host != hosts.end()) return *host;
  std::string subject = chain.subject();
  return isShort(subject) ? subject : "";
}

}  // namespace

base::Caller callerOf(const PeerChain& chain, const std::vector<std::string>& trustDomains) {
  // A name with a NUL counts here: with it, the certificate has more than one URI.
  const std::vector<std::string> uris = alternativeNames(chain.leaf(), GEN_URI);
  base::Caller caller;
  caller.assurance = base::Assurance::kCertificate;
  const std::optional<SpiffeId> id = spiffeIdOf(chain.leaf(), uris);
  caller.principal = id ? uris.front() : otherPrincipal(chain, uris);
  if (id && std::find(trustDomains.begin(), trustDomains.end(), id->trustDomain) != trustDomains.end()) {
    caller.nameSpace = id->nameSpace;
    caller.serviceAccount = id->serviceAccount;
  }
  return caller;
}

}  // namespace sluice::pki
