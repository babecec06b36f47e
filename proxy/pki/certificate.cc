#include "proxy/pki/certificate.h"

#include <openssl/x509.h>

#include "proxy/pki/asn1_time.h"
#include "proxy/pki/names/alternative_names.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {

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
  chain->dnsNames = hostNames(leaf);
  chain->notAfter = toWallTime(X509_get0_notAfter(leaf));
  chain->fingerprint = fingerprintOf(chain->certificates);
  return CertificateChain(std::move(chain));
}

x509_st* CertificateChain::leaf() const { return chain_->certificates.front().get(); }
const std::vector<x509_st*>& CertificateChain::intermediates() const { return chain_->intermediates; }
const std::vector<std::string>& CertificateChain::dnsNames() const { return chain_->dnsNames; }
base::WallTime CertificateChain::notAfter() const { return chain_->notAfter; }
const std::string& CertificateChain::fingerprint() const { return chain_->fingerprint; }

}  // namespace sluice::pki
