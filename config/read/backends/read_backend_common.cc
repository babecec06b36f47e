// Implements the functions for the readers of all spellings of Backend.
#include <algorithm>
#include <utility>

#include "config/read/backends/backend_readers.h"
#include "config/read/backends/external_hostname.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr Choice<TlsMode> kTlsModes[] = {{"None", TlsMode::kNone},
                                         {"Terminate", TlsMode::kServerAuth},
                                         {"Simple", TlsMode::kServerAuth},
                                         {"ServerOnly", TlsMode::kServerAuth},
                                         {"Passthrough", TlsMode::kPassthrough},
                                         {"Mutual", TlsMode::kMutual},
                                         {"ClientAndServer", TlsMode::kMutual}};

}  // namespace

std::string readExternalHostname(FieldReader& reader, std::string_view key) {
  std::string hostname = base::toLower(reader.requiredText(key, rule::kHostText));
  if (hostname.empty()) return hostname;
  const std::string_view fault = externalHostnameFault(hostname);
  if (!fault.empty()) {
    reader.error(key, std::string(fault) + ", but is " + base::quote(hostname) + hostnameHint(hostname));
  }
  if (hostname.ends_with('.')) hostname.pop_back();
  return hostname;
}

std::string readRequestedHostname(FieldReader& reader, const Item& item) {
  const auto written = readText(*item.value, item.path, rule::kHostText, reader.context());
  if (!written) return {};
  std::string name = base::toLower(*written);
  if (name.ends_with('.')) name.pop_back();
  const bool isSuffix = name.starts_with("*.");
  const std::string_view fault = externalHostnameFault(std::string_view(name).substr(isSuffix ? 2 : 0));
  if (fault.empty() && isSuffix && coversInnerNames(std::string_view(name).substr(2))) {
    reader.error(
        item, "must not cover names of the cluster or of the gateway's own machine, but is " + base::quote(*written));
    return {};
  }
  if (fault.empty()) return name;
  reader.error(item, std::string(fault) + " that may begin with \"*.\", but is " + base::quote(*written));
  return {};
}

void refuseFixedNames(const Backend& backend, ObjectContext& context) {
  const auto refuse = [&context](const std::optional<BackendTls>& tls) {
    if (!tls) return;
    const auto refuseIf = [&](bool given, std::string_view field, std::string_view why) {
      if (given) context.error(tls->position, tls->path + "." + std::string(field), std::string(why));
    };
    constexpr std::string_view kNamed = "must not be given, because requests name the destination";
    refuseIf(!tls->serverName.empty(), "sni", kNamed);
    refuseIf(!tls->subjectAltNames.empty(), "subjectAltNames", kNamed);
    refuseIf(tls->mode == TlsMode::kMutual || tls->mode == TlsMode::kPassthrough, "mode",
             "must be None or Simple, because requests name the destination");
  };
  refuse(backend.tls);
  for (const BackendPort& port : backend.ports) refuse(port.tls);
}

std::string readDestinationAddress(FieldReader& ip) {
  const std::string address = ip.requiredText("address", rule::kIpAddress);
  return address.empty() ? address : canonicalIp(address);
}

void readEndpointHost(FieldReader& endpoint, BackendPort& port) {
  const bool isName = endpoint.has("fqdn");
  if (isName == endpoint.has("ip")) {
    endpoint.error(isName ? "ip" : "fqdn", isName ? "must not be given together with fqdn" : "or ip is required");
  }
  if (!isName && !endpoint.has("ip")) return;
  FieldReader host = endpoint.map(isName ? "fqdn" : "ip");
  port.hostname = isName ? readExternalHostname(host, "hostname") : readDestinationAddress(host);
  host.read(required("port"), port.number, kPorts);
  host.finish();
}

void addEndpoint(BackendPort endpoint, const Item& item, ObjectContext& context, Backend& backend) {
  const auto isSame = [&](const BackendPort& other) {
    return other.hostname == endpoint.hostname && other.number == endpoint.number;
  };
  if (!endpoint.hostname.empty() && std::any_of(backend.ports.begin(), backend.ports.end(), isSame)) {
    context.error(item.value->position, item.path,
                  "repeats " + endpoint.hostname + ":" + std::to_string(endpoint.number));
  }
  backend.ports.push_back(std::move(endpoint));
}

void readTlsMode(FieldReader& reader, TlsMode& mode) { reader.read("mode", mode, kTlsModes, /*ignoreCase=*/true); }

void readClientCertificateRef(FieldReader& reader, BackendTls& tls) {
  const bool given = reader.has("clientCertificateRef");
  if (given != (tls.mode == TlsMode::kMutual)) {
    reader.error("clientCertificateRef",
                 given ? "must be given only when mode is Mutual" : "is required when mode is Mutual");
  }
  reader.read("clientCertificateRef", tls.clientCertificateRef, kSecretRef);
}

}  // namespace sluice::config
