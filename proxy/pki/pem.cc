#include "proxy/pki/pem.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "proxy/pki/digest.h"
#include "proxy/pki/openssl_error.h"

namespace sluice::pki {
namespace {

constexpr unsigned int kReadFlags = PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE;

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

std::string blockNumber(std::size_t index) { return "block " + std::to_string(index + 1) + ": "; }

// Memory that PEM_read_bio_ex allocates; wiped when it is freed.
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
    // RFC 1421 marks encryption in a header, PKCS #8 in the label.
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

template <typename Pointer, typename Decode>
base::Result<Pointer> decode(const PemBlock& block, Decode d2i, const std::string& what) {
  const std::string_view der = block.der.reveal();
  auto position = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = position + der.size();
  Pointer value(d2i(nullptr, &position, static_cast<long>(der.size())));
  if (value == nullptr) return base::Error::config("not a " + what + ": " + takeOpensslError());
  if (position != end) return base::Error::config("not a " + what + ": bytes behind its end");
  return value;
}

base::Result<X509Pointer> readCertificate(const PemBlock& block) {
  if (block.label != PEM_STRING_X509 && block.label != PEM_STRING_X509_OLD) {
    return base::Error::config("a " + block.label + ", not a certificate");
  }
  return decode<X509Pointer>(block, d2i_X509, "certificate");
}

base::Result<CrlPointer> readRevocationList(const PemBlock& block) {
  if (block.label != PEM_STRING_X509_CRL) {
    return base::Error::config("a " + block.label + ", not a certificate revocation list");
  }
  return decode<CrlPointer>(block, d2i_X509_CRL, "certificate revocation list");
}

template <typename Pointer, typename Read>
base::Result<std::vector<Pointer>> readAll(std::string_view pem, Read read, const std::string& what) {
  auto blocks = readPem(pem);
  if (!blocks) return std::move(blocks).error();
  std::vector<Pointer> all;
  for (std::size_t i = 0; i < blocks->size(); ++i) {
    auto one = read((*blocks)[i]);
    if (!one) return base::Error::config(blockNumber(i) + one.error().detail);
    all.push_back(std::move(one).value());
  }
  if (all.empty()) return base::Error::config("no " + what + " in it");
  return all;
}

}  // namespace

void X509Free::operator()(x509_st* certificate) const { X509_free(certificate); }
void CrlFree::operator()(X509_crl_st* list) const { X509_CRL_free(list); }

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
  return readAll<X509Pointer>(pem, readCertificate, "certificate");
}

base::Result<std::vector<CrlPointer>> readRevocationLists(std::string_view pem) {
  return readAll<CrlPointer>(pem, readRevocationList, "certificate revocation list");
}

std::string fingerprintOf(const std::vector<X509Pointer>& certificates, const std::vector<CrlPointer>& lists) {
  Sha256 digest;
  const auto add = [&digest](auto encode, auto* value) {
    unsigned char* der = nullptr;
    const int size = encode(value, &der);
    if (size > 0) digest.add({reinterpret_cast<const char*>(der), static_cast<std::size_t>(size)});
    OPENSSL_free(der);
  };
  for (const X509Pointer& certificate : certificates) add(i2d_X509, certificate.get());
  for (const CrlPointer& list : lists) add(i2d_X509_CRL, list.get());
  return toHex(digest.finish());
}

}  // namespace sluice::pki
