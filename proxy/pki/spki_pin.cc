#include "proxy/pki/spki_pin.h"

#include <openssl/crypto.h>
#include <openssl/x509.h>

#include <algorithm>
#include <optional>
#include <string>

#include "proxy/base/base64.h"

namespace sluice::pki {
namespace {

constexpr std::size_t kEncodedSize = 44;  // of 32 bytes, without room for a line break

}  // namespace

base::Result<SpkiPin> parseSpkiPin(std::string_view base64) {
  const auto refusal = [base64] {
    // Configuration may hold any bytes: only printable ones are quoted.
    std::string shown(base64.substr(0, 64));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return base::Error::config("'" + shown + "' is not the base64 of a SHA-256 digest");
  };
  const std::optional<std::string> bytes = base::decodeBase64(base64);
  SpkiPin pin;
  if (base64.size() != kEncodedSize || !bytes || bytes->size() != pin.size()) return refusal();
  std::copy_n(bytes->begin(), pin.size(), pin.begin());
  return pin;
}

SpkiPin spkiPinOf(const x509_st* certificate) {
  unsigned char* der = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
  SpkiPin pin{};
  if (size > 0) pin = sha256({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
  OPENSSL_free(der);
  return pin;
}

}  // namespace sluice::pki
