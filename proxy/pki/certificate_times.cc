#include "proxy/pki/certificate_times.h"

#include <openssl/x509.h>

#include <utility>

#include "proxy/pki/asn1_time.h"
#include "proxy/pki/pem.h"

namespace sluice::pki {

base::Result<std::vector<Validity>> certificateTimes(std::string_view pem) {
  const auto certificates = readCertificates(pem);
  if (!certificates) return certificates.error();
  std::vector<Validity> times;
  for (const X509Pointer& each : *certificates) {
    times.push_back({toWallTime(X509_get0_notBefore(each.get())), toWallTime(X509_get0_notAfter(each.get()))});
  }
  return times;
}

}  // namespace sluice::pki
