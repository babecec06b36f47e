#include "proxy/server/command_line/help_text.h"

#include <algorithm>

namespace sluice::server {
namespace {

constexpr HelpSection kSections[] = {
    {"Configuration",
     "Gateway API objects in YAML: GatewayClass (controllerName sluice.dev/egress-gateway), Gateway, HTTPRoute, "
     "GRPCRoute, Backend, ConfigMap, Secret. The ConfigMap that GatewayClass.spec.parametersRef names holds "
     "settings.yaml; a flag beats it. Files that change are read again."},
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
     "SIGHUP has files read at once and the access log opened anew. SIGTERM or SIGINT lets requests end and stops; a "
     "second one does not wait. SIGUSR1 turns debug lines of the log on and off."},
    {"Exit status",
     "0 done; 1 the admin or the health port cannot be used, or for other commands the configuration or the running "
     "gateway is at fault, or direct egress is not closed; 2 wrong command line."},
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
    "listens at every --listen. A name is dialled only at public addresses; an address that stands in --to itself may "
    "be any, such as http://127.0.0.1:3000. --print-config prints the objects to go on with.";

const std::string_view kExplainNotes =
    "Nothing is sent, and no payload processor runs. The URL says which listener is asked: its scheme and its port, "
    "and its host also stands for the name in the TLS handshake, while a header Host replaces it in the request. A "
    "request with Content-Type application/grpc is HTTP/2, any other one HTTP/1.1. A running gateway answers the same "
    "on its admin port: "
    "/explain?method=POST&url=...&header=...&clientAddress=...&gateway=...&output=text";

const std::string_view kEgressCheckNotes =
    "Run it where a workload runs: beside it in its Pod, or in a Pod with the labels of the workload:\n"
    "  kubectl debug -n NAMESPACE POD --image=IMAGE -i -- /usr/bin/sluice check egress\n"
    "  kubectl run check -n NAMESPACE -l LABELS --image=IMAGE --restart=Never -i --rm -- check egress\n"
    "Everything is tried at once, and nothing but a question for DNS is sent. Beside each target an address where "
    "nobody is, of the ranges for documentation, is tried too: where it is refused as well, something on the way has "
    "refused; where it is connected as well, something on the way takes all connections, and nothing is shown.";

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
