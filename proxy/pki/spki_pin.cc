#include "proxy/pki/spki_pin.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <string>

namespace sluice::pki {
namespace {

constexpr std::size_t kEncodedSize = 44;  // of 32 bytes, with one '='

bool isBase64(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

}  // namespace

base::Result<SpkiPin> parseSpkiPin(std::string_view base64) {
  const auto refusal = [base64] {
    // Configuration may hold anything: only what can be printed is quoted.
    std::string shown(base64.substr(0, 64));
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return base::Error::config("'" + shown + "' is not the base64 of a SHA-256 digest");
  };
  const bool shaped =
      base64.size() == kEncodedSize && base64.back() == '=' && std::all_of(base64.begin(), base64.end() - 1, isBase64);
  if (!shaped) return refusal();
  std::array<unsigned char, kEncodedSize / 4 * 3> bytes{};
  const auto* text = reinterpret_cast<const unsigned char*>(base64.data());
  if (EVP_DecodeBlock(bytes.data(), text, static_cast<int>(base64.size())) < 0) return refusal();
  SpkiPin pin;
  std::copy_n(bytes.begin(), pin.size(), pin.begin());
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
