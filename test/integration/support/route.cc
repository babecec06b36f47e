#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

std::string curl(std::vector<std::string> argv, const GatewayProcess& gateway, const std::string& target,
                 const std::vector<std::string>& more) {
  argv.push_back(gateway.url(target));
  argv.insert(argv.end(), more.begin(), more.end());
  return run(argv).output;
}

}  // namespace

std::string routeOfRules(const std::string& rules, const std::string& name) {
  return "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: " + name +
         "}\nspec:\n  parentRefs: [{name: egress}]\n  rules:\n" + rules;
}

std::string backendRef(const std::string& name, const std::string& more) {
  return "{group: gateway.networking.k8s.io, kind: Backend, name: " + name + more + "}";
}

std::string backendRefs(const std::string& more) { return "      backendRefs: [" + backendRef("origin", more) + "]\n"; }

std::string serviceOf(const std::string& name, std::uint16_t endpoint, const std::string& port) {
  const std::string portName = port.substr(port.find(':') + 2, port.find(',') - port.find(':') - 2);
  return "---\napiVersion: v1\nkind: Service\nmetadata: {namespace: test, name: " + name + "}\nspec: {ports: [" + port +
         "]}\n---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: test, name: " + name +
         "-1, labels: {kubernetes.io/service-name: " + name + "}}\naddressType: IPv4\nports: [{name: " + portName +
         ", port: " + std::to_string(endpoint) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n";
}

std::string ruleOfPrefix(const std::string& path, const std::string& backend) {
  return "    - matches: [{path: {type: PathPrefix, value: " + path + "}}]\n      backendRefs: [" +
         backendRef(backend) + "]\n";
}

std::string ask(const GatewayProcess& gateway, const std::string& target, const std::vector<std::string>& more) {
  return curl({"curl", "-sS", "-i"}, gateway, target, more);
}

std::string statusOf(const GatewayProcess& gateway, const std::string& target, const std::vector<std::string>& more) {
  return curl({"curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}"}, gateway, target, more);
}

std::string attemptsOf(const std::string& backend, const std::string& status, const std::string& error,
                       const std::string& method) {
  return "http_client_request_duration_seconds_count{gateway=\"test/egress\",route=\"test/all\",backend=\"test/" +
         backend + "\",namespace=\"\",serviceAccount=\"\",http_request_method=\"" + method +
         "\",http_response_status_code=\"" + status + "\",error_type=\"" + error + "\"}";
}

}  // namespace sluice::test
