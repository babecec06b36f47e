// The certificate and the private key of a Secret, parsed. The value is shared and never changes.
#pragma once

#include <memory>

#include "proxy/base/result.h"
#include "proxy/base/secret.h"
#include "proxy/pki/certificate.h"
#include "proxy/pki/private_key.h"

namespace sluice::config {

struct KeyPair {
  std::shared_ptr<const pki::CertificateChain> certificate;
  std::shared_ptr<const pki::PrivateKey> key;
};

/// Parses the values of tls.crt and tls.key, which are null if a Secret has no such key, and checks that they belong
/// together. Errors name the key of the Secret and never quote its value.
base::Result<KeyPair> parseKeyPair(const base::Secret* certificateText, const base::Secret* keyText);

}  // namespace sluice::config
