#include "proxy/pki/names/admitted_names.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "proxy/base/text.h"
#include "proxy/pki/names/alternative_names.h"
#include "proxy/pki/names/dns_name.h"

namespace sluice::pki {
namespace {

using Kind = AdmittedName::Kind;
using Match = AdmittedName::Match;

/// Returns the address as RFC 5952 writes it; empty if it has another size than 4 or 16 bytes.
std::string addressText(const std::string& bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  return inet_ntop(family, bytes.data(), text.data(), text.size()) == nullptr ? "" : text.data();
}

/// Returns the same text for all spellings of an address; a part of an address stays as it is.
std::string canonicalAddress(const std::string& text) {
  for (const int family : {AF_INET, AF_INET6}) {
    std::string bytes(family == AF_INET ? 4 : 16, '\0');
    if (inet_pton(family, text.c_str(), bytes.data()) == 1) return addressText(bytes);
  }
  return text;
}

/// Returns the address with its host in lower case; what is before the last @ may differ by case (RFC 5321).
std::string canonicalEmail(const std::string& text) {
  const std::size_t host = text.rfind('@') + 1;
  return text.substr(0, host) + base::toLower(text.substr(host));
}

/// Returns the names of a kind in the spelling in which they are compared.
std::vector<std::string> namesOf(const x509_st* certificate, Kind kind) {
  std::vector<std::string> names;
  switch (kind) {
    case Kind::kDns:
      return hostNames(certificate);
    case Kind::kUri:
      names = alternativeNames(certificate, GEN_URI);
      break;
    case Kind::kEmail:
      names = alternativeNames(certificate, GEN_EMAIL);
      for (std::string& name : names) name = canonicalEmail(name);
      break;
    case Kind::kIp:
      names = alternativeNames(certificate, GEN_IPADD);
      for (std::string& name : names) name = addressText(name);
      break;
  }
  std::erase_if(names, [](const std::string& name) { return name.empty() || name.find('\0') != std::string::npos; });
  return names;
}

std::string canonicalText(const AdmittedName& admitted) {
  switch (admitted.kind) {
    case Kind::kDns:
      return base::toLower(admitted.text);
    case Kind::kEmail:
      return canonicalEmail(admitted.text);
    case Kind::kIp:
      return admitted.match == Match::kExact ? canonicalAddress(admitted.text) : base::toLower(admitted.text);
    case Kind::kUri:
      break;
  }
  return admitted.text;
}

bool matches(const std::string& name, const AdmittedName& admitted, const std::string& text) {
  switch (admitted.match) {
    case Match::kPrefix:
      return name.starts_with(text);
    case Match::kSuffix:
      return name.ends_with(text);
    case Match::kExact:
      break;
  }
  return admitted.kind == Kind::kDns ? dnsNameMatches(name, text) : name == text;
}

}  // namespace

bool hasAdmittedName(const x509_st* certificate, const std::vector<AdmittedName>& names) {
  return std::any_of(names.begin(), names.end(), [certificate](const AdmittedName& admitted) {
    const std::string text = canonicalText(admitted);
    const std::vector<std::string> shown = namesOf(certificate, admitted.kind);
    return std::any_of(shown.begin(), shown.end(),
                       [&](const std::string& name) { return matches(name, admitted, text); });
  });
}

}  // namespace sluice::pki
