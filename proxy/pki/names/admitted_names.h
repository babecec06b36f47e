// The names of which a client's certificate must have one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct x509_st;

namespace sluice::pki {

/// A subjectAltName that is admitted. DNS names and the hosts of e-mail addresses are compared without regard to case,
/// and a wildcard of the certificate stands for one label if the name is to match exactly. A URI is compared byte for
/// byte, an address as it is usually written (RFC 5952).
struct AdmittedName {
  enum class Kind : std::uint8_t { kDns, kUri, kEmail, kIp };
  enum class Match : std::uint8_t { kExact, kPrefix, kSuffix };
  Kind kind = Kind::kUri;
  Match match = Match::kExact;
  std::string text;

  friend bool operator==(const AdmittedName&, const AdmittedName&) = default;
};

/// Returns true if one of the certificate's subjectAltNames matches one of `names`. A text with a NUL matches none.
bool hasAdmittedName(const x509_st* certificate, const std::vector<AdmittedName>& names);

}  // namespace sluice::pki
