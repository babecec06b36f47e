// The names in a certificate's subjectAltName (RFC 5280 section 4.2.1.6), as the authority has written them.
#pragma once

#include <string>
#include <vector>

struct x509_st;

namespace sluice::pki {

/// Returns the contents of all names of a type of OpenSSL in their order: the text of GEN_DNS, GEN_URI and GEN_EMAIL,
/// the 4 or 16 bytes of GEN_IPADD. A text may have any bytes, NUL too.
std::vector<std::string> alternativeNames(const x509_st* certificate, int type);

/// Returns the DNS names in lower case. One with a byte that no host name or wildcard has is left out, even if it
/// begins like one.
std::vector<std::string> hostNames(const x509_st* certificate);

}  // namespace sluice::pki
