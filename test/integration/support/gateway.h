// The gateway as its users run it: the binary, on YAML written for the test, with ports of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/process.h"
#include "test/integration/support/socket.h"
#include "test/support/test_pki.h"

namespace sluice::test {

struct BackendSpec {
  std::string name = "origin";
  std::string hostname = "origin.test";  // settings map it to `addresses`
  std::uint16_t port = 0;
  std::string ca = {};  // PEM; empty: plain HTTP
  std::string sni = {};
  std::optional<Identity> client = std::nullopt;  // mode Mutual
  std::string addresses = "127.0.0.1";            // as a list in YAML; empty: ask DNS
  std::string crl = {};                           // PEM, beside `ca`
  /// Members of tls.options, "sluice.dev/min-tls-version: \"1.3\""; makes it a Backend of sluice.dev.
  std::string tlsOptions = {};
  std::string extensions = {};  // as a list in YAML
};

struct GatewaySpec {
  std::vector<BackendSpec> backends;
  /// Lines of settings.yaml besides the defaults of the tests: "timeouts: {requestHeader: 300ms}".
  std::string settings = {};
  /// Documents instead of the one HTTPRoute that sends everything to the first backend.
  std::string routes = {};
  /// Besides the plain listener, an HTTPS one with this identity.
  std::optional<Identity> tls = std::nullopt;
  /// Further listeners, as lines of YAML: "    - {name: more, protocol: HTTP, port: 12345}".
  std::string listeners = {};
  /// Of the plain listener; empty: any.
  std::string hostname = {};
  int workers = 1;
  /// Members of settings.yaml's dns besides hosts: "servers: [\"127.0.0.1:5353\"], minTtl: 2s".
  std::string dns = {};
  /// addressGuard.allow, as a list in YAML.
  std::string allow = "127.0.0.0/8";
  /// "sluice-asking": with acme.test/Ask:v1 (test/support/asking).
  std::string program = "sluice";
  /// The optimised binary if it was built: for what counts, not for what is correct.
  bool release = false;
  std::string accessLog = "/dev/stdout";
  /// Flags besides those that every test needs: {"--log-level", "debug"}.
  std::vector<std::string> options = {};
  /// A program that becomes the gateway, with what it needs for that: {"prlimit", "--nofile=256:256"}.
  std::vector<std::string> startedBy = {};
  /// "NAME=value", besides what it inherits.
  std::vector<std::string> environment = {};
};

/// A Secret of type kubernetes.io/tls as a document of its own.
std::string tlsSecretOf(const std::string& name, const Identity& identity, const std::string& nameSpace = "test");

/// The limits of settings.yaml with these members, as a line.
inline std::string limits(const std::string& members) { return "limits: {" + members + "}\n"; }

class Gateway {
 public:
  /// Returns when it is ready; a test failure if it never is.
  explicit Gateway(const GatewaySpec& spec);
  /// Stops it by SIGTERM: an exit code or a sanitizer's complaint is a test failure.
  ~Gateway();

  /// Serves `spec` from now on; its workers, release and environment do not count. Returns when
  /// sluice_config_reloads_total has counted the result; a test failure if it never does.
  void reload(const GatewaySpec& spec, const std::string& result = "success");
  /// The same with any text for a configuration.
  void reloadText(const std::string& text, const std::string& result);
  /// Writes `spec` over the configuration, and says nothing.
  void rewrite(const GatewaySpec& spec) const;

  /// SIGTERM, while something is in flight. Returns when every worker knows of it.
  void beginToDrain() const;

  std::uint16_t port() const { return port_; }
  std::uint16_t tlsPort() const { return tlsPort_; }
  std::uint16_t adminPort() const { return adminPort_; }
  std::uint16_t healthPort() const { return healthPort_; }
  /// "http://127.0.0.1:PORT" + target.
  std::string url(const std::string& target) const;
  Process& process() { return *process_; }
  /// At least `count` lines of the access log.
  std::vector<std::string> accessLog(std::size_t count) { return process_->waitForLines(count); }
  /// The body of a page of the admin port.
  std::string adminGet(const std::string& target) const;
  /// The metrics page, as text.
  std::string metrics() const;
  /// The value of the one series whose line begins with `series`; 0 if there is none.
  double metric(const std::string& series) const;
  /// True as soon as metric(series) is at least `least`.
  bool reaches(const std::string& series, double least, std::chrono::milliseconds patience = kPatience) const;
  /// sluice_limit_hits_total of a key of settings.yaml.
  double limitHits(const std::string& key) const { return metric(limitSeries(key)); }
  /// True as soon as there was one.
  bool limitWasHit(const std::string& key) const { return reaches(limitSeries(key), 1); }

 private:
  static std::string limitSeries(const std::string& key) { return "sluice_limit_hits_total{limit=\"" + key + "\"}"; }
  void replaceFile(const std::string& text) const;

  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::uint16_t tlsPort_ = freePort();
  std::uint16_t adminPort_ = freePort();
  std::uint16_t healthPort_ = freePort();
  std::unique_ptr<Process> process_;
};

/// sluice-echo as an origin. Without an identity it speaks plain HTTP.
class EchoOrigin {
 public:
  explicit EchoOrigin(const std::optional<Identity>& identity, const std::vector<std::string>& options = {},
                      bool release = false);

  std::uint16_t port() const { return port_; }
  Process& process() { return *process_; }

 private:
  TempDir folder_;
  std::unique_ptr<Process> process_;
  std::uint16_t port_ = 0;
};

/// The path of a program of this build; of build/release if `release` is wanted and it was built.
std::string programPath(const std::string& name, bool release = false);

/// Waits until 127.0.0.1:port takes connections.
bool waitForPort(std::uint16_t port, std::chrono::milliseconds patience = kPatience);

/// The JSON string member of what sluice-echo describes; empty if it is not there.
std::string echoed(const std::string& json, const std::string& member);

}  // namespace sluice::test
