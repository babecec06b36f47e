// Tests that the table of refusals in config/reference/forward-proxy.md has the answers of the binary, and no others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "test/integration/egress/egress_yaml.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/processors.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"
#include "test/support/passwords.h"
#include "test/support/reference_page.h"

namespace sluice::test {
namespace {

/// A row of the page, without the advice: status, code and sentence.
using RefusalRow = std::array<std::string, 3>;

std::vector<RefusalRow> refusalsOfThePage() {
  std::vector<RefusalRow> refusals;
  for (const PageRow& row : pageTable(referencePage("forward-proxy.md"), "| status | code | sentence | what to do |")) {
    refusals.push_back({row.at(0), quotedWords(row.at(1)).at(0), quotedWords(row.at(2)).at(0)});
  }
  std::sort(refusals.begin(), refusals.end());
  return refusals;
}

std::string proxyListener(const std::string& name, std::uint16_t port, const std::string& more = {}) {
  return "    - {name: " + name + ", protocol: sluice.dev/HTTPPROXY, port: " + std::to_string(port) + more + "}\n";
}

/// Forward proxies that refuse for every reason: one with a policy, one without, and one for the hosts of a domain.
class RefusingProxies {
 public:
  RefusingProxies() {
    spec_.backends = {{.name = "allowed", .hostname = "allowed.test", .port = 9},
                      {.name = "inner", .hostname = "inner.test", .port = 9, .addresses = "10.0.0.1"}};
    spec_.settings = limits("tunnelsPerAddress: 1");
    spec_.listeners = proxyListener("covered", covered_) + proxyListener("open", open_) +
                      proxyListener("narrow", narrow_, ", hostname: '*.narrow.test'") +
                      proxyListener("members", members_);
    spec_.routes =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {namespace: test, name: all}\nspec:\n"
        "  parentRefs: [{name: egress, sectionName: covered}]\n  hostnames: [dynamic.test, a.dynamic.test]\n"
        "  rules: [{backendRefs: [{group: sluice.dev, kind: Backend, name: any}]}]\n"
        "---\napiVersion: sluice.dev/v1alpha1\nkind: Backend\nmetadata: {namespace: test, name: any}\n"
        "spec: {destination: {type: Dynamic, dynamic: {hostnames: ['*.dynamic.test'], ports: [{number: 9}]}}}\n" +
        secretOf("users", ".htpasswd: \"" + std::string(kAnn) + "\"") +
        egressPolicy("asking", "{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: members}",
                     "clientAuthentication: {basic: {secretRef: {name: users}}}") +
        egressPolicy("p", "{group: gateway.networking.k8s.io, kind: Gateway, name: egress, sectionName: covered}",
                     "rules: [" +
                         allowing("a",
                                  "to: {hostnames: [allowed.test, inner.test, '*.dynamic.test'], "
                                  "ports: ['1-65535']}") +
                         "]");
  }

  /// Returns every refusal that clients can get.
  std::vector<RefusalRow> refusals() {
    const GatewayProcess gateway(spec_);
    const std::string end = " HTTP/1.1\r\nHost: a\r\n";
    note(covered_, "GET /path" + end);
    note(covered_, "GET ftp://allowed.test/" + end);
    note(covered_, "CONNECT allowed.test" + end);
    note(covered_, "CONNECT allowed.test:9" + end + "Content-Length: 3\r\n");
    note(open_, "GET http://allowed.test/" + end);
    note(covered_, "GET http://other.test/" + end);
    note(narrow_, "GET http://allowed.test/" + end);
    note(covered_, "GET http://dynamic.test:9/" + end);
    note(covered_, "GET http://a.dynamic.test:10/" + end);
    note(covered_, "GET http://inner.test:9/" + end);
    note(covered_, "GET http://allowed.test:" + std::to_string(covered_) + "/" + end);
    note(members_, "CONNECT allowed.test:9" + end);
    note(members_, "CONNECT allowed.test:9" + end + "Proxy-Authorization: Basic !\r\n");
    note(members_, "CONNECT allowed.test:9" + end + "Proxy-Authorization: " + basic("ann", "wrong") + "\r\n");
    note(gateway.port(), "CONNECT allowed.test:9" + end);
    noteOneTunnelTooMany("CONNECT allowed.test:" + std::to_string(origin_.port()) + end);
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  void note(std::uint16_t port, const std::string& head) {
    const ReceivedResponse answer = askRaw(port, head + "\r\n");
    found_.push_back({std::to_string(answer.status), memberOf(answer.body, "code"), memberOf(answer.body, "detail")});
  }
  void noteOneTunnelTooMany(const std::string& head) {
    BlockingSocket first = BlockingSocket::connect(covered_);
    first.send(head + "\r\n");
    EXPECT_EQ(readResponse(first, true).status, 200);
    note(covered_, head);
  }

  const RawOrigin origin_{[](BlockingSocket&, RawOrigin& self) { self.waitUntilItStops(); }};
  GatewaySpec spec_;
  const std::uint16_t covered_ = freePort();
  const std::uint16_t open_ = freePort();
  const std::uint16_t narrow_ = freePort();
  const std::uint16_t members_ = freePort();
  std::vector<RefusalRow> found_;
};

TEST(ForwardProxyReference, ListsEveryRefusal) {
  RefusingProxies proxies;
  EXPECT_EQ(proxies.refusals(), refusalsOfThePage());
}

}  // namespace
}  // namespace sluice::test
