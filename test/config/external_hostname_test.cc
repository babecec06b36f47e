#include "config/read/backends/external_hostname.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "test/config/test_support.h"

namespace sluice::config {
namespace {

struct Hidden {
  const char* hostname;
  const char* reason;  // part of the fault
};

constexpr const char* kAddress = "not an address";
constexpr const char* kMachine = "the gateway's own machine";
constexpr const char* kClusterService = "a Service of the cluster";
constexpr const char* kNoName = "a domain name";

constexpr Hidden kHidden[] = {
    // These are names of this machine.
    {"localhost", kMachine},
    {"localhost.", kMachine},
    {"LOCALHOST", kMachine},
    {"LocalHost.", kMachine},
    {"foo.localhost", kMachine},
    {"a.b.LOCALHOST.", kMachine},
    {"localhost.localdomain", kMachine},
    {"localhost4", kMachine},
    {"localhost4.localdomain4", kMachine},
    {"localhost6", kMachine},
    {"localhost6.localdomain6", kMachine},
    {"localdomain", kMachine},
    {"loopback", kMachine},
    {"broadcasthost", kMachine},
    {"ip6-localhost", kMachine},
    {"IP6-Loopback", kMachine},
    {"ip6-allnodes", kMachine},
    {"ip6-allrouters", kMachine},
    // These are addresses in all forms that some resolver or client accepts.
    {"127.0.0.1", kAddress},
    {"127.0.0.1.", kAddress},
    {"127.1", kAddress},
    {"127.0.1", kAddress},
    {"127.0.0.01", kAddress},
    {"0177.0.0.1", kAddress},
    {"0x7f.1", kAddress},
    {"0x7f.0.0.1", kAddress},
    {"0X7F000001", kAddress},
    {"127.0.0.0x1", kAddress},
    {"127.0.0.0x", kAddress},
    {"2130706433", kAddress},
    {"017700000001", kAddress},
    {"0", kAddress},
    {"0.0.0.0", kAddress},
    {"0.", kAddress},
    {"a.b.1", kAddress},
    {"169.254.169.254", kAddress},
    {"::1", kAddress},
    {"[::1]", kAddress},
    {"::", kAddress},
    {"0:0:0:0:0:0:0:1", kAddress},
    {"::ffff:127.0.0.1", kAddress},
    {"[::ffff:7f00:1]", kAddress},
    {"fe80::1%lo", kAddress},
    {"localhost:80", kNoName},
    // These are names of Services.
    {"cluster.local", kClusterService},
    {"api.default.svc.cluster.local", kClusterService},
    {"API.Default.SVC.Cluster.Local.", kClusterService},
    {"10-0-0-1.default.pod.cluster.local", kClusterService},
    {"api.default.svc", kClusterService},
    {"api.default.svc.", kClusterService},
    {"api.default.SVC", kClusterService},
    {"api.default.svc.clusterset.local", kClusterService},
    // These texts are not names.
    {".", kNoName},
    {"localhost..", kNoName},
    {"..localhost", kNoName},
    {"%6cocalhost", kNoName},
    {"local host", kNoName},
    {"localhost/", kNoName},
    {"localhost\\x", kNoName},
    {"me@localhost", kNoName},
    {"127\u30020\u30020\u30021", kNoName},
    {"\u24dbocalhost", kNoName},
    {"*.*.example.com", kNoName},
    {"-a.example.com", kNoName},
};

TEST(ExternalHostname, RefusesEverySpellingOfTheMachineAndTheCluster) {
  for (const Hidden& each : kHidden) {
    EXPECT_THAT(std::string(externalHostnameFault(each.hostname)), testing::HasSubstr(each.reason)) << each.hostname;
  }
}

TEST(ExternalHostname, AcceptsNamesThatOnlyLookLikeThem) {
  for (const char* hostname :
       {"api.openai.com", "API.Example.COM.", "localhost.example.com", "notlocalhost", "my-localhost.test", "xsvc",
        "svc.example.com", "notcluster.local", "cluster.local.example.com", "127.0.0.1.nip.io", "1.2.3.a", "0xcafe.dev",
        "a.0xyz", "x0", "xn--bcher-kva.example", "_acme.example.com", "4.example"}) {
    EXPECT_EQ(externalHostnameFault(hostname), "") << hostname;
  }
}

TEST(ExternalHostname, IsCheckedInEverySpellingOfBackend) {
  const auto documents = [](const std::string& hostname) {
    const std::string fqdn = "spec: {destination: {type: Fqdn, fqdn: {hostname: '" + hostname + "'";
    const std::string listed = fqdn + "}, ports: [{number: 443, protocol: HTTP}]}}\n";
    return std::vector<std::string>{
        object("gateway.networking.k8s.io/v1alpha1", "Backend", "b", fqdn + ", port: 443}}}\n"),
        object("gateway.networking.k8s.io/v1alpha1", "Backend", "b", listed),
        object("sluice.dev/v1alpha1", "Backend", "b", listed),
        object(
            "sluice.dev/v1alpha1", "Backend", "b",
            "spec: {destination: {type: Endpoints, endpoints: [{fqdn: {hostname: '" + hostname + "', port: 1}}]}}\n"),
        object("gateway.envoyproxy.io/v1alpha1", "Backend", "b",
               "spec: {endpoints: [{fqdn: {hostname: '" + hostname + "', port: 1}}]}\n"),
        object("ainetworking.prototype.x-k8s.io/v0alpha0", "Backend", "b", listed),
        object("ainetworking.prototype.x-k8s.io/v0alpha0", "XBackendDestination", "b", listed),
        object(
            "gateway.networking.x-k8s.io/v1alpha1", "XBackend", "b",
            "spec: {type: ExternalHostname, port: {port: 443}, externalHostname: {hostname: '" + hostname + "'}}\n")};
  };
  for (const Hidden& each : kHidden) {
    for (const std::string& document : documents(each.hostname)) {
      const Configuration configuration = loadText(document);
      EXPECT_TRUE(configuration.model.all<Backend>().empty()) << document;
      ASSERT_EQ(configuration.problems.size(), 1u) << document;
      EXPECT_THAT(configuration.problems.front().message, testing::HasSubstr(each.reason)) << document;
    }
  }
  for (const std::string& document : documents("Api.Example.com.")) {
    const Configuration configuration = loadText(document);
    ASSERT_EQ(configuration.model.all<Backend>().size(), 1u) << document;
    const Backend& backend = configuration.model.all<Backend>().front();
    EXPECT_EQ(backend.hasEndpoints ? backend.ports.at(0).hostname : backend.hostname, "api.example.com") << document;
  }
}

}  // namespace
}  // namespace sluice::config
