#include "proxy/pki/names/alternative_names.h"

#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "proxy/base/text.h"

namespace sluice::pki {
namespace {

struct GeneralNamesFree {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

bool isHostName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '*';
  });
}

}  // namespace

std::vector<std::string> alternativeNames(const x509_st* certificate, int type) {
  std::vector<std::string> names;
  const std::unique_ptr<GENERAL_NAMES, GeneralNamesFree> all(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
    const GENERAL_NAME* entry = sk_GENERAL_NAME_value(all.get(), i);
    // The four types share one representation; the value of another type is no string.
    const bool isString = type == GEN_DNS || type == GEN_URI || type == GEN_EMAIL || type == GEN_IPADD;
    if (entry->type != type || !isString) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(entry->d.ia5)),
                       static_cast<std::size_t>(ASN1_STRING_length(entry->d.ia5)));
  }
  ERR_clear_error();
  return names;
}

std::vector<std::string> hostNames(const x509_st* certificate) {
  std::vector<std::string> names = alternativeNames(certificate, GEN_DNS);
  for (std::string& name : names) name = base::toLower(name);
  std::erase_if(names, [](const std::string& name) { return !isHostName(name); });
  return names;
}

}  // namespace sluice::pki
