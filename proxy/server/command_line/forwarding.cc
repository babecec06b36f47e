#include "proxy/server/command_line/forwarding.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "proxy/server/command_line/endpoint.h"
#include "proxy/server/command_line/origin_url.h"
#include "proxy/server/command_line/shell_text.h"

namespace sluice::server {
namespace {

/// The bounds of Gateway API's lists.
constexpr std::size_t kMostOrigins = 16;
constexpr std::size_t kMostListen = 32;

/// An address with all ports at which the gateway listens there. Each becomes a Gateway.
struct ListenAddress {
  std::string address;  // empty: all of the machine
  std::vector<std::uint16_t> ports;

  bool isAny() const { return address.empty() || address == "0.0.0.0" || address == "::"; }
};

/// Returns the error of a flag's value, which is not shown if it may contain a password.
base::Error flagError(const std::string& flag, const std::string& value, const std::string& what) {
  return base::Error::config(flag + (value.find('@') == std::string::npos ? " " + value : "") + ": " + what);
}

base::Result<ListenAddress> readListen(const std::string& text) {
  const bool any = text.starts_with(':');
  const auto endpoint = parseEndpoint(any ? "[::]" + text : text);
  if (!endpoint || endpoint->port() == 0) {
    return flagError("--listen", text,
                     "must be ADDRESS:PORT, as 127.0.0.1:8080 or [::1]:8080, or :8080 for all addresses");
  }
  return ListenAddress{any ? "" : endpoint->ip(), {endpoint->port()}};
}

/// Returns "origin", "origin-2", "origin-3": objects of one kind have different names.
std::string numbered(std::string_view name, std::size_t index) {
  return std::string(name) + (index == 0 ? "" : "-" + std::to_string(index + 1));
}

std::string classText(const std::vector<std::string>& allow) {
  std::string text =
      "# The objects that --listen and --to of `sluice run` stand for.\n"
      "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: sluice}\nspec:\n"
      "  controllerName: sluice.dev/egress-gateway\n";
  if (allow.empty()) return text;
  return text +
         "  parametersRef: {group: \"\", kind: ConfigMap, namespace: default, name: settings}\n---\n"
         "# Addresses that are not public may be dialled only if they stand here.\n"
         "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: default, name: settings}\ndata:\n"
         "  settings.yaml: |\n    addressGuard: {allow: [\"" +
         joinedBy("\", \"", allow) + "\"]}\n";
}

std::string gatewayText(const std::string& name, const ListenAddress& at) {
  std::string text =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: default, name: " + name +
      "}\nspec:\n  gatewayClassName: sluice\n";
  if (!at.address.empty()) text += "  addresses: [{type: IPAddress, value: \"" + at.address + "\"}]\n";
  text += "  listeners:\n";
  for (const std::uint16_t port : at.ports) {
    const std::string number = std::to_string(port);
    text.append("    - {name: http-").append(number).append(", protocol: HTTP, port: ").append(number).append("}\n");
  }
  return text;
}

std::string routeText(std::size_t gateways, std::size_t origins) {
  std::vector<std::string> parents;
  for (std::size_t i = 0; i < gateways; ++i) parents.push_back("{name: " + numbered("gateway", i) + "}");
  std::string text =
      "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: default, name: "
      "everything}\nspec:\n  parentRefs: [" +
      joinedBy(", ", parents) + "]\n  rules:\n    - backendRefs:\n";
  for (std::size_t i = 0; i < origins; ++i) {
    text += "        - {group: sluice.dev, kind: Backend, name: " + numbered("origin", i) + "}\n";
  }
  return text;
}

std::string backendText(const std::string& name, const OriginUrl& origin) {
  const std::string destination = origin.isAddress ? "    type: Ip\n    ip: {address: \"" + origin.host + "\"}\n"
                                                   : "    type: Fqdn\n    fqdn: {hostname: \"" + origin.host + "\"}\n";
  return "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: default, name: " + name +
         "}\nspec:\n  destination:\n" + destination + "    ports: [{number: " + std::to_string(origin.port) +
         std::string(origin.portMembers) + "}]\n";
}

/// Returns where to listen, in the order of the flags.
base::Result<std::vector<ListenAddress>> readAllListen(const std::vector<std::string>& listen) {
  if (listen.size() > kMostListen) return base::Error::config("--listen: there are more than 32");
  std::vector<ListenAddress> all;
  for (const std::string& text : listen) {
    auto read = readListen(text);
    if (!read) return read.error();
    ListenAddress* known = nullptr;
    for (ListenAddress& other : all) {
      const bool meet = other.address == read->address || other.isAny() || read->isAny();
      const bool taken = std::find(other.ports.begin(), other.ports.end(), read->ports.front()) != other.ports.end();
      if (meet && taken) return flagError("--listen", text, "another --listen has this address and port");
      if (other.address == read->address) known = &other;
    }
    if (known == nullptr) {
      all.push_back(*std::move(read));
    } else {
      known->ports.push_back(read->ports.front());
    }
  }
  return all;
}

}  // namespace

base::Result<std::string> forwardingObjects(const std::vector<std::string>& listen,
                                            const std::vector<std::string>& to) {
  const auto addresses = readAllListen(listen);
  if (!addresses) return addresses.error();
  if (to.size() > kMostOrigins) return base::Error::config("--to: there are more than 16");
  std::vector<std::string> allow;
  std::string backends;
  std::size_t origins = 0;
  for (const std::string& text : to) {
    const auto origin = parseOriginUrl(text);
    if (!origin) return flagError("--to", text, origin.error().detail);
    const bool known = std::find(allow.begin(), allow.end(), origin->allowance) != allow.end();
    if (!origin->allowance.empty() && !known) allow.push_back(origin->allowance);
    backends += backendText(numbered("origin", origins++), *origin);
  }
  std::string text = classText(allow);
  std::size_t gateways = 0;
  for (const ListenAddress& each : *addresses) text += gatewayText(numbered("gateway", gateways++), each);
  return text + routeText(gateways, origins) + backends;
}

}  // namespace sluice::server
