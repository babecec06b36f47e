// A gateway whose listeners verify the certificates of their clients in different ways, and clients of it:
//
//   secure    HTTPS, takes valid certificates alone
//   lenient   HTTPS, AllowInsecureFallback
//   unasked   HTTPS, asks for no certificate
//   proxy     HTTPSPROXY, takes valid certificates alone
//
// Routes lead from all but the proxy to the origin. The proxy has no route, and its policy allows the origin.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/identity/tls_door.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/logged_caller.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {

inline std::string spiffeId(const std::string& nameSpace, const std::string& account,
                            const std::string& domain = "cluster.local") {
  return "spiffe://" + domain + "/ns/" + nameSpace + "/sa/" + account;
}
/// Returns the caller that a certificate with the SPIFFE ID of the trust domain names.
inline LoggedCaller certifiedCaller(const std::string& nameSpace, const std::string& account) {
  return {nameSpace, account, spiffeId(nameSpace, account), "Certificate"};
}

/// Returns a client's certificate with these URIs; `spec` has what else is special about it.
inline CertifiedKey clientOf(const CertifiedKey& issuer, const std::vector<std::string>& uris,
                             CertificateSpec spec = {}) {
  spec.uris = uris;
  if (spec.extendedKeyUsage.empty()) spec.extendedKeyUsage = "clientAuth";
  return issue(issuer, spec);
}

/// Returns the sum of the series of a family that begin so, with these labels of the caller.
inline double countedOf(const GatewayProcess& gateway, const std::string& series, const LoggedCaller& caller) {
  const std::string labels = "namespace=\"" + caller.nameSpace + "\",serviceAccount=\"" + caller.serviceAccount + "\"";
  std::istringstream lines(gateway.metrics());
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(series) || line.find(labels) == std::string::npos) continue;
    sum += std::stod(line.substr(line.rfind(' ') + 1));
  }
  return sum;
}
inline constexpr const char* kServedRequests = "http_server_request_duration_seconds_count{";
inline constexpr const char* kAttempts = "http_client_request_duration_seconds_count{";
/// Returns the series of judgements of the source ClientCertificate.
inline std::string judgementsOf(const std::string& result) {
  return "sluice_identity_total{source=\"certificate\",result=\"" + result + "\"}";
}

class CallerStage {
 public:
  CallerStage() {
    spec.backends = {{.port = origin.port()}};
    spec.settings = identitySettings();
    makeListeners();
    documents = routed("    - " + backendRefs().substr(6)) + allowedByTheProxy();
  }

  /// The source of identities that all tests have, as a line of the settings; `more` has further members of identity.
  static std::string identitySettings(const std::string& more = {}) {
    return "identity: {sources: [{type: ClientCertificate, trustDomains: [cluster.local]}]" + more + "}\n";
  }

  /// Returns an HTTPRoute with these rules for all listeners but the proxy.
  static std::string routed(const std::string& rules) {
    std::string route = routeOfRules(rules);
    const std::string everywhere = "[{name: egress}]";
    return route.replace(route.find(everywhere), everywhere.size(),
                         "[{name: egress, sectionName: secure}, {name: egress, sectionName: lenient}, {name: egress, "
                         "sectionName: unasked}]");
  }
  static std::string targetOf(const std::string& listener) {
    return "{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: " + listener + "}";
  }

  /// Returns `spec` with the documents, and with the authorities of the clients.
  GatewaySpec current() const {
    GatewaySpec whole = spec;
    std::vector<std::pair<std::string, std::string>> data = {{"ca.crt", trusted}};
    if (!revoked.empty()) data.emplace_back("crl.pem", revoked);
    whole.routes = documents + tlsSecretOf("listener", serverIdentity) + configMapOf("clients", data);
    return whole;
  }
  void start() { gateway = std::make_unique<GatewayProcess>(current()); }
  void reload() const { gateway->reload(current()); }

  TlsDoor door(std::uint16_t listener, const std::optional<CertifiedKey>& client,
               const std::string& protocol = "http/1.1") const {
    return {listener, serverAuthority.certificate, client, protocol};
  }
  /// Returns the answer to a request on a connection of its own; status 0 if there was no handshake.
  ReceivedResponse ask(std::uint16_t listener, const std::optional<CertifiedKey>& client,
                       const std::string& request = kGet) const {
    const TlsDoor way = door(listener, client);
    return askRaw(way.port(), request);
  }
  int status(std::uint16_t listener, const std::optional<CertifiedKey>& client,
             const std::string& request = kGet) const {
    return ask(listener, client, request).status;
  }
  /// Returns the caller of the request of this number, counted from 1.
  LoggedCaller logged(std::size_t number) const { return callerIn(gateway->accessLog(number).at(number - 1)); }
  CertifiedKey account(const std::string& nameSpace, const std::string& name) const {
    return clientOf(authority, {spiffeId(nameSpace, name)});
  }
  std::string originUrl() const { return "http://origin.test:" + std::to_string(origin.port()) + "/"; }

  /// Sets the listeners again after a change of what is below.
  void makeListeners() {
    const auto listener = [](const std::string& name, const std::string& protocol, std::uint16_t port) {
      return "    - {name: " + name + ", protocol: " + protocol + ", port: " + std::to_string(port) +
             ", tls: {certificateRefs: [{name: listener}]}}\n";
    };
    const std::string authorities = "caCertificateRefs: [{group: '', kind: ConfigMap, name: clients}]";
    spec.listeners = listener("secure", "HTTPS", secure) + listener("lenient", "HTTPS", lenient) +
                     listener("unasked", "HTTPS", unasked) + listener("proxy", "sluice.dev/HTTPSPROXY", proxy) +
                     "  tls:\n    frontend:\n      default: {validation: {" + authorities +
                     "}}\n      perPort:\n        - {port: " + std::to_string(lenient) + ", tls: {validation: {" +
                     authorities + ", mode: AllowInsecureFallback}}}\n" +
                     (asksEverywhere ? "" : "        - {port: " + std::to_string(unasked) + ", tls: {}}\n");
  }

  const CertifiedKey serverAuthority = makeAuthority("Server Authority");
  const CertifiedKey serverIdentity = issueServer(serverAuthority, "localhost");
  const CertifiedKey authority = makeAuthority("Client Authority");
  const RawOrigin origin{RawOrigin::answering(saying("served"))};
  const std::uint16_t secure = freePort();
  const std::uint16_t lenient = freePort();
  const std::uint16_t unasked = freePort();
  const std::uint16_t proxy = freePort();

  std::string trusted = authority.certificate;
  std::string revoked;          // a revocation list in PEM
  bool asksEverywhere = false;  // the listener `unasked` takes valid certificates alone, too
  GatewaySpec spec;
  std::string documents;  // routes and policies
  std::unique_ptr<GatewayProcess> gateway;

 private:
  std::string allowedByTheProxy() const {
    return egressPolicy(
        "proxied", targetOf("proxy"),
        "rules: [" +
            allowing("origin", "to: {hostnames: [origin.test], ports: [" + std::to_string(origin.port()) + "]}") + "]");
  }
};

}  // namespace sluice::test
