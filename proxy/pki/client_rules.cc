#include "proxy/pki/client_rules.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <chrono>

#include "proxy/pki/asn1_time.h"
#include "proxy/pki/names/admitted_names.h"

namespace sluice::pki {
namespace {

/// Bounds the signatures that are verified for one client.
constexpr int kMostAuthorities = 10;
/// RSA keys of 2,048 bits and signatures with SHA-2 at least, as Debian's OpenSSL demands it of backends.
constexpr int kSecurityLevel = 2;
/// OpenSSL's own rules never end with this code, because no trust settings are read from PEM.
constexpr int kNotAdmitted = X509_V_ERR_CERT_REJECTED;

struct StoreContextFree {
  void operator()(X509_STORE_CTX* context) const { X509_STORE_CTX_free(context); }
};
struct StackFree {
  void operator()(STACK_OF(X509) * stack) const { sk_X509_free(stack); }
};

struct ClientVerdict {
  int code = X509_V_ERR_UNSPECIFIED;
  Validity validity;  // if the code is X509_V_OK
};

Validity validityOf(const STACK_OF(X509) * verified, base::WallTime listsExpire) {
  Validity result{.until = listsExpire};
  for (int i = 0; i < sk_X509_num(verified); ++i) {
    const X509* certificate = sk_X509_value(verified, i);
    result.from = std::max(result.from, toWallTime(X509_get0_notBefore(certificate)));
    result.until = std::min(result.until, toWallTime(X509_get0_notAfter(certificate)));
  }
  return result;
}

ClientVerdict judgeChain(const TrustStore& trust, const PeerChain& chain, base::WallTime now) {
  const std::unique_ptr<STACK_OF(X509), StackFree> others(sk_X509_new_null());
  for (X509* each : chain.others()) sk_X509_push(others.get(), each);
  const std::unique_ptr<X509_STORE_CTX, StoreContextFree> context(X509_STORE_CTX_new());
  if (X509_STORE_CTX_init(context.get(), trust.get(), chain.leaf(), others.get()) != 1 ||
      X509_STORE_CTX_set_purpose(context.get(), X509_PURPOSE_SSL_CLIENT) != 1) {
    return {};
  }
  X509_VERIFY_PARAM* const rules = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_time(rules, std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  X509_VERIFY_PARAM_set_depth(rules, kMostAuthorities);
  X509_VERIFY_PARAM_set_auth_level(rules, kSecurityLevel);
  if (X509_verify_cert(context.get()) != 1) {
    const int code = X509_STORE_CTX_get_error(context.get());
    return {.code = code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, .validity = {}};
  }
  return {X509_V_OK, validityOf(X509_STORE_CTX_get0_chain(context.get()), trust.listsExpire(now))};
}

bool admitsKey(const ClientRules& rules, const X509* leaf) {
  if (rules.keys.empty() && rules.certificates.empty()) return true;
  const auto& keys = rules.keys;
  if (!keys.empty() && std::find(keys.begin(), keys.end(), spkiPinOf(leaf)) != keys.end()) return true;
  Sha256Digest digest;
  if (X509_digest(leaf, EVP_sha256(), digest.data(), nullptr) != 1) return false;
  return std::find(rules.certificates.begin(), rules.certificates.end(), digest) != rules.certificates.end();
}

ClientVerdict judgeClient(const ClientRules& rules, const PeerChain& chain, base::WallTime now) {
  ClientVerdict verdict = judgeChain(*rules.trust, chain, now);
  if (verdict.code == X509_V_OK && !admitsKey(rules, chain.leaf())) verdict.code = kNotAdmitted;
  if (verdict.code == X509_V_OK && !rules.names.empty() && !hasAdmittedName(chain.leaf(), rules.names)) {
    verdict.code = X509_V_ERR_HOSTNAME_MISMATCH;
  }
  ERR_clear_error();
  return verdict;
}

std::string_view brokenRule(int code) {
  switch (code) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "not yet valid";
    case X509_V_ERR_CERT_REVOKED:
      return "revoked";
    case X509_V_ERR_CRL_HAS_EXPIRED:
      return "the revocation list of its issuer has expired";
    case X509_V_ERR_UNABLE_TO_GET_CRL:
      return "there is no revocation list of its issuer";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "untrusted issuer";
    case X509_V_ERR_CERT_CHAIN_TOO_LONG:
      return "too many authorities between it and a trusted one";
    case X509_V_ERR_INVALID_PURPOSE:
      return "its extendedKeyUsage is not that of a client";
    case X509_V_ERR_EE_KEY_TOO_SMALL:
    case X509_V_ERR_CA_KEY_TOO_SMALL:
    case X509_V_ERR_CA_MD_TOO_WEAK:
      return "a key or signature of its chain is too weak";
    case kNotAdmitted:
      return "neither its key nor the certificate is one of those admitted";
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return "none of its names is admitted";
    default:
      return X509_verify_cert_error_string(code);
  }
}

}  // namespace

base::Result<Validity> ClientRules::verify(const PeerChain& chain, base::WallTime now) const {
  const ClientVerdict verdict = judgeClient(*this, chain, now);
  if (verdict.code != X509_V_OK) return clientRefused(verdict.code);
  return verdict.validity;
}

int ClientRules::check(const PeerChain& chain, base::WallTime now) const { return judgeClient(*this, chain, now).code; }

base::Error clientRefused(int code) {
  return {base::ErrorType::kTlsCertificateError, base::ErrorOrigin::kDownstream,
          "the client's certificate is refused: " + std::string(brokenRule(code))};
}

}  // namespace sluice::pki
