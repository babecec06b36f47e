// Gateways whose HTTPS listeners verify their clients, for tests of what is compiled for them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/routing/policy/client_validation.h"
#include "test/compile/compile_world.h"

namespace sluice::compile::test {

inline std::string httpsListener(const std::string& name, std::uint16_t port, const std::string& more = "") {
  return "{name: " + name + ", protocol: HTTPS, port: " + std::to_string(port) + more +
         ", tls: {certificateRefs: [{name: pair}]}}";
}

/// Returns kGateway with these listeners and this `spec.tls.frontend`.
inline std::string verifyingGateway(const std::string& frontend, const std::string& listeners) {
  return with(gatewayWith(listeners), "  listeners:", "  tls: {frontend: " + frontend + "}\n  listeners:");
}

/// Returns a member `validation` with these references.
inline std::string validationBy(const std::string& refs, const std::string& more = "") {
  return "validation: {caCertificateRefs: [" + refs + "]" + more + "}";
}
inline std::string authorityRef(const std::string& name, const std::string& more = "") {
  return "{group: '', kind: ConfigMap, name: " + name + more + "}";
}
inline std::string authoritiesNamed(const std::string& name) {
  return configMap(name, "ca.crt", authority().certificate);
}

/// Returns a World with the class, a Backend, a route to it and a certificate of listeners.
inline World verifyingWorld(const std::string& gateway, const std::vector<std::string>& more,
                            const World* previous = nullptr) {
  static const std::string kPair = keyPair("pair", server());
  std::vector<std::string_view> documents = {kClass, gateway, kBackend, kRoute, kPair};
  documents.insert(documents.end(), more.begin(), more.end());
  return World(documents, previous);
}

/// Returns how clients of the port's first certificate are verified; null if they are not, or if nothing listens there.
inline std::shared_ptr<const routing::ClientValidation> clientsAt(const World& world, std::uint16_t port) {
  const routing::Bind* bind = world.bind(port);
  if (bind == nullptr || bind->identities.empty()) return nullptr;
  return bind->identities.front().clients;
}

/// Returns the listener of the port that has the host.
inline const routing::ServedListener* servedListener(const World& world, std::uint16_t port,
                                                     const std::string& host = "a.test") {
  const RequestMaker request("GET", host, "/");
  return routing::routesOf(world.bind(port)->service).match(request.head()).listener;
}

}  // namespace sluice::compile::test
