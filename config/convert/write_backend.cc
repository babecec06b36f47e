#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "config/convert/model_writers.h"
#include "config/ground/patterns.h"

namespace sluice::config {
namespace {

constexpr Choice<TlsMode> kTlsWords[] = {{"None", TlsMode::kNone},
                                         {"Simple", TlsMode::kServerAuth},
                                         {"Passthrough", TlsMode::kPassthrough},
                                         {"Mutual", TlsMode::kMutual}};

void writeReference(const ObjectRef& ref, FieldWriter& to) {
  to.anyText("group", ref.group);
  to.text("kind", ref.kind);
  to.text("namespace", ref.nameSpace);
  to.text("name", ref.name);
}

/// Returns the word for a port's protocol. One that is not supported has the word that was written.
std::string protocolWord(const BackendPort& port) {
  if (port.protocol == BackendProtocol::kOther) return port.protocolName;
  return port.protocol == BackendProtocol::kHttp2 ? "HTTP2" : "HTTP";
}

void writeProtocolAndTls(const BackendPort& port, FieldWriter& to) {
  to.text("protocol", protocolWord(port));
  to.map("tls", port.tls, writeBackendTls);
}

void writePort(const BackendPort& port, FieldWriter& to) {
  to.number("number", port.number);
  writeProtocolAndTls(port, to);
}

void writeEndpoint(const BackendPort& endpoint, FieldWriter& to) {
  const bool isAddress = isIpAddress(endpoint.hostname);
  to.map(isAddress ? "ip" : "fqdn", endpoint, [isAddress](const BackendPort& of, FieldWriter& host) {
    host.text(isAddress ? "address" : "hostname", of.hostname);
    host.number("port", of.number);
  });
  writeProtocolAndTls(endpoint, to);
  to.number("priority", ifSet(endpoint.priority));
  if (endpoint.weight != 1) to.number("weight", endpoint.weight);
}

void writeDynamicDestination(const Backend& backend, FieldWriter& to) {
  to.texts("hostnames", backend.dynamic->hostnames);
  to.list("ports", backend.ports, writePort);
}

void writeHost(const Backend& backend, FieldWriter& to) {
  const bool isAddress = isIpAddress(backend.hostname);
  to.text("type", backend.service ? "Service" : isAddress ? "Ip" : "Fqdn");
  to.map("service", backend.service, [](const ObjectRef& service, FieldWriter& of) {
    of.text("name", service.name);
    of.text("namespace", service.nameSpace);
  });
  if (!backend.service) {
    to.map(isAddress ? "ip" : "fqdn", backend.hostname, [isAddress](const std::string& hostname, FieldWriter& of) {
      of.text(isAddress ? "address" : "hostname", hostname);
    });
  }
  to.list("ports", backend.ports, writePort);
}

/// Writes the endpoints that have a host. Those without one were noted when they were read.
void writeEndpoints(const Backend& backend, FieldWriter& to) {
  std::vector<BackendPort> endpoints;
  std::copy_if(backend.ports.begin(), backend.ports.end(), std::back_inserter(endpoints),
               [](const BackendPort& each) { return !each.hostname.empty(); });
  to.text("type", "Endpoints");
  to.list("endpoints", endpoints, writeEndpoint);
}

void writeDestination(const Backend& backend, FieldWriter& to) {
  if (backend.hasEndpoints) return writeEndpoints(backend, to);
  if (!backend.dynamic) return writeHost(backend, to);
  to.text("type", "Dynamic");
  to.map("dynamic", backend, writeDynamicDestination);
}

/// Adds the parts of a port that an XBackend has alone. HTTP/1.1 is the version without TLS anyway.
void addOtherPorts(const Backend& backend, Leftovers& left) {
  for (const BackendPort& each : backend.ports) {
    const std::optional<BackendTls>& tls = each.tls ? each.tls : backend.tls;
    const bool overTls = tls && tls->mode != TlsMode::kNone;
    if (!each.name.empty()) left.add("spec.port.name", "ports of a Backend have numbers and no names");
    if (each.protocol != BackendProtocol::kHttp11 || !overTls) continue;
    left.add(each.protocolPath, "ALPN may choose HTTP/2 too, because HTTP/1.1 alone cannot be chosen with TLS");
  }
}

}  // namespace

void writeBackendTls(const BackendTls& tls, FieldWriter& to) {
  to.word("mode", tls.mode, kTlsWords);
  to.text("sni", tls.serverName);
  to.list("caBundleRef", tls.caRefs, writeReference);
  to.flag("insecureSkipVerify", ifSet(tls.insecureSkipVerify));
  to.map("clientCertificateRef", tls.clientCertificateRef, writeReference);
  to.texts("subjectAltNames", tls.subjectAltNames);
  to.textMap("options", tls.options);
}

void writeBackend(const Backend& backend, FieldWriter& spec, Leftovers& left) {
  left.add(backend.unsupported);
  left.add(backend.extensions);
  addOtherPorts(backend, left);
  if (backend.isFallback) {
    left.add("spec.fallback", "a TrafficPolicy for the routes gives it a later priority: failover.priorities");
  }
  if (backend.dynamic && backend.dynamic->hostnames.empty()) {
    return left.refuse("spec.type", "a Backend whose destinations requests name must list their hostnames");
  }
  spec.map("destination", backend, writeDestination);
  spec.map("tls", backend.tls, writeBackendTls);
  spec.list("extensions", backend.extensions, writeProcessorUse);
}

}  // namespace sluice::config
