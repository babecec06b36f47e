#include "config/model/key_pair.h"

#include <utility>

namespace sluice::config {

base::Result<KeyPair> parseKeyPair(const base::Secret* certificateText, const base::Secret* keyText) {
  if (certificateText == nullptr) return base::Error::config("it has no tls.crt");
  if (keyText == nullptr) return base::Error::config("it has no tls.key");
  auto certificate = pki::CertificateChain::parse(certificateText->reveal());
  if (!certificate) return base::Error::config("tls.crt: " + certificate.error().detail);
  auto key = pki::PrivateKey::parse(*keyText);
  if (!key) return base::Error::config("tls.key: " + key.error().detail);
  if (!key->matches(*certificate)) return base::Error::config("tls.key does not belong to tls.crt");
  return KeyPair{std::make_shared<const pki::CertificateChain>(std::move(certificate).value()),
                 std::make_shared<const pki::PrivateKey>(std::move(key).value())};
}

}  // namespace sluice::config
