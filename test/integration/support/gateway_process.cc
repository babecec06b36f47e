#include "test/integration/support/gateway_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

std::string indented(const std::string& text, const std::string& by) {
  std::istringstream in(text);
  std::string result;
  for (std::string line; std::getline(in, line);) result += by + line + "\n";
  return result;
}

/// Returns the settings with a time for payload processors that a loaded machine does not exceed either: the default is
/// short, as users want it. Tests of that timeout set it themselves.
std::string withPatience(const std::string& settings) {
  constexpr std::string_view kTimeouts = "timeouts: {";
  const std::size_t timeouts = settings.find(kTimeouts);
  if (timeouts == std::string::npos) {
    return settings + (settings.empty() || settings.back() == '\n' ? "" : "\n") + "timeouts: {processor: 30s}\n";
  }
  if (settings.find("processor:", timeouts) != std::string::npos) return settings;
  return std::string(settings).insert(timeouts + kTimeouts.size(), "processor: 30s, ");
}

std::string settingsDocument(const GatewaySpec& spec) {
  std::map<std::string, std::string> addresses;
  for (const BackendSpec& backend : spec.backends) {
    if (!backend.addresses.empty()) addresses[backend.hostname] = backend.addresses;
  }
  std::string hosts;
  for (const auto& [name, list] : addresses) hosts += (hosts.empty() ? "" : ", ") + name + ": [" + list + "]";
  const std::string settings = "workers: " + std::to_string(spec.workers) + "\ndns: {hosts: {" + hosts + "}" +
                               (spec.dns.empty() ? "" : ", " + spec.dns) + "}\naddressGuard: {allow: [" + spec.allow +
                               "]}\naccessLog: {path: \"" + spec.accessLog + "\"}\n" + withPatience(spec.settings);
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\nspec:\n"
         "  controllerName: sluice.dev/egress-gateway\n"
         "  parametersRef: {group: \"\", kind: ConfigMap, namespace: test, name: settings}\n---\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: settings}\ndata:\n  settings.yaml: |\n" +
         indented(settings, "    ");
}

std::string gatewayDocument(const GatewaySpec& spec, std::uint16_t port, std::uint16_t tlsPort) {
  std::string text =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\nspec:\n"
      "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n  listeners:\n"
      "    - {name: http, protocol: HTTP, port: " +
      std::to_string(spec.gatewayPort != 0 ? spec.gatewayPort : port) +
      (spec.hostname.empty() ? "" : ", hostname: \"" + spec.hostname + "\"") + "}\n";
  text += spec.listeners;
  if (spec.tls) {
    text += "    - {name: https, protocol: HTTPS, port: " + std::to_string(tlsPort) +
            ", tls: {mode: Terminate, certificateRefs: [{kind: Secret, name: listener}]}}\n" +
            tlsSecretOf("listener", *spec.tls);
  }
  return text;
}

std::string groupOf(const BackendSpec& backend) {
  return backend.tlsOptions.empty() ? "gateway.networking.k8s.io" : "sluice.dev";
}

std::string backendDocument(const BackendSpec& backend) {
  std::string text = "---\napiVersion: " + groupOf(backend) +
                     "/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: " + backend.name +
                     "}\nspec:\n  destination:\n    type: FQDN\n    fqdn: {hostname: " + backend.hostname +
                     ", port: " + std::to_string(backend.port) + "}\n";
  if (!backend.extensions.empty()) text += "  extensions: " + backend.extensions + "\n";
  if (backend.ca.empty()) return text;
  text += std::string("  tls:\n    mode: ") + (backend.client ? "Mutual" : "Terminate") + "\n";
  if (!backend.sni.empty()) text += "    sni: " + backend.sni + "\n";
  text += "    caBundleRef: {name: " + backend.name + "-ca}\n";
  if (backend.client) text += "    clientCertificateRef: {name: " + backend.name + "-client}\n";
  if (!backend.tlsOptions.empty()) text += "    options: {" + backend.tlsOptions + "}\n";
  text += "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: test, name: " + backend.name +
          "-ca}\ndata:\n  ca.crt: |\n" + indented(backend.ca, "    ");
  if (!backend.crl.empty()) text += "  crl.pem: |\n" + indented(backend.crl, "    ");
  if (backend.client) text += tlsSecretOf(backend.name + "-client", *backend.client);
  return text;
}

std::string routeDocument(const BackendSpec& backend) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: "
         "all}\nspec:\n"
         "  parentRefs: [{name: egress}]\n  rules:\n    - backendRefs: [{group: " +
         groupOf(backend) + ", kind: Backend, name: " + backend.name + ", port: " + std::to_string(backend.port) +
         "}]\n";
}

std::string documents(const GatewaySpec& spec, std::uint16_t port, std::uint16_t tlsPort) {
  if (!spec.text.empty()) return spec.text;
  std::string text = settingsDocument(spec) + gatewayDocument(spec, port, tlsPort);
  for (const BackendSpec& backend : spec.backends) text += backendDocument(backend);
  text += spec.routes.empty() ? routeDocument(spec.backends.at(0)) : "---\n" + spec.routes;
  return text;
}

/// Returns the text from the end of the key to the next quote; empty if the key is not there.
std::string textBehind(const std::string& json, const std::string& key) {
  const std::size_t at = json.find(key);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

bool complained(const std::string& errors) {
  return errors.find("Sanitizer") != std::string::npos || errors.find("runtime error:") != std::string::npos;
}

}  // namespace

std::string tlsSecretOf(const std::string& name, const CertifiedKey& identity, const std::string& nameSpace) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {namespace: " + nameSpace + ", name: " + name +
         "}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n" + indented(identity.certificate, "    ") +
         "  tls.key: |\n" + indented(identity.key, "    ");
}

GatewayProcess::GatewayProcess(const GatewaySpec& spec) {
  if (spec.files) folder_.write("gateway.yaml", documents(spec, port_, tlsPort_));
  argv_ = spec.startedBy;
  std::vector<std::string> program = {
      programPath(spec.program, spec.release),   "run",      "--admin",
      "127.0.0.1:" + std::to_string(adminPort_), "--health", "127.0.0.1:" + std::to_string(healthPort_)};
  if (spec.files) program.insert(program.end(), {"--config", folder_.path()});
  argv_.insert(argv_.end(), program.begin(), program.end());
  argv_.insert(argv_.end(), spec.options.begin(), spec.options.end());
  environment_ = spec.environment;
  waitFor_ = spec.waitFor;
  start();
}

void GatewayProcess::start() {
  process_ = std::make_unique<ChildProcess>(argv_, environment_);
  if (!hasStarted()) ADD_FAILURE() << "the gateway does not start as expected:\n" << process_->errors();
}

bool GatewayProcess::hasStarted() const {
  if (!waitForPort(healthPort_)) return false;
  switch (waitFor_) {
    case Started::kReady:
      return eventually([this] { return isReady(); });
    case Started::kListening:
      return waitForPort(port_);
    case Started::kLive:
      break;
  }
  return true;
}

void GatewayProcess::kill() {
  process_->signal(SIGKILL);
  process_->wait();
}

void GatewayProcess::startAgain() { start(); }

bool GatewayProcess::isReady() const {
  BlockingSocket socket = BlockingSocket::connect(healthPort_);
  socket.send("GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  return readResponse(socket).status == 200;
}

GatewayProcess::~GatewayProcess() {
  process_->signal(SIGTERM);
  const int code = process_->wait();
  EXPECT_EQ(code, 0) << process_->errors();
  EXPECT_FALSE(complained(process_->errors())) << process_->errors();
}

// The file is replaced in one step, as a careful operator does it, so that the gateway never reads half a file.
void GatewayProcess::replaceFile(const std::string& text) const {
  std::filesystem::rename(folder_.write("gateway.yaml.new", text), folder_.path() + "/gateway.yaml");
}

void GatewayProcess::rewrite(const GatewaySpec& spec) const { replaceFile(documents(spec, port_, tlsPort_)); }

void GatewayProcess::reload(const GatewaySpec& spec, const std::string& result) {
  reloadText(documents(spec, port_, tlsPort_), result);
}

void GatewayProcess::reloadText(const std::string& text, const std::string& result) {
  const std::string series = "sluice_config_reloads_total{result=\"" + result + "\"}";
  const double before = metric(series);
  replaceFile(text);
  process_->signal(SIGHUP);
  if (!reaches(series, before + 1)) {
    ADD_FAILURE() << "no reload ended with " << result << ":\n" << process_->errors();
  }
}

void GatewayProcess::beginToDrain() const {
  process_->signal(SIGTERM);
  if (!process_->waitForLine("draining")) ADD_FAILURE() << "it does not drain:\n" << process_->errors();
  // The gateway logs this line before it notifies the workers. Each of them must answer for this page, and handles that
  // after the drain.
  adminGet("/exchanges");
}

std::string GatewayProcess::url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

std::string GatewayProcess::adminGet(const std::string& target) const {
  BlockingSocket socket = BlockingSocket::connect(adminPort_);
  socket.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  return readResponse(socket).body;
}

std::string GatewayProcess::metrics() const { return adminGet("/metrics"); }

double GatewayProcess::metric(const std::string& series) const {
  std::istringstream in(metrics());
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(series)) return std::stod(line.substr(line.rfind(' ') + 1));
  }
  return 0;
}

bool GatewayProcess::reaches(const std::string& series, double least, std::chrono::milliseconds patience) const {
  return eventually([&] { return metric(series) >= least; }, patience);
}

EchoOrigin::EchoOrigin(const std::optional<CertifiedKey>& identity, const std::vector<std::string>& options,
                       bool release) {
  std::vector<std::string> argv = {programPath("sluice-echo", release)};
  if (std::find(options.begin(), options.end(), "--listen") == options.end()) {
    argv.insert(argv.end(), {"--listen", "127.0.0.1:0"});
  }
  if (identity) {
    const auto more = {std::string("--tls-cert"), folder_.write("origin.crt", identity->certificate),
                       std::string("--tls-key"), folder_.write("origin.key", identity->key)};
    argv.insert(argv.end(), more);
  }
  argv.insert(argv.end(), options.begin(), options.end());
  process_ = std::make_unique<ChildProcess>(argv);
  const auto line = process_->waitForLine("listening on ");
  if (!line) {
    ADD_FAILURE() << "sluice-echo does not serve:\n" << process_->errors();
    return;
  }
  port_ = static_cast<std::uint16_t>(std::stoul(line->substr(line->rfind(':') + 1)));
}

std::string programPath(const std::string& name, bool release) {
  const std::string optimised = std::string(SLUICE_SOURCE_DIR "/build/release/") + name;
  if (release && std::filesystem::exists(optimised)) return optimised;
  const char* folder = std::getenv("SLUICE_PROGRAMS");
  return std::string(folder != nullptr ? folder : SLUICE_PROGRAMS) + "/" + name;
}

bool waitForPort(std::uint16_t port, std::chrono::milliseconds patience) {
  return eventually([&] { return BlockingSocket::connect(port).ok(); }, patience);
}

std::string echoed(const std::string& json, const std::string& member) {
  return textBehind(json, "\"" + member + "\": \"");
}

std::string memberOf(const std::string& json, const std::string& member) {
  return textBehind(json, "\"" + member + "\":\"");
}

}  // namespace sluice::test
