#include "proxy/net/tls/tls_verify.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>

#include "proxy/net/address.h"

namespace sluice::net {
namespace {

constexpr unsigned int kNameFlags = X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS;

struct NamesFree {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

// Matches Gateway API's subjectAltNames of type URI byte for byte, including NUL.
bool carriesUri(X509* certificate, std::string_view uri) {
  const std::unique_ptr<GENERAL_NAMES, NamesFree> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* value = name->d.uniformResourceIdentifier;
    const auto* data = reinterpret_cast<const char*>(ASN1_STRING_get0_data(value));
    if (std::string_view(data, static_cast<std::size_t>(ASN1_STRING_length(value))) == uri) return true;
  }
  return false;
}

bool hasPin(X509_STORE_CTX* store, const std::vector<pki::SpkiPin>& pins) {
  if (pins.empty()) return true;
  const STACK_OF(X509)* chain = X509_STORE_CTX_get0_chain(store);
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    if (std::find(pins.begin(), pins.end(), pki::spkiPinOf(sk_X509_value(chain, i))) != pins.end()) return true;
  }
  return false;
}

}  // namespace

bool isIpLiteral(std::string_view text) { return Address::parse(text, 0).has_value(); }

base::Result<PeerNames> PeerNames::make(std::vector<std::string> names) {
  PeerNames result;
  for (std::string& name : names) {
    // A leading dot would mean "any name below" to OpenSSL.
    if (name.empty() || name.front() == '.' || name.find('\0') != std::string::npos) {
      return base::Error::config("a name to verify the peer by is empty or no name");
    }
    const auto kind = isIpLiteral(name)                     ? PeerName::Kind::kIp
                      : name.find(':') != std::string::npos ? PeerName::Kind::kUri
                                                            : PeerName::Kind::kDns;
    result.names_.push_back({kind, std::move(name)});
  }
  if (result.names_.empty()) return base::Error::config("no name to verify the peer by");
  return result;
}

bool PeerNames::carries(X509* certificate, const PeerName& name) {
  switch (name.kind) {
    case PeerName::Kind::kDns:
      return X509_check_host(certificate, name.text.data(), name.text.size(), kNameFlags, nullptr) == 1;
    case PeerName::Kind::kIp:
      return X509_check_ip_asc(certificate, name.text.c_str(), kNameFlags) == 1;
    case PeerName::Kind::kUri:
      return carriesUri(certificate, name.text);
  }
  return false;
}

int PeerNames::check(X509* certificate) const {
  const auto matches = [certificate](const PeerName& name) { return carries(certificate, name); };
  if (std::any_of(names_.begin(), names_.end(), matches)) return X509_V_OK;
  return names_.front().kind == PeerName::Kind::kIp ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH;
}

int verifyPeer(X509_STORE_CTX* store, void* rules) {
  if (X509_verify_cert(store) != 1) return 0;
  const auto& wanted = *static_cast<const PeerRules*>(rules);
  int verdict = wanted.names.check(X509_STORE_CTX_get0_cert(store));
  if (verdict == X509_V_OK && !hasPin(store, wanted.pins)) verdict = kPinMismatch;
  if (verdict == X509_V_OK) return 1;
  X509_STORE_CTX_set_error(store, verdict);
  return 0;
}

int acceptAnyPeer(X509_STORE_CTX* /*store*/, void* /*unused*/) { return 1; }

}  // namespace sluice::net
