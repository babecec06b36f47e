#include "test/soak/variant.h"

namespace sluice::soak {
namespace {

std::string number(int value) { return std::to_string(value); }

std::string backendRef(const std::string& name, int weight = 1) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + ", weight: " + number(weight) + "}";
}

std::string rule(const std::string& path, const std::string& refs, const std::string& moreFilters = {}) {
  return "    - matches: [{path: {type: PathPrefix, value: " + path + "}}]\n      filters:\n" + moreFilters +
         "        - {type: URLRewrite, urlRewrite: {path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}}\n"
         "      backendRefs: [" +
         refs + "]\n";
}

std::string route(const std::string& name, const std::string& rules) {
  return "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n" + rules;
}

std::string headerFilter(const std::string& type, const std::string& member, const std::string& value) {
  return "        - {type: " + type + ", " + member + ": {set: [{name: x-version, value: \"" + value + "\"}]}}\n";
}

std::string mirror(const std::string& name) {
  return "        - {type: RequestMirror, requestMirror: {percent: 50, backendRef: {group: gateway.networking.k8s.io, "
         "kind: Backend, name: " +
         name + "}}}\n";
}

std::string versionRoute(const Variant& variant) {
  if (variant.misspelt) return route("version", "    - backendRef: []\n");
  const std::string value = number(variant.version);
  return route("version", rule("/version", backendRef("main"),
                               headerFilter("RequestHeaderModifier", "requestHeaderModifier", value) +
                                   headerFilter("ResponseHeaderModifier", "responseHeaderModifier", value)));
}

}  // namespace

Variant Variant::next(std::mt19937& random) const {
  const auto coin = [&] { return random() % 2 == 0; };
  Variant other = *this;
  ++other.version;
  other.misspelt = false;
  other.takenPort = false;
  // The main Backend changes only in some reloads, so that connections live through reloads too.
  if (random() % 4 == 0) other.second = coin();
  if (random() % 8 == 0) other.moreTrust = coin();
  if (random() % 8 == 0) other.presents = coin();
  other.pinnedRight = coin();
  other.otherIssuer = coin();
  other.extraListener = coin();
  other.impatient = coin();
  other.insistent = coin();
  other.mirrored = coin();
  other.append = coin();
  for (int& weight : other.weights) weight = 1 + static_cast<int>(random() % 10);
  if (coin()) other.weights[random() % 2] = 0;
  for (bool& endpoint : other.ready) endpoint = coin();
  if (!other.ready[0] && !other.ready[1]) other.ready[random() % 2] = true;
  if (random() % 4 == 0) other.priorKnowledge = coin();
  other.bodyIdle = 10 + static_cast<int>(random() % 5);
  for (bool& there : other.extraRoutes) there = coin();
  return other;
}

std::string routesOf(const Variant& variant) {
  std::string text =
      "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: strict}\nspec:\n"
      "  parentRefs: [{name: egress}]\n  rules:\n    - backendRefs: [" +
      backendRef("main") + "]\n    - matches: [{path: {type: PathPrefix, value: /sluice.test.Echo}}]\n" +
      "      backendRefs: [" + backendRef("grpc") + "]\n";
  text += rule("/plain", backendRef("plain"), variant.mirrored ? mirror("rough") + mirror("gone") : "");
  for (const char* name : {"files", "flip", "gone", "never", "pinned", "socket"}) {
    text += rule(std::string("/") + name, backendRef(name));
  }
  text += rule("/service", "{name: service, port: 80}");
  text += rule("/rough", backendRef("rough")) + (variant.impatient ? "      timeouts: {request: 4s}\n" : "") +
          (variant.insistent ? "      retry: {codes: [502, 503], attempts: 3, backoff: 20ms}\n" : "");
  text += rule("/weighted", backendRef("main", variant.weights[0]) + ", " + backendRef("plain", variant.weights[1]));
  text += versionRoute(variant);
  for (int i = 0; i < Variant::kExtraRoutes; ++i) {
    const std::string name = "extra-" + number(i);
    if (variant.extraRoutes[static_cast<std::size_t>(i)]) text += route(name, rule("/" + name, backendRef("plain")));
  }
  return text;
}

std::string serviceOf(const Variant& variant, const std::string& network, int firstHost, std::uint16_t port) {
  std::string text =
      "apiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: service}\nspec: {ports: [{name: web, port: 80";
  text += variant.priorKnowledge ? ", appProtocol: kubernetes.io/h2c}]}\n" : "}]}\n";
  text +=
      "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: service-1, labels: "
      "{kubernetes.io/service-name: service}}\naddressType: IPv4\nports: [{name: web, port: " +
      number(port) + "}]\nendpoints:\n";
  for (std::size_t i = 0; i < variant.ready.size(); ++i) {
    text += "  - {addresses: [" + network + number(firstHost + static_cast<int>(i)) +
            "], conditions: {ready: " + (variant.ready[i] ? "true" : "false") + "}}\n";
  }
  return text;
}

}  // namespace sluice::soak
