// A forward proxy for its real clients, with origins that only it can find: dnsmasq knows their name, and nobody else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/name_server.h"
#include "test/integration/support/node/node_origin.h"
#include "test/integration/support/processors.h"
#include "test/support/passwords.h"

namespace sluice::test {

class ClientStage {
 public:
  ClientStage() { gateway_ = std::make_unique<GatewayProcess>(spec()); }

  /// The proxy, for clients that reach it without TLS and with it.
  std::string proxy() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::string tlsProxy() const { return "https://localhost:" + std::to_string(tlsPort_); }
  /// The proxy that asks for a name and a password, with these.
  std::string members() const { return "http://ann:secret@127.0.0.1:" + std::to_string(membersPort_); }
  GatewayProcess& gateway() { return *gateway_; }

  /// sluice-echo without TLS and with it, as "http://origin.test:PORT".
  std::string plain() const { return "http://" + at(plain_.port()); }
  std::string secure() const { return "https://" + at(secure_.port()); }
  /// Starts a server of test/integration/clients, and returns "origin.test:PORT".
  std::string start(const std::string& script, bool tls) {
    origins_.push_back(std::make_unique<NodeOrigin>(script, tls ? std::optional(identity_) : std::nullopt));
    return at(origins_.back()->port());
  }

  static std::string at(std::uint16_t port) { return "origin.test:" + std::to_string(port); }
  /// Of the origin; its issuer is in the file.
  const CertifiedKey& identity() const { return identity_; }
  const std::string& authorities() const { return authorities_; }

  /// Returns the command as it is run by somebody who has set the usual variables for proxies and authorities.
  std::vector<std::string> inEnvironment(const std::vector<std::string>& command) const {
    return inEnvironmentOf(proxy(), command);
  }
  std::vector<std::string> inEnvironmentOf(const std::string& address, const std::vector<std::string>& command) const {
    std::vector<std::string> argv = {"env", "-u", "no_proxy", "-u", "NO_PROXY", "-u", "all_proxy", "-u", "ALL_PROXY"};
    for (const char* variable : {"http_proxy=", "https_proxy=", "HTTPS_PROXY=", "grpc_proxy="}) {
      argv.push_back(variable + address);
    }
    for (const char* variable : {"SSL_CERT_FILE=", "CURL_CA_BUNDLE=", "REQUESTS_CA_BUNDLE=", "NODE_EXTRA_CA_CERTS="}) {
      argv.push_back(variable + authorities_);
    }
    argv.insert(argv.end(), command.begin(), command.end());
    return argv;
  }

 private:
  GatewaySpec spec() const {
    GatewaySpec spec;
    spec.dns = "servers: [\"" + names_.address() + "\"]";
    spec.listeners = "    - {name: proxy, protocol: sluice.dev/HTTPPROXY, port: " + std::to_string(port_) +
                     "}\n    - {name: proxies, protocol: sluice.dev/HTTPSPROXY, port: " + std::to_string(tlsPort_) +
                     ", tls: {certificateRefs: [{name: proxies}]}}\n"
                     "    - {name: members, protocol: sluice.dev/HTTPPROXY, port: " +
                     std::to_string(membersPort_) + "}\n";
    spec.routes =
        egressPolicy("origins", kGatewayTarget,
                     "rules: [" + allowing("all", "to: {hostnames: [origin.test], ports: ['1-65535']}") + "]") +
        tlsSecretOf("proxies", issueServer(authority_, "localhost"));
    // What the gateway itself originates TLS to is verified against the system's authorities.
    spec.environment = {"SSL_CERT_FILE=" + authorities_};
    return spec;
  }

  const CertifiedKey authority_ = makeAuthority();
  const CertifiedKey identity_ = issueServer(authority_, "origin.test");
  TempDir folder_;
  const std::string authorities_ = folder_.write("ca.crt", authority_.certificate);
  const NameServer names_{{{"origin.test", {"127.0.0.1"}}}};
  const EchoOrigin plain_{std::nullopt};
  const EchoOrigin secure_{identity_};
  std::vector<std::unique_ptr<NodeOrigin>> origins_;
  const std::uint16_t port_ = freePort();
  const std::uint16_t tlsPort_ = freePort();
  const std::uint16_t membersPort_ = freePort();
  std::unique_ptr<GatewayProcess> gateway_;
};

}  // namespace sluice::test
