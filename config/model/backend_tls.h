// The settings of TLS to a destination, in Backends and BackendTLSPolicies. These are plain values; see model.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/object_meta.h"

namespace sluice::config {

/// The modes of TLS to a Backend. Every spelling is converted to one of them.
enum class TlsMode : std::uint8_t { kNone, kPassthrough, kServerAuth, kMutual };

struct BackendTls {
  TlsMode mode = TlsMode::kNone;
  std::string serverName;         // the SNI in lower case; empty for the hostname
  std::vector<ObjectRef> caRefs;  // ConfigMaps (or Secrets) with the key ca.crt; empty for the system's authorities
  /// DNS names and URIs. If there are any, the certificate must have one of them instead of the verified name. A URI
  /// has a scheme and "://", and therefore cannot be a DNS name.
  std::vector<std::string> subjectAltNames;
  std::optional<ObjectRef> clientCertificateRef;  // a Secret with tls.crt and tls.key; set for kMutual
  bool insecureSkipVerify = false;
  /// `tls.options` of the sluice.dev Backend, or `options` of a BackendTLSPolicy, as written, by the keys of
  /// tls_option.
  std::map<std::string, std::string> options;
  std::string path = "spec.tls";
  Position position;
};

namespace tls_option {
inline constexpr std::string_view kSpkiPins = "sluice.dev/spki-pins";
inline constexpr std::string_view kMinVersion = "sluice.dev/min-tls-version";
inline constexpr std::string_view kCipherSuites = "sluice.dev/cipher-suites";
}  // namespace tls_option

}  // namespace sluice::config
