// Compares the DNS names of certificates with those of hosts.
#pragma once

#include <string_view>

namespace sluice::pki {

/// Returns true if `host` (lower case) is covered by `pattern`, a DNS SAN: the same name, or a wildcard for exactly
/// its first label (RFC 6125 section 6.4.3).
bool dnsNameMatches(std::string_view pattern, std::string_view host);

/// Returns true if `pattern` is a wildcard, `host` (both in lower case) has an underscore in its first label, and
/// dnsNameMatches() is true of both. Underscores are in no host name (RFC 952), but in names that people use, and
/// OpenSSL has no wildcard match them.
bool wildcardMatchesUnderscore(std::string_view pattern, std::string_view host);

}  // namespace sluice::pki
