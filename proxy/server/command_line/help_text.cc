#include "proxy/server/command_line/help_text.h"

#include <algorithm>

namespace sluice::server {
namespace {

constexpr HelpSection kSections[] = {
    {"Configuration",
     "Gateway API objects in YAML: GatewayClass (controllerName sluice.dev/egress-gateway), Gateway, HTTPRoute, "
     "GRPCRoute, Backend, ConfigMap, Secret. The ConfigMap that GatewayClass.spec.parametersRef names has the key "
     "settings.yaml; flags override it. Files are read again when they change."},
    {"Examples",
     "  sluice run --listen 127.0.0.1:8080 --to https://api.example.com\n"
     "  sluice validate --config examples/quickstart\n"
     "  sluice run --config examples/quickstart --workers 2\n"
     "  source <(sluice completion bash)"},
    {"Ports",
     "Admin port: /status /revisions /events /explain /catalog /exchanges /metrics /log-level, POST /validate, POST "
     "/revisions/clear.\n"
     "Health port: /healthz /readyz /metrics."},
    {"Signals",
     "SIGHUP: reload files, reopen the access log.\n"
     "SIGTERM, SIGINT: finish requests, then exit; twice: exit at once.\n"
     "SIGUSR1: turn debug lines of the log on or off."},
    {"Exit status",
     "0: success.\n"
     "1: run, controller: the admin or the health port cannot be used. Other commands: the configuration, the cluster "
     "or the running gateway has a fault, or direct egress is not closed.\n"
     "2: wrong command line."},
};

/// Appends one paragraph, broken at blanks. A word that is longer than a line has a line of its own.
void appendWrapped(std::string& out, std::string_view paragraph, std::size_t indent, std::size_t width) {
  const std::string margin(indent, ' ');
  while (!paragraph.empty()) {
    std::size_t length = paragraph.size();
    if (indent + length > width) {
      length = paragraph.rfind(' ', width - indent);
      if (length == std::string_view::npos) length = std::min(paragraph.find(' '), paragraph.size());
    }
    out.append(margin).append(paragraph.substr(0, length)).append("\n");
    paragraph.remove_prefix(std::min(paragraph.size(), length + 1));
  }
}

}  // namespace

const std::string_view kRunNotes =
    "Without files:\n"
    "  sluice run --listen 127.0.0.1:8080 --to https://api.example.com\n"
    "forwards every request to that origin, with the origin's name as Host. https is verified by the authorities of "
    "the system, http is HTTP/1.1, h2c is HTTP/2 without TLS. Several --to share the requests equally, and the gateway "
    "listens on every --listen. A name may resolve to public addresses only; an IP address in --to may be of any kind, "
    "such as http://127.0.0.1:3000. --print-config prints the objects that --config would need.";

const std::string_view kExplainNotes =
    "Nothing is sent, and no payload processor runs. The scheme and the port of the URL choose the listener. Its host "
    "is "
    "also the name in the TLS handshake; a header Host replaces it in the request. A request with Content-Type "
    "application/grpc is HTTP/2, any other one HTTP/1.1. A running gateway gives the same answer on its admin port: "
    "/explain?method=GET&url=...&header=...&as=...&gateway=...&output=text";

const std::string_view kEgressCheckNotes =
    "Run it where a workload runs: in the same Pod, or in a Pod with the labels of the workload:\n"
    "  kubectl debug -n NAMESPACE POD --image=IMAGE -i -- /usr/bin/sluice check egress\n"
    "  kubectl run check -n NAMESPACE -l LABELS --image=IMAGE --restart=Never -i --rm -- check egress\n"
    "All targets are tried at the same time, and no data but a DNS query is sent. For each target, an unused address "
    "(of the ranges for documentation) is tried too. If it is refused as well, something on the way refuses. If it "
    "accepts a connection as well, something on the way accepts all connections, and the result is unclear.";

std::span<const HelpSection> helpSections() { return kSections; }

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.empty() || line.starts_with(' ')) {
      out.append(line).append("\n");
    } else {
      appendWrapped(out, line, indent, width);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return out;
}

std::string helpFooter() {
  std::string text;
  for (const HelpSection& section : kSections) {
    text.append(section.title).append(":\n").append(wrapped(section.text, 2)).append("\n");
  }
  text.pop_back();
  return text;
}

}  // namespace sluice::server
