#include "proxy/net/tls/tls_policy.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "proxy/net/tls/tls_context.h"
#include "proxy/pki/openssl_error.h"

namespace sluice::net {
namespace {

// Every suite that may be named. Names are looked up in here and never handed on as written: OpenSSL's own lists know
// words like ALL, eNULL and @SECLEVEL=0.
constexpr const char* kOfTls12 = "ALL:!aNULL:!eNULL:!EXPORT:!PSK:!SRP";
constexpr const char* kOfTls13 =
    "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_CCM_SHA256:"
    "TLS_AES_128_CCM_8_SHA256";

struct Suites {
  std::string ofTls12;
  std::string ofTls13;
};

std::optional<int> versionOf(const std::string& text) {
  if (text == "1.2") return TLS1_2_VERSION;
  if (text == "1.3") return TLS1_3_VERSION;
  return std::nullopt;
}

bool hasName(const SSL_CIPHER* cipher, const std::string& name) {
  const char* standard = SSL_CIPHER_standard_name(cipher);
  return name == SSL_CIPHER_get_name(cipher) || (standard != nullptr && name == standard);
}

const SSL_CIPHER* findSuite(const STACK_OF(SSL_CIPHER) * known, const std::string& name) {
  for (int i = 0; i < sk_SSL_CIPHER_num(known); ++i) {
    if (hasName(sk_SSL_CIPHER_value(known, i), name)) return sk_SSL_CIPHER_value(known, i);
  }
  return nullptr;
}

void append(std::string& list, const SSL_CIPHER* cipher) {
  if (!list.empty()) list += ':';
  list += SSL_CIPHER_get_name(cipher);
}

base::Result<Suites> splitByVersion(const std::vector<std::string>& names) {
  const SslContext all(SSL_CTX_new(TLS_client_method()));
  const bool listed = all != nullptr && SSL_CTX_set_cipher_list(all.get(), kOfTls12) == 1 &&
                      SSL_CTX_set_ciphersuites(all.get(), kOfTls13) == 1;
  if (!listed) return base::Error::config("TLS: " + pki::takeOpensslError());
  Suites suites;
  for (const std::string& name : names) {
    const SSL_CIPHER* cipher = findSuite(SSL_CTX_get_ciphers(all.get()), name);
    if (cipher == nullptr) continue;
    const bool isOfTls13 = std::strcmp(SSL_CIPHER_get_version(cipher), "TLSv1.3") == 0;
    append(isOfTls13 ? suites.ofTls13 : suites.ofTls12, cipher);
  }
  return suites;
}

}  // namespace

base::Status restrictVersionsAndCiphers(SSL_CTX* context, const TlsClientSettings& settings) {
  const auto minimum = versionOf(settings.minVersion);
  if (!minimum) return base::Error::config("the lowest TLS version is neither 1.2 nor 1.3");
  SSL_CTX_set_min_proto_version(context, *minimum);
  if (settings.cipherSuites.empty()) return base::Done{};

  const auto suites = splitByVersion(settings.cipherSuites);
  if (!suites) return suites.error();
  if (suites->ofTls12.empty() && suites->ofTls13.empty()) {
    return base::Error::config("none of the cipher suites is known");
  }
  if (suites->ofTls13.empty() && *minimum == TLS1_3_VERSION) {
    return base::Error::config("TLS 1.3 is asked for, but none of its cipher suites");
  }
  if (suites->ofTls12.empty()) SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  if (suites->ofTls13.empty()) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  const bool set = (suites->ofTls12.empty() || SSL_CTX_set_cipher_list(context, suites->ofTls12.c_str()) == 1) &&
                   (suites->ofTls13.empty() || SSL_CTX_set_ciphersuites(context, suites->ofTls13.c_str()) == 1);
  if (!set) return base::Error::config("cipher suites: " + pki::takeOpensslError());
  return base::Done{};
}

}  // namespace sluice::net
