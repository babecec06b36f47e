#include "proxy/net/tls/tls_verify.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/net/address.h"
#include "proxy/pki/names/alternative_names.h"
#include "proxy/pki/names/dns_name.h"

namespace sluice::net {
namespace {

constexpr unsigned int kNameFlags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;

// Matches Gateway API's subjectAltNames of type URI byte for byte, including NUL.
bool carriesUri(X509* certificate, const std::string& uri) {
  const std::vector<std::string> uris = pki::alternativeNames(certificate, GEN_URI);
  return std::find(uris.begin(), uris.end(), uri) != uris.end();
}

// X509_check_host() lets a wildcard match only letters, digits and hyphens.
bool carriesWildcardOf(X509* certificate, std::string_view host) {
  if (host.find('_') == std::string_view::npos) return false;
  const std::vector<std::string> names = pki::hostNames(certificate);
  return std::any_of(names.begin(), names.end(), [lower = base::toLower(host)](const std::string& name) {
    return pki::wildcardMatchesUnderscore(name, lower);
  });
}

bool hasPin(X509_STORE_CTX* store, const std::vector<pki::SpkiPin>& pins) {
  if (pins.empty()) return true;
  const STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(store);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    if (std::find(pins.begin(), pins.end(), pki::spkiPinOf(sk_X509_value(chain, i))) != pins.end()) return true;
  }
  return false;
}

/// The number of names on each side that a text shows, and the bytes of one.
constexpr std::size_t kMostShown = 3;
constexpr std::size_t kMostShownBytes = 100;

/// Returns the first of the names in printable ASCII, and how many more there are.
std::string shown(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMostShown; ++i) {
    if (i > 0) text += ", ";
    for (const char c : std::string_view(names[i]).substr(0, kMostShownBytes)) text += c > 0x20 && c < 0x7F ? c : '?';
  }
  if (names.size() > kMostShown) text += " and " + std::to_string(names.size() - kMostShown) + " more";
  return text;
}

/// Returns the text of an address of 4 or 16 bytes; "?" if it is none.
std::string ipText(const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() != sizeof(in_addr) && bytes.size() != sizeof(in6_addr)) return "?";
  const int family = bytes.size() == sizeof(in_addr) ? AF_INET : AF_INET6;
  const char* const written = ::inet_ntop(family, bytes.data(), text.data(), text.size());
  return written != nullptr ? written : "?";
}

/// Returns all names in the certificate that a peer may be verified by.
std::vector<std::string> verifiableNames(X509* certificate) {
  std::vector<std::string> names = pki::alternativeNames(certificate, GEN_DNS);
  for (const std::string& bytes : pki::alternativeNames(certificate, GEN_IPADD)) names.push_back(ipText(bytes));
  for (std::string& uri : pki::alternativeNames(certificate, GEN_URI)) names.push_back(std::move(uri));
  return names;
}

int mismatchIndex() {
  static const int kIndex = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return kIndex;
}

}  // namespace

bool isIpLiteral(std::string_view text) { return Address::parse(text, 0).has_value(); }

base::Result<PeerNames> PeerNames::make(std::vector<std::string> names) {
  PeerNames result;
  for (std::string& name : names) {
    // A leading dot would mean "any name below" to OpenSSL.
    if (name.empty() || name.front() == '.' || name.find('\0') != std::string::npos) {
      return base::Error::config("a name to verify the peer by is empty or no name");
    }
    const auto kind = isIpLiteral(name)                     ? PeerName::Kind::kIp
                      : name.find(':') != std::string::npos ? PeerName::Kind::kUri
                                                            : PeerName::Kind::kDns;
    result.names_.push_back({kind, std::move(name)});
  }
  if (result.names_.empty()) return base::Error::config("no name to verify the peer by");
  return result;
}

bool PeerNames::carries(X509* certificate, const PeerName& name) {
  switch (name.kind) {
    case PeerName::Kind::kDns:
      return X509_check_host(certificate, name.text.data(), name.text.size(), kNameFlags, nullptr) == 1 ||
             carriesWildcardOf(certificate, name.text);
    case PeerName::Kind::kIp:
      return X509_check_ip_asc(certificate, name.text.c_str(), kNameFlags) == 1;
    case PeerName::Kind::kUri:
      return carriesUri(certificate, name.text);
  }
  return false;
}

int PeerNames::check(X509* certificate) const {
  const auto matches = [certificate](const PeerName& name) { return carries(certificate, name); };
  if (std::any_of(names_.begin(), names_.end(), matches)) return X509_V_OK;
  return names_.front().kind == PeerName::Kind::kIp ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH;
}

std::string PeerNames::mismatchOf(X509* certificate) const {
  std::vector<std::string> expected;
  for (const PeerName& name : names_) expected.push_back(name.text);
  const std::vector<std::string> found = verifiableNames(certificate);
  return "expected " + shown(expected) + ", but the certificate " +
         (found.empty() ? std::string("has no name that counts") : "is for " + shown(found));
}

void tellMismatch(SSL* ssl, std::string& text) { SSL_set_ex_data(ssl, mismatchIndex(), &text); }

int verifyPeer(X509_STORE_CTX* store, void* rules) {
  if (X509_verify_cert(store) != 1) return 0;
  const auto& wanted = *static_cast<const PeerRules*>(rules);
  X509* const certificate = X509_STORE_CTX_get0_cert(store);
  int verdict = wanted.names.check(certificate);
  if (verdict != X509_V_OK) {
    const auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
    auto* told = static_cast<std::string*>(SSL_get_ex_data(ssl, mismatchIndex()));
    if (told != nullptr) *told = wanted.names.mismatchOf(certificate);
  }
  if (verdict == X509_V_OK && !hasPin(store, wanted.pins)) verdict = kPinMismatch;
  if (verdict == X509_V_OK) return 1;
  X509_STORE_CTX_set_error(store, verdict);
  return 0;
}

int acceptAnyPeer(X509_STORE_CTX* /*store*/, void* /*unused*/) { return 1; }

}  // namespace sluice::net
