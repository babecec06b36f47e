// A gateway whose listener "proxy" is a forward proxy, for tests. Names are those of the settings: a.test and b.test
// have the address of loopback, which the address guard of the tests lets pass.
#pragma once

#include <memory>
#include <string>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/gateway_process.h"

namespace sluice::test {

/// Returns a rule of a policy that allows a host and a port.
inline std::string allowingHost(const std::string& name, const std::string& host, std::uint16_t port,
                                const std::string& more = "") {
  return allowing(name, "to: {hostnames: [" + host + "], ports: [" + std::to_string(port) + "]}" + more);
}

/// The alert of TLS by which a tunnel ends that is refused after its 200.
inline const std::string kAccessDenied("\x15\x03\x03\x00\x02\x02\x31", 7);

/// Returns the series of tunnels whose destinations clients alone have named.
inline std::string tunnelSeries(const std::string& family, const std::string& more) {
  return "sluice_" + family + "{gateway=\"test/egress\",route=\"\",backend=\"\"" + more + "}";
}
/// Returns the number of such tunnels that are open.
inline double openTunnels(const GatewayProcess& gateway) {
  return gateway.metric(tunnelSeries("tunnels", ",way=\"connect\""));
}

class ForwardProxy {
 public:
  ForwardProxy() {
    for (const char* name : {"a.test", "b.test", "c.test"}) addName(name, "127.0.0.1");
    addName("inner.test", "10.0.0.1");
    spec.listeners = listenerOf("HTTPPROXY");
    spec.routes = routed("");
  }

  /// Returns an HTTPRoute for routed.test at the proxy, with these rules in place of the usual one, which redirects.
  static std::string routed(const std::string& rules, const std::string& host = "routed.test") {
    const std::string redirect =
        "    - filters: [{type: RequestRedirect, requestRedirect: {hostname: elsewhere.test}}]\n";
    return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
           "metadata: {namespace: test, name: routed}\nspec:\n"
           "  parentRefs: [{name: egress, sectionName: proxy}]\n  hostnames: [" +
           host + "]\n  rules:\n" + (rules.empty() ? redirect : rules);
  }
  std::string listenerOf(const std::string& protocol, const std::string& more = "") const {
    return "    - {name: proxy, protocol: sluice.dev/" + protocol + ", port: " + std::to_string(port) + more + "}\n";
  }
  /// Adds a policy for the Gateway with these rules.
  void allow(const std::string& rules) { spec.routes += egressPolicy("p", kGatewayTarget, "rules: [" + rules + "]"); }
  void start() { gateway = std::make_unique<GatewayProcess>(spec); }
  void addName(const std::string& name, const std::string& address) {
    spec.backends.push_back({.name = "of-" + name, .hostname = name, .port = 9, .addresses = address});
  }

  BlockingSocket client() const { return BlockingSocket::connect(port); }
  /// Opens a tunnel to that authority, and returns the response.
  static ReceivedResponse connect(BlockingSocket& socket, const std::string& authority, const std::string& ahead = "") {
    socket.send("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n" + ahead);
    ReceivedResponse response;
    response.head = socket.readUntil("\r\n\r\n");
    if (response.head.size() > 12) response.status = std::stoi(response.head.substr(9, 3));
    return response;
  }

  const std::uint16_t port = freePort();
  GatewaySpec spec;
  std::unique_ptr<GatewayProcess> gateway;
};

}  // namespace sluice::test
