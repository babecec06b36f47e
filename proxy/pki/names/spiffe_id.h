// A SPIFFE ID: the name of a workload in a trust domain (the SPIFFE-ID standard, section 2).
#pragma once

#include <optional>
#include <string_view>

namespace sluice::pki {

/// Views of the text that was parsed.
struct SpiffeId {
  std::string_view trustDomain;
  std::string_view path;  // empty, or begins with a slash
  // Empty unless the path is /ns/NAMESPACE/sa/ACCOUNT and both are names that Kubernetes admits.
  std::string_view nameSpace;
  std::string_view serviceAccount;

  /// Returns nullopt if the text breaks a rule of the standard: 2,048 bytes at most, "spiffe://" in lower case, a trust
  /// domain of at most 255 characters, neither port, user, query nor fragment, no empty segment, "." or "..".
  static std::optional<SpiffeId> parse(std::string_view uri);
};

}  // namespace sluice::pki
