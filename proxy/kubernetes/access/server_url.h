// Reads the URL of an API server in the form of kubeconfigs: https://host:port/prefix.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/result.h"

namespace sluice::kubernetes {

/// A name in lower case or an IP address without brackets, in its canonical form.
struct ServerUrl {
  bool tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string pathPrefix;  // without a slash at its end
};

/// Returns `text` as a host: a domain name in lower case, or an IP address in its canonical form; empty if it is
/// neither.
std::string canonicalHost(std::string_view text);

/// Parses a URL. http:// is accepted for this machine only: a loopback address, or localhost. Errors have config's
/// origin, are predicates ("must begin with https://"), and do not quote a URL that contains credentials.
base::Result<ServerUrl> parseServerUrl(std::string_view text);

}  // namespace sluice::kubernetes
