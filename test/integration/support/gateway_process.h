// Runs the gateway as its users do: the binary, on YAML written for the test, with ports of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "test/integration/support/blocking_socket.h"
#include "test/integration/support/child_process.h"
#include "test/support/test_pki.h"

namespace sluice::test {

struct BackendSpec {
  std::string name = "origin";
  std::string hostname = "origin.test";  // mapped to `addresses` in the settings
  std::uint16_t port = 0;
  std::string ca = {};  // PEM; empty: plain HTTP
  std::string sni = {};
  std::optional<CertifiedKey> client = std::nullopt;  // for mode Mutual
  std::string addresses = "127.0.0.1";                // list in YAML; empty: resolved by DNS
  std::string crl = {};                               // PEM, beside `ca`
  /// Members of tls.options, such as "sluice.dev/min-tls-version: \"1.3\""; the Backend then is one of sluice.dev.
  std::string tlsOptions = {};
  std::string extensions = {};  // list in YAML
};

/// The sign that a gateway has started.
enum class Started : std::uint8_t {
  kReady,      // every listener is open
  kListening,  // the plain listener is open, though its settings cannot be served
  kLive        // the health port is open: nothing else is expected yet
};

struct GatewaySpec {
  std::vector<BackendSpec> backends;
  /// Lines of settings.yaml besides the defaults of the tests, such as "timeouts: {requestHeader: 300ms}". Without
  /// another value, timeouts.processor is 30s.
  std::string settings = {};
  /// Documents instead of the one HTTPRoute that sends everything to the first backend.
  std::string routes = {};
  /// Identity of an HTTPS listener besides the plain one.
  std::optional<CertifiedKey> tls = std::nullopt;
  /// Further listeners, as lines of YAML: "    - {name: more, protocol: HTTP, port: 12345}".
  std::string listeners = {};
  /// Hostname of the plain listener; empty: any.
  std::string hostname = {};
  /// Port of the plain listener; 0: the one that port() returns.
  std::uint16_t gatewayPort = 0;
  int workers = 1;
  /// Members of settings.yaml's dns besides hosts, such as "servers: [\"127.0.0.1:5353\"], minTtl: 2s".
  std::string dns = {};
  /// Value of addressGuard.allow, as a list in YAML.
  std::string allow = "127.0.0.0/8";
  /// "sluice-asking" is the gateway with acme.test/Ask:v1 and acme.test/Script:v1 (test/support/asking).
  std::string program = "sluice";
  /// True runs the optimised binary if it was built: for tests that measure, not for tests of correctness.
  bool release = false;
  std::string accessLog = "/dev/stdout";
  /// Flags besides those that every test needs, such as {"--log-level", "debug"}.
  std::vector<std::string> options = {};
  /// A program that executes the gateway, with its arguments: {"prlimit", "--nofile=256:256"}.
  std::vector<std::string> startedBy = {};
  /// Variables as "NAME=value", besides the inherited ones.
  std::vector<std::string> environment = {};
  /// The configuration in place of all that the members above make of it.
  std::string text = {};
  /// False if there are no files at all: `options` name the source of the configuration.
  bool files = true;
  Started waitFor = Started::kReady;
};

/// Returns a Secret of type kubernetes.io/tls as a document of its own.
std::string tlsSecretOf(const std::string& name, const CertifiedKey& identity, const std::string& nameSpace = "test");

/// Returns the limits of settings.yaml with these members, as a line.
inline std::string limits(const std::string& members) { return "limits: {" + members + "}\n"; }

/// Returns a configuration that sends everything to this origin.
template <typename Origin>
GatewaySpec towards(const Origin& origin, const std::string& settings = {}) {
  GatewaySpec spec;
  spec.backends = {{.port = origin.port()}};
  spec.settings = settings;
  return spec;
}

class GatewayProcess {
 public:
  /// Returns when the gateway has started as `spec.waitFor` says; it is a test failure if it never does.
  explicit GatewayProcess(const GatewaySpec& spec);
  /// Stops the gateway by SIGTERM: an exit code or a sanitizer's report is a test failure.
  ~GatewayProcess();

  /// Ends the gateway as a lost machine would. Its configuration and its ports stay.
  void kill();
  /// Restarts it. Returns when it has started.
  void startAgain();

  /// Serves `spec` from now on, but for its workers, release and environment. Returns when sluice_config_reloads_total
  /// has counted the result; it is a test failure if it never does.
  void reload(const GatewaySpec& spec, const std::string& result = "success");
  /// Reloads any text as the configuration.
  void reloadText(const std::string& text, const std::string& result);
  /// Write `spec`, or any text, over the configuration, and send no signal.
  void rewrite(const GatewaySpec& spec) const;
  void replaceFile(const std::string& text) const;
  /// Returns the text of its configuration.
  std::string configuration() const { return readFile(folder_.path() + "/gateway.yaml"); }
  /// Returns true once /readyz answers 200.
  bool isReady() const;

  /// Sends SIGTERM while exchanges are in flight. Returns when every worker is draining.
  void beginToDrain() const;

  std::uint16_t port() const { return port_; }
  std::uint16_t tlsPort() const { return tlsPort_; }
  std::uint16_t adminPort() const { return adminPort_; }
  std::uint16_t healthPort() const { return healthPort_; }
  /// Returns "http://127.0.0.1:PORT" + target.
  std::string url(const std::string& target) const;
  ChildProcess& process() { return *process_; }
  /// Waits for at least `count` lines of the access log, and returns them.
  std::vector<std::string> accessLog(std::size_t count) { return process_->waitForLines(count); }
  /// Returns the body of a page of the admin port.
  std::string adminGet(const std::string& target) const;
  /// Returns the metrics page as text.
  std::string metrics() const;
  /// Returns the value of the one series whose line begins with `series`; 0 if there is none.
  double metric(const std::string& series) const;
  /// Returns true as soon as metric(series) is at least `least`.
  bool reaches(const std::string& series, double least, std::chrono::milliseconds patience = kPatience) const;
  /// Returns sluice_limit_hits_total of a key of settings.yaml.
  double limitHits(const std::string& key) const { return metric(limitSeries(key)); }
  /// Returns true as soon as the limit was hit once.
  bool limitWasHit(const std::string& key) const { return reaches(limitSeries(key), 1); }

 private:
  static std::string limitSeries(const std::string& key) { return "sluice_limit_hits_total{limit=\"" + key + "\"}"; }
  void start();
  bool hasStarted() const;

  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::uint16_t tlsPort_ = freePort();
  std::uint16_t adminPort_ = freePort();
  std::uint16_t healthPort_ = freePort();
  std::vector<std::string> argv_;
  std::vector<std::string> environment_;
  Started waitFor_ = Started::kReady;
  std::unique_ptr<ChildProcess> process_;
};

/// Runs sluice-echo as an origin. Without an identity it uses plain HTTP.
class EchoOrigin {
 public:
  explicit EchoOrigin(const std::optional<CertifiedKey>& identity, const std::vector<std::string>& options = {},
                      bool release = false);

  std::uint16_t port() const { return port_; }
  ChildProcess& process() { return *process_; }

 private:
  TempDir folder_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
};

/// Returns the path of a program of this build, or of build/release if `release` is set and it was built.
std::string programPath(const std::string& name, bool release = false);

/// Waits until 127.0.0.1:port accepts connections.
bool waitForPort(std::uint16_t port, std::chrono::milliseconds patience = kPatience);

/// Returns a string member of the JSON that sluice-echo answers with; empty if it is not there.
std::string echoed(const std::string& json, const std::string& member);
/// Returns a string member of the JSON of the gateway: of an error answer, or of a line of the access log.
std::string memberOf(const std::string& json, const std::string& member);

}  // namespace sluice::test
