#include "proxy/pki/certificate.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "proxy/base/text.h"
#include "proxy/pki/asn1_time.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {
namespace {

// A name with a NUL or with other bytes that no host name has is not accepted, even if it begins like one.
bool isHostName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '*';
  });
}

std::vector<std::string> readDnsNames(const X509* certificate) {
  std::vector<std::string> names;
  auto* all = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(all); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(all, i);
    if (entry->type != GEN_DNS) continue;
    std::string name = base::toLower({reinterpret_cast<const char*>(ASN1_STRING_get0_data(entry->d.dNSName)),
                                      static_cast<std::size_t>(ASN1_STRING_length(entry->d.dNSName))});
    if (isHostName(name)) names.push_back(std::move(name));
  }
  GENERAL_NAMES_free(all);
  ERR_clear_error();
  return names;
}

}  // namespace

struct CertificateChain::ParsedChain {
  std::vector<X509Pointer> certificates;
  std::vector<x509_st*> intermediates;
  std::vector<std::string> dnsNames;
  base::WallTime notAfter;
  std::string fingerprint;
};

CertificateChain::CertificateChain(std::unique_ptr<ParsedChain> chain) : chain_(std::move(chain)) {}
CertificateChain::CertificateChain(CertificateChain&&) noexcept = default;
CertificateChain& CertificateChain::operator=(CertificateChain&&) noexcept = default;
CertificateChain::~CertificateChain() = default;

base::Result<CertificateChain> CertificateChain::parse(std::string_view pem) {
  auto certificates = readCertificates(pem);
  if (!certificates) return std::move(certificates).error();
  auto chain = std::make_unique<ParsedChain>();
  chain->certificates = std::move(certificates).value();
  for (std::size_t i = 1; i < chain->certificates.size(); ++i)
    chain->intermediates.push_back(chain->certificates[i].get());
  const X509* leaf = chain->certificates.front().get();
  chain->dnsNames = readDnsNames(leaf);
  chain->notAfter = toWallTime(X509_get0_notAfter(leaf));
  chain->fingerprint = fingerprintOf(chain->certificates);
  return CertificateChain(std::move(chain));
}

x509_st* CertificateChain::leaf() const { return chain_->certificates.front().get(); }
const std::vector<x509_st*>& CertificateChain::intermediates() const { return chain_->intermediates; }
const std::vector<std::string>& CertificateChain::dnsNames() const { return chain_->dnsNames; }
base::WallTime CertificateChain::notAfter() const { return chain_->notAfter; }
const std::string& CertificateChain::fingerprint() const { return chain_->fingerprint; }

bool dnsNameMatches(std::string_view pattern, std::string_view host) {
  if (!pattern.starts_with("*.")) return !pattern.empty() && pattern == host;
  const std::string_view parent = pattern.substr(1);  // ".example.com"
  // A wildcard right below a top-level domain, or a second star, would cover names that no one can own.
  if (parent.find('.', 1) == std::string_view::npos || parent.find('*') != std::string_view::npos) return false;
  const std::size_t dot = host.find('.');
  return dot != std::string_view::npos && dot > 0 && host.substr(dot) == parent;
}

}  // namespace sluice::pki
