#include "proxy/pki/peer_chain.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "proxy/pki/names/alternative_names.h"

namespace sluice::pki {

PeerChain::PeerChain(x509_st* leaf, const stack_st_X509* others) : leaf_(leaf) {
  X509_up_ref(leaf_);
  for (int i = 0; i < sk_X509_num(others) && others_.size() < kMostCertificates; ++i) {
    X509* const each = sk_X509_value(others, i);
    // In the handshake OpenSSL has the peer's own certificate among the others.
    if (each == leaf_) continue;
    X509_up_ref(each);
    others_.push_back(each);
  }
}

PeerChain::~PeerChain() {
  X509_free(leaf_);
  for (x509_st* each : others_) X509_free(each);
}

std::vector<std::string> PeerChain::uris() const {
  std::vector<std::string> names = alternativeNames(leaf_, GEN_URI);
  std::erase_if(names, [](const std::string& name) { return name.find('\0') != std::string::npos; });
  return names;
}

std::vector<std::string> PeerChain::dnsNames() const { return hostNames(leaf_); }

std::string PeerChain::subject() const {
  BIO* const bio = BIO_new(BIO_s_mem());
  if (bio == nullptr) return {};
  std::string text;
  if (X509_NAME_print_ex(bio, X509_get_subject_name(leaf_), 0, XN_FLAG_RFC2253) >= 0) {
    const char* data = nullptr;
    const long size = BIO_ctrl(bio, BIO_CTRL_INFO, 0, static_cast<void*>(&data));
    if (size > 0) text.assign(data, static_cast<std::size_t>(size));
  }
  BIO_free(bio);
  ERR_clear_error();
  return text;
}

}  // namespace sluice::pki
