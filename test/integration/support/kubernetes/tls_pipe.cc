#include "test/integration/support/kubernetes/tls_pipe.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <array>

namespace sluice::test {
namespace {

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};

/// Returns a BIO that reads the text, which must outlive it.
std::unique_ptr<BIO, FreeBio> reading(const std::string& text) {
  return std::unique_ptr<BIO, FreeBio>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

int chooseHttp1(SSL* /*tls*/, const unsigned char** chosen, unsigned char* length, const unsigned char* offered,
                unsigned int offeredLength, void* /*unused*/) {
  static constexpr std::array<unsigned char, 9> kHttp1 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* selected = nullptr;
  const int found = SSL_select_next_proto(&selected, length, kHttp1.data(), kHttp1.size(), offered, offeredLength);
  *chosen = selected;
  return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

void noteAlert(const SSL* tls, int where, int alert) {
  const bool isFatal = (alert >> 8) == SSL3_AL_FATAL;
  if ((where & SSL_CB_READ_ALERT) == SSL_CB_READ_ALERT && isFatal)
    *static_cast<int*>(SSL_get_app_data(tls)) = alert & 0xff;
}

}  // namespace

TlsPipeContext::TlsPipeContext(bool isServer)
    : isServer_(isServer), context_(SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method())) {
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

TlsPipeContext TlsPipeContext::server(const CertifiedKey& identity) {
  TlsPipeContext context(true);
  context.identify(identity);
  SSL_CTX_set_alpn_select_cb(context.context_.get(), chooseHttp1, nullptr);
  return context;
}

TlsPipeContext TlsPipeContext::client(const std::string& authority, const std::optional<CertifiedKey>& identity,
                                      const std::string& protocol) {
  TlsPipeContext context(false);
  if (identity) context.identify(*identity);
  if (!protocol.empty()) {
    const std::string offer = static_cast<char>(protocol.size()) + protocol;
    EXPECT_EQ(SSL_CTX_set_alpn_protos(context.context_.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                                      static_cast<unsigned int>(offer.size())),
              0);
  }
  const auto bio = reading(authority);
  X509* trusted = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr);
  EXPECT_EQ(X509_STORE_add_cert(SSL_CTX_get_cert_store(context.context_.get()), trusted), 1);
  X509_free(trusted);
  SSL_CTX_set_verify(context.context_.get(), SSL_VERIFY_PEER, nullptr);
  return context;
}

void TlsPipeContext::identify(const CertifiedKey& identity) {
  const auto certificateBio = reading(identity.certificate);
  X509* certificate = PEM_read_bio_X509(certificateBio.get(), nullptr, nullptr, nullptr);
  EXPECT_EQ(SSL_CTX_use_certificate(context_.get(), certificate), 1);
  X509_free(certificate);
  const auto keyBio = reading(identity.key);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(keyBio.get(), nullptr, nullptr, nullptr);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context_.get(), key), 1);
  EVP_PKEY_free(key);
}

TlsPipe::TlsPipe(const TlsPipeContext& context) : tls_(SSL_new(context.context_.get())) {
  SSL_set_app_data(tls_.get(), alert_.get());
  SSL_set_info_callback(tls_.get(), noteAlert);
  SSL_set_bio(tls_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
  if (context.isServer_) {
    SSL_set_accept_state(tls_.get());
  } else {
    SSL_set_connect_state(tls_.get());
    SSL_do_handshake(tls_.get());
  }
}

bool TlsPipe::receive(std::string_view bytes, std::string& plaintext) {
  BIO_write(SSL_get_rbio(tls_.get()), bytes.data(), static_cast<int>(bytes.size()));
  ERR_clear_error();
  std::array<char, 16384> buffer{};
  int count = 0;
  while ((count = SSL_read(tls_.get(), buffer.data(), buffer.size())) > 0) {
    plaintext.append(buffer.data(), static_cast<std::size_t>(count));
  }
  const bool open = SSL_get_error(tls_.get(), count) == SSL_ERROR_WANT_READ;
  encrypt();
  return open;
}

void TlsPipe::send(std::string_view plaintext) {
  waiting_ += plaintext;
  encrypt();
}

void TlsPipe::encrypt() {
  if (waiting_.empty() || !SSL_is_init_finished(tls_.get())) return;
  std::size_t done = 0;
  while (done < waiting_.size()) {
    ERR_clear_error();
    const int count = SSL_write(tls_.get(), waiting_.data() + done, static_cast<int>(waiting_.size() - done));
    if (count <= 0) break;
    done += static_cast<std::size_t>(count);
  }
  waiting_.erase(0, done);
}

void TlsPipe::finish() {
  ERR_clear_error();
  SSL_shutdown(tls_.get());
}

std::string TlsPipe::takeOutput() {
  BIO* output = SSL_get_wbio(tls_.get());
  std::string bytes(BIO_ctrl_pending(output), '\0');
  if (!bytes.empty()) BIO_read(output, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

}  // namespace sluice::test
