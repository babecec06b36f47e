// Tests how the API server is found from within a Pod, with files as the kubelet writes them.
#include "proxy/kubernetes/access/in_cluster.h"

#include <gtest/gtest.h>

#include <map>

#include "test/kubernetes/access/access_folder.h"
#include "test/support/test_pki.h"

namespace sluice::kubernetes {
namespace {

class InCluster : public ::testing::Test {
 protected:
  InCluster() {
    writeVolume("..1", "first-token", authority_.certificate);
    folder_.link("..data", "..1");
    for (const char* name : {"token", "ca.crt", "namespace"}) folder_.link(name, std::string("..data/") + name);
  }

  void writeVolume(const std::string& name, const std::string& token, const std::string& authorities) const {
    folder_.write(name + "/token", token);
    folder_.write(name + "/ca.crt", authorities);
    folder_.write(name + "/namespace", "egress");
  }

  base::Result<ApiAccess> read() const {
    return readInCluster(
        [&](const char* name) {
          const auto found = environment_.find(name);
          return found == environment_.end() ? std::string() : found->second;
        },
        folder_.path());
  }
  std::string refusal() const {
    const base::Result<ApiAccess> access = read();
    return access.ok() ? "read" : access.error().detail;
  }

  const AccessFolder folder_;
  const sluice::test::CertifiedKey authority_ = sluice::test::makeAuthority();
  std::map<std::string, std::string> environment_ = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                                     {"KUBERNETES_SERVICE_PORT", "443"}};
};

TEST_F(InCluster, TheServiceAccountHasTokenAuthoritiesAndNamespace) {
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->host, "10.96.0.1");
  EXPECT_EQ(access->port, 443);
  EXPECT_EQ(access->pathPrefix, "");
  EXPECT_TRUE(access->tls);
  EXPECT_EQ(access->serverName, "10.96.0.1");
  ASSERT_NE(access->trust, nullptr);
  EXPECT_EQ(access->trust->fingerprint(), pki::TrustStore::parse(authority_.certificate)->fingerprint());
  EXPECT_FALSE(access->insecureSkipVerify);
  EXPECT_EQ(access->clientCertificate, nullptr);
  EXPECT_EQ(access->token.reveal(), "first-token");
  EXPECT_EQ(access->nameSpace, "egress");
  EXPECT_EQ(access->fingerprint.size(), 64U);
}

TEST_F(InCluster, TheHostMayBeIpv6OrAName) {
  environment_["KUBERNETES_SERVICE_HOST"] = "FD00:0::1";
  environment_["KUBERNETES_SERVICE_PORT"] = "6443";
  EXPECT_EQ(read()->host, "fd00::1");
  EXPECT_EQ(read()->serverName, "fd00::1");
  EXPECT_EQ(read()->port, 6443);
  environment_["KUBERNETES_SERVICE_HOST"] = "Kubernetes.Default.svc.";
  EXPECT_EQ(read()->host, "kubernetes.default.svc.");
  EXPECT_EQ(read()->serverName, "kubernetes.default.svc");
}

TEST_F(InCluster, TheEnvironmentIsRequired) {
  environment_.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_EQ(refusal(), "not in a cluster: KUBERNETES_SERVICE_PORT is not set; give --kubeconfig FILE");
  environment_.clear();
  EXPECT_EQ(refusal(), "not in a cluster: KUBERNETES_SERVICE_HOST is not set; give --kubeconfig FILE");
}

TEST_F(InCluster, TheEnvironmentMustMakeSense) {
  for (const char* host : {"10.96.0.1:443", "[fd00::1]", "https://10.96.0.1", "127.1", "a b", "a\nb", "-"}) {
    environment_["KUBERNETES_SERVICE_HOST"] = host;
    EXPECT_TRUE(refusal().starts_with("KUBERNETES_SERVICE_HOST: must be")) << refusal();
    EXPECT_EQ(refusal().find('\n'), std::string::npos);
  }
  environment_["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  for (const char* port : {"0", "65536", "-1", "+443", "443 ", "https", "tcp://10.96.0.1:443"}) {
    environment_["KUBERNETES_SERVICE_PORT"] = port;
    EXPECT_TRUE(refusal().starts_with("KUBERNETES_SERVICE_PORT: must be")) << refusal();
  }
}

TEST_F(InCluster, ATokenThatIsNotMountedIsExplained) {
  std::filesystem::remove(folder_ / "token");
  EXPECT_EQ(refusal(), folder_ /
                           "token: cannot be read: No such file or directory: automountServiceAccountToken must "
                           "not be false, or give --kubeconfig FILE");
}

TEST_F(InCluster, BrokenFilesAreRefusedByTheirNames) {
  folder_.write("..1/token", "\n");
  EXPECT_EQ(refusal(), folder_ / "token: the token is empty");
  folder_.write("..1/token", "s3cret\nand more");
  EXPECT_TRUE(refusal().starts_with(folder_ / "token: the token holds")) << refusal();
  EXPECT_EQ(refusal().find("s3cret"), std::string::npos);
  folder_.write("..1/token", std::string(64 * 1024 + 1, 'a'));
  EXPECT_EQ(refusal(), folder_ / "token: is larger than 65536 bytes");
  folder_.write("..1/token", "good");
  for (const std::string& broken : {std::string(), std::string("no PEM"), authority_.certificate.substr(0, 200)}) {
    folder_.write("..1/ca.crt", broken);
    EXPECT_TRUE(refusal().starts_with(folder_ / "ca.crt: ")) << refusal();
  }
  std::filesystem::remove(folder_ / "..1/ca.crt");
  EXPECT_EQ(refusal(), folder_ / "ca.crt: cannot be read: No such file or directory");
}

TEST_F(InCluster, TheNamespaceIsThePodsOrTheAccountsOrDefault) {
  environment_["POD_NAMESPACE"] = "of-the-pod";
  EXPECT_EQ(read()->nameSpace, "of-the-pod");
  environment_["POD_NAMESPACE"] = "Not A Label";
  EXPECT_EQ(refusal(), "POD_NAMESPACE: must be a DNS label in lower case");
  environment_.erase("POD_NAMESPACE");
  folder_.write("..1/namespace", " egress \n");
  EXPECT_EQ(read()->nameSpace, "egress");
  folder_.write("..1/namespace", "..");
  EXPECT_EQ(refusal(), folder_ / "namespace: must be a DNS label in lower case");
  folder_.write("..1/namespace", std::string(2000, 'a'));
  EXPECT_EQ(refusal(), folder_ / "namespace: is larger than 1024 bytes");
  folder_.write("..1/namespace", "\n");
  EXPECT_EQ(read()->nameSpace, "default");
  std::filesystem::remove(folder_ / "namespace");
  EXPECT_EQ(read()->nameSpace, "default");
}

TEST_F(InCluster, ATokenThatRotatesLeavesTheFingerprint) {
  const base::Result<ApiAccess> before = read();
  writeVolume("..2", "second-token", authority_.certificate);
  folder_.link("..data", "..2");
  const base::Result<ApiAccess> after = read();
  EXPECT_EQ(after->token.reveal(), "second-token");
  EXPECT_EQ(after->fingerprint, before->fingerprint);
}

TEST_F(InCluster, AuthoritiesThatRotateChangeTheFingerprint) {
  const base::Result<ApiAccess> before = read();
  writeVolume("..2", "first-token", authority_.certificate + sluice::test::makeAuthority().certificate);
  folder_.link("..data", "..2");
  const base::Result<ApiAccess> after = read();
  EXPECT_NE(after->fingerprint, before->fingerprint);
  environment_["KUBERNETES_SERVICE_HOST"] = "10.96.0.2";
  EXPECT_NE(read()->fingerprint, after->fingerprint);
}

}  // namespace
}  // namespace sluice::kubernetes
