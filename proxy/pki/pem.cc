#include "proxy/pki/pem.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>

#include "proxy/pki/openssl_error.h"

namespace sluice::pki {
namespace {

constexpr unsigned int kReadFlags = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

std::string blockNumber(std::size_t index) { return "block " + std::to_string(index + 1) + ": "; }

// What PEM_read_bio_ex allocates, wiped when it goes.
struct RawBlock {
  char* label = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long size = 0;

  RawBlock() = default;
  RawBlock(const RawBlock&) = delete;
  RawBlock& operator=(const RawBlock&) = delete;
  ~RawBlock() {
    OPENSSL_secure_free(label);
    OPENSSL_secure_free(header);
    OPENSSL_secure_clear_free(data, static_cast<std::size_t>(size));
  }

  PemBlock take() const {
    PemBlock block;
    block.label = label;
    // RFC 1421 says it in a header, PKCS #8 in the label.
    block.encrypted = std::string_view(header).find("ENCRYPTED") != std::string_view::npos ||
                      block.label.find("ENCRYPTED") != std::string::npos;
    block.der = base::Secret(std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size)));
    return block;
  }
};

bool queueSaysEndOfFile() {
  const unsigned long code = ERR_peek_last_error();
  return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}

base::Result<X509Pointer> readCertificate(const PemBlock& block) {
  if (block.label != PEM_STRING_X509 && block.label != PEM_STRING_X509_OLD) {
    return base::Error::config("a " + block.label + ", not a certificate");
  }
  const std::string_view der = block.der.reveal();
  auto position = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = position + der.size();
  X509Pointer certificate(d2i_X509(nullptr, &position, static_cast<long>(der.size())));
  if (certificate == nullptr) return base::Error::config("not a certificate: " + takeOpensslError());
  if (position != end) return base::Error::config("not a certificate: bytes behind its end");
  return certificate;
}

}  // namespace

void X509Free::operator()(x509_st* certificate) const { X509_free(certificate); }

base::Result<std::vector<PemBlock>> readPem(std::string_view pem) {
  if (pem.size() > kMaxPemBytes) return base::Error::config("PEM of more than 4 MiB");
  std::unique_ptr<BIO, BioFree> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<PemBlock> blocks;
  for (;;) {
    RawBlock raw;
    if (PEM_read_bio_ex(bio.get(), &raw.label, &raw.header, &raw.data, &raw.size, kReadFlags) == 1) {
      blocks.push_back(raw.take());
    } else if (queueSaysEndOfFile()) {
      ERR_clear_error();
      return blocks;
    } else {
      return base::Error::config(blockNumber(blocks.size()) + "not PEM: " + takeOpensslError());
    }
  }
}

base::Result<std::vector<X509Pointer>> readCertificates(std::string_view pem) {
  auto blocks = readPem(pem);
  if (!blocks) return std::move(blocks).error();
  std::vector<X509Pointer> certificates;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    auto certificate = readCertificate((*blocks)[i]);
    if (!certificate) return base::Error::config(blockNumber(i) + certificate.error().detail);
    certificates.push_back(std::move(certificate).value());
  }
  if (certificates.empty()) return base::Error::config("no certificate in it");
  return certificates;
}

std::string fingerprintOf(const std::vector<X509Pointer>& certificates) {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (const X509Pointer& certificate : certificates) {
    unsigned char* der = nullptr;
    const int size = i2d_X509(certificate.get(), &der);
    if (size > 0) EVP_DigestUpdate(context.get(), der, static_cast<std::size_t>(size));
    OPENSSL_free(der);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context.get(), digest.data(), &size);
  std::string hex;
  for (unsigned int i = 0; i < size; ++i) {
    hex += "0123456789abcdef"[digest[i] >> 4];
    hex += "0123456789abcdef"[digest[i] & 15];
  }
  return hex;
}

}  // namespace sluice::pki
