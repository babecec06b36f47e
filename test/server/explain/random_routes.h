// Random configurations and requests that have much in common, so that most requests meet several rules. Each rule,
// each reference and each step leaves a trace of its own in the records of the data plane. The same seed gives the same
// ones.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "proxy/control/explain/explained_request.h"

namespace sluice::test {

class RandomRoutes {
 public:
  static constexpr int kBackends = 6;

  explicit RandomRoutes(std::uint64_t seed) : random_(seed) {}

  /// Returns the documents of a configuration, in YAML.
  std::vector<std::string> documents() {
    std::vector<std::string> all = {gateway()};
    for (int i = 0; i < kBackends; ++i) all.push_back(backend(i));
    for (int i = 0; i < 6; ++i) all.push_back(processor(i));
    for (int i = 0; i < 30; ++i) all.push_back(route(i));
    for (int i = 0; i < 3; ++i) all.push_back(grpcRoute(i));
    return all;
  }
  std::string settings() {
    return "paths: {encodedSlash: " + oneOf({"Auto", "Keep", "Reject", "Decode"}) +
           ", mergeSlashes: " + oneOf({"Auto", "'true'", "'false'"}) + "}\n";
  }

  control::RequestInQuestion request() {
    control::RequestInQuestion asked;
    if (oneIn(8)) {
      asked.method = "POST";
      asked.headers = {"content-type: application/grpc"};
      asked.url = "http://gateway.test" + oneOf({"/s.A/Get", "/s.A/Put", "/s.B/Get", "/s.A"});
      return asked;
    }
    asked.method = oneOf({"GET", "GET", "POST", "PUT", "OPTIONS", "TRACE"});
    asked.url =
        "http://" + oneOf({"a.test", "A.test", "b.a.test", "c.b.a.test", "x.test", "other.example", "calls.test"});
    asked.url += oneOf({"", "", "", ":80"}) + path();
    if (oneIn(3)) asked.url += "?" + oneOf({"q=1", "q=2", "p=0&q=1", "%71=1", "q"});
    for (const char* name : {"x-a", "X-B"}) {
      if (oneIn(2)) asked.headers.push_back(std::string(name) + ": " + oneOf({"1", "2", "12"}));
      if (oneIn(12)) asked.headers.push_back(std::string(name) + ": 2");
    }
    if (oneIn(4)) asked.headers.push_back("Origin: https://page.test");
    if (oneIn(4)) asked.headers.push_back("Access-Control-Request-Method: " + oneOf({"GET", "PUT"}));
    if (oneIn(12)) asked.headers.push_back("Max-Forwards: " + oneOf({"0", "1", "x"}));
    if (oneIn(60)) asked.headers.push_back("Expect: miracles");
    return asked;
  }

 private:
  std::string oneOf(std::initializer_list<const char*> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }
  bool oneIn(std::uint64_t n) { return random_() % n == 0; }
  int number(int below) { return static_cast<int>(random_() % static_cast<std::uint64_t>(below)); }

  std::string path() {
    if (oneIn(12)) return oneOf({"/a%2Fb", "/a//b", "/a/../b", "/%zz", "/..%2fa", "/%61/b", "/s.A/Get", "/s.A/Put"});
    std::string text;
    for (int i = number(4); i > 0; --i) text += "/" + oneOf({"a", "b", "aa"});
    return text.empty() || oneIn(6) ? text + "/" : text;
  }

  static std::string head(const std::string& kind, const std::string& name, const std::string& more = {}) {
    const bool own = kind == "PayloadProcessor";
    const bool backend = kind == "Backend";
    const std::string version =
        own ? "sluice.dev/v1alpha1" : "gateway.networking.k8s.io/v1" + std::string(backend ? "alpha1" : "");
    return "apiVersion: " + version + "\nkind: " + kind + "\nmetadata: {name: " + name + more + "}\nspec:\n";
  }

  std::string gateway() {
    std::string text = head("Gateway", "egress") +
                       "  gatewayClassName: sluice\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n  listeners:\n"
                       "    - {name: tests, protocol: HTTP, port: 80, hostname: '*.test'}\n";
    if (!oneIn(4)) text += "    - {name: all, protocol: HTTP, port: 80}\n";
    if (oneIn(2)) text += "    - {name: one, protocol: HTTP, port: 80, hostname: b.a.test}\n";
    return text;
  }

  /// Returns a use of a step that does nothing, but is recorded.
  std::string use(const std::string& name) {
    const std::string phase = oneOf({"request-headers", "request-headers", "request-body", "connect", "backend-request",
                                     "backend-response", "response-headers", "response-body"});
    const bool early = phase.starts_with("request-") && oneIn(3);
    return "{name: " + name + ", type: 'sluice.dev/Step:v1', phase: " + phase +
           ", priority: " + std::to_string(number(3)) + (early ? ", preAuth: true" : "") + "}";
  }
  std::string uses(const std::string& name) {
    std::string text;
    for (int i = number(4); i > 0; --i) text += (text.empty() ? "" : ", ") + use(name + "-" + std::to_string(i));
    return text;
  }

  std::string backend(int index) {
    const std::string name = "b" + std::to_string(index);
    return head("Backend", name) + "  destination: {type: FQDN, fqdn: {hostname: " + name + ".test, port: 8080}}\n" +
           "  extensions: [" + (index % 2 == 0 ? uses(name) : "") + "]\n";
  }

  std::string processor(int index) {
    const std::string name = "p" + std::to_string(index);
    const bool ofGateway = index < 2;
    const std::string target =
        ofGateway ? "kind: Gateway, name: egress" : "kind: HTTPRoute, name: r" + std::to_string(number(30));
    const bool first = ofGateway && oneIn(2);
    // A list without uses is not valid, so that the processor cannot run.
    const std::string early = "{name: " + name + "-first, type: 'sluice.dev/Step:v1', phase: request-headers}";
    const std::string steps = first ? early : oneIn(10) ? std::string() : use(name) + ", " + use(name + "-more");
    return head("PayloadProcessor", name) + "  targetRef: {group: gateway.networking.k8s.io, " + target + "}\n" +
           (first ? "  phase: PreRouting\n" : "") + "  processors: [" + steps + "]\n";
  }

  std::string parents() {
    return "  parentRefs: [{name: egress" + oneOf({"", "", "", ", sectionName: tests", ", sectionName: all"}) + "}]\n";
  }

  std::string route(int index) {
    const std::string name = "r" + std::to_string(index);
    std::string text = head("HTTPRoute", name, oneOf({"", ", creationTimestamp: '2024-01-01T00:00:00Z'"})) + parents() +
                       "  hostnames: [" +
                       oneOf({"", "", "a.test", "'*.a.test'", "'*.test'", "b.a.test, x.test", "other.example"}) +
                       "]\n  rules:\n";
    for (int i = 0, count = 1 + number(3); i < count; ++i) text += rule(name + "-" + std::to_string(i));
    return text;
  }

  std::string match() {
    std::string text = oneOf({"path: {type: Exact, value: /a}", "path: {type: Exact, value: /a/b}", "path: {value: /a}",
                              "path: {value: /a/b}", "path: {value: /b}", "path: {value: /}", "path: {value: /}",
                              "path: {type: RegularExpression, value: '/a.*b'}"});
    if (oneIn(4)) text += ", method: " + oneOf({"GET", "POST", "PUT", "OPTIONS"});
    if (oneIn(3)) text += ", headers: [" + field(oneOf({"X-A", "x-b"})) + "]";
    if (oneIn(4)) text += ", queryParams: [" + field("q") + "]";
    return "{" + text + "}";
  }
  std::string field(const std::string& name) {
    return "{name: " + name + ", " + oneOf({"value: '1'", "value: '2'", "type: RegularExpression, value: '1.*'"}) + "}";
  }

  std::string rule(const std::string& tag) {
    std::string text = "    - name: " + tag + "\n      matches: [" + match() + (oneIn(3) ? ", " + match() : "") + "]\n";
    if (oneIn(8)) return text + "      filters: [" + redirect(tag) + "]\n";
    text += "      filters: [" + filters(tag) + rewrite(tag);
    if (oneIn(4)) text += ", {type: CORS, cors: {allowOrigins: ['https://page.test']}}";
    if (oneIn(3)) text += ", {type: PayloadProcessing, payloadProcessing: [" + use(tag) + "]}";
    text += "]\n";
    if (oneIn(12)) return text;
    text += "      backendRefs:\n";
    for (int i = 0, count = 1 + number(3); i < count; ++i) text += reference(tag + "-" + std::to_string(i));
    return text;
  }

  /// Returns filters that leave a trace in the request and in the response.
  static std::string filters(const std::string& tag) {
    const std::string added = ": {add: [{name: x-trail, value: " + tag + "}]}}";
    return "{type: RequestHeaderModifier, requestHeaderModifier" + added +
           ", {type: ResponseHeaderModifier, responseHeaderModifier" + added;
  }
  std::string rewrite(const std::string& tag) {
    if (!oneIn(3)) return {};
    const std::string path = "path: {type: ReplaceFullPath, replaceFullPath: /to/" + tag + "}";
    const std::string host = "hostname: to-" + tag + ".test";
    return ", {type: URLRewrite, urlRewrite: {" + (oneIn(2) ? path : oneIn(2) ? host : path + ", " + host) + "}}";
  }
  std::string redirect(const std::string& tag) {
    return "{type: RequestRedirect, requestRedirect: {hostname: " + tag +
           ".to.test, statusCode: " + oneOf({"301", "302", "307"}) + "}}";
  }

  std::string reference(const std::string& tag) {
    const std::string name = oneIn(8) ? "missing" : "b" + std::to_string(number(kBackends));
    std::string text = "        - {group: gateway.networking.k8s.io, kind: Backend, name: " + name +
                       ", port: 8080, weight: " + oneOf({"0", "1", "1", "3"});
    if (oneIn(10)) return text + ", filters: [" + redirect(tag) + "]}\n";
    if (oneIn(2)) {
      text += ", filters: [" + filters(tag) + rewrite(tag);
      if (oneIn(3)) text += ", {type: PayloadProcessing, payloadProcessing: [" + use(tag) + "]}";
      text += "]";
    }
    return text + "}\n";
  }

  std::string grpcRoute(int index) {
    const std::string name = "g" + std::to_string(index);
    const std::string tag = name + "-0";
    std::string text = head("GRPCRoute", name, ", creationTimestamp: '2023-01-01T00:00:00Z'") + parents() +
                       "  hostnames: [calls.test, gateway.test]\n  rules:\n    - name: " + tag +
                       "\n      matches: [{method: {service: s.A" + oneOf({"", ", method: Get"}) +
                       "}}]\n      filters: [" + filters(tag) + "]\n      backendRefs:\n";
    for (int i = 0, count = 1 + number(2); i < count; ++i) {
      const std::string own = tag + "-" + std::to_string(i);
      text += "        - {group: gateway.networking.k8s.io, kind: Backend, name: " +
              (oneIn(5) ? "missing" : "b" + std::to_string(number(kBackends))) + ", port: 8080" +
              (oneIn(2) ? ", filters: [" + filters(own) + "]" : "") + "}\n";
    }
    return text;
  }

  std::mt19937_64 random_;
};

}  // namespace sluice::test
