#include "config/read/traffic/client_validation_reader.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMostAuthorityRefs = 8;
constexpr std::size_t kMostRevocationRefs = 8;
constexpr std::size_t kMostAdmitted = 1000;  // hashes of one kind, or names of one kind
constexpr std::size_t kLongestHash = 128;
constexpr std::size_t kLongestAdmittedName = 1024;

using NameMatch = std::optional<pki::AdmittedName::Match>;
using NameKind = pki::AdmittedName::Kind;

constexpr Choice<NameMatch> kNameMatches[] = {{"Exact", pki::AdmittedName::Match::kExact},
                                              {"Prefix", pki::AdmittedName::Match::kPrefix},
                                              {"Suffix", pki::AdmittedName::Match::kSuffix},
                                              {"RegularExpression", std::nullopt}};

struct NameField {
  std::string_view key;
  NameKind kind;
};
constexpr NameField kNameFields[] = {{"dnsNames", NameKind::kDns},
                                     {"emailAddresses", NameKind::kEmail},
                                     {"ipAddresses", NameKind::kIp},
                                     {"uris", NameKind::kUri}};

constexpr TextRule kHashText{isAnyText, "a hash", kLongestHash};
constexpr TextRule kNameText{isAnyText, "a name", kLongestAdmittedName};

/// Reads 64 hexadecimal digits, in any case. There may be colons, as OpenSSL prints them.
std::optional<pki::Sha256Digest> parseCertificateHash(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ':') digits.push_back(c);
  }
  pki::Sha256Digest digest = {};
  if (digits.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const std::string_view pair = std::string_view(digits).substr(2 * i, 2);
    unsigned value = 0;
    for (const char c : pair) {
      if (!isHexDigit(c)) return std::nullopt;
      value = value * 16 + static_cast<unsigned>(isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    digest[i] = static_cast<unsigned char>(value);
  }
  return digest;
}

void readKeyHashes(FieldReader& reader, std::vector<pki::SpkiPin>& keys) {
  for (const Item& item : reader.list("spkiHashes", kMostAdmitted)) {
    const auto text = readText(*item.value, item.path, kHashText, reader.context());
    if (!text) continue;
    const auto pin = pki::parseSpkiPin(*text);
    if (pin) {
      keys.push_back(*pin);
    } else {
      reader.error(item, "must be the SHA-256 of a public key in base64, but is " + base::quote(*text));
    }
  }
}

void readCertificateHashes(FieldReader& reader, std::vector<pki::Sha256Digest>& certificates) {
  for (const Item& item : reader.list("certificateHashes", kMostAdmitted)) {
    const auto text = readText(*item.value, item.path, kHashText, reader.context());
    if (!text) continue;
    if (const auto digest = parseCertificateHash(*text)) {
      certificates.push_back(*digest);
    } else {
      reader.error(item, "must be the SHA-256 of a certificate in hexadecimal, but is " + base::quote(*text));
    }
  }
}

/// Reads the names of one field of subjectAltNames. Returns the path of the first that cannot be compared; empty if
/// there is none.
std::string readAdmittedNames(FieldReader& reader, const NameField& field, std::vector<pki::AdmittedName>& names) {
  std::string unserved;
  for (const Item& item : reader.list(field.key, kMostAdmitted)) {
    FieldReader matcher = reader.map(item);
    NameMatch match = pki::AdmittedName::Match::kExact;
    matcher.read("type", match, kNameMatches);
    pki::AdmittedName name{field.kind, match.value_or(pki::AdmittedName::Match::kExact), {}};
    matcher.read(required("value"), name.text, kNameText);
    matcher.finish();
    if (field.kind == NameKind::kIp && isIpAddress(name.text)) name.text = canonicalIp(name.text);
    if (!match && unserved.empty()) unserved = matcher.pathOf("type");
    names.push_back(std::move(name));
  }
  return unserved;
}

}  // namespace

void readClientValidation(FieldReader& reader, ClientCertificateTerms& terms, std::vector<Finding>& unserved) {
  const auto addUnserved = [&](std::string path, std::string message) {
    unserved.push_back({std::move(path), std::move(message)});
  };
  terms.path = reader.path();
  terms.position = reader.position();
  reader.read("optional", terms.optional);
  reader.read("caCertificateRefs", terms.caCertificateRefs, kMostAuthorityRefs, kSecretRef);
  if (terms.caCertificateRefs.empty()) addUnserved(reader.path(), "verifies clients without caCertificateRefs");
  readKeyHashes(reader, terms.keys);
  readCertificateHashes(reader, terms.certificates);
  FieldReader names = reader.map("subjectAltNames");
  for (const NameField& each : kNameFields) {
    std::string path = readAdmittedNames(names, each, terms.names);
    if (!path.empty()) addUnserved(std::move(path), "admits names by a regular expression");
  }
  if (names.has("otherNames")) addUnserved(names.pathOf("otherNames"), "admits clients by other names");
  names.finish();
  FieldReader lists = reader.map("crl");
  if (lists.given()) lists.require("refs");
  for (const Item& item : lists.listOfSome("refs", kMostRevocationRefs)) {
    lists.map(item).readInto(terms.revocationListRefs.emplace_back(), kSecretRef);
  }
  if (lists.boolean("onlyVerifyLeafCertificate", false)) {
    addUnserved(lists.pathOf("onlyVerifyLeafCertificate"), "looks up only the certificates of clients");
  }
  lists.finish();
}

}  // namespace sluice::config
