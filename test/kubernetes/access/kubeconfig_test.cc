// Tests how a kubeconfig is read: fields, precedence, and files that rotate.
#include "proxy/kubernetes/access/kubeconfig.h"

#include <gtest/gtest.h>

#include <set>

#include "test/kubernetes/access/kubeconfig_fixture.h"

namespace sluice::kubernetes {
namespace {

TEST_F(Kubeconfigs, OfKubeadmAreRead) {
  const base::Result<ApiAccess> access = readText(
      "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: " + base64(authority_.certificate) +
      "\n    server: https://10.0.0.1:6443\n  name: kubernetes\ncontexts:\n- context:\n    cluster: "
      "kubernetes\n    user: kubernetes-admin\n  name: kubernetes-admin@kubernetes\ncurrent-context: "
      "kubernetes-admin@kubernetes\nkind: Config\npreferences: {}\nusers:\n- name: kubernetes-admin\n  "
      "user:\n    client-certificate-data: " +
      base64(client_.certificate) + "\n    client-key-data: " + base64(client_.key) + "\n");
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->host, "10.0.0.1");
  EXPECT_EQ(access->port, 6443);
  EXPECT_EQ(access->pathPrefix, "");
  EXPECT_TRUE(access->tls);
  EXPECT_EQ(access->serverName, "10.0.0.1");
  EXPECT_EQ(access->trust->fingerprint(), authoritiesOf(authority_.certificate));
  EXPECT_FALSE(access->insecureSkipVerify);
  EXPECT_EQ(access->clientCertificate->fingerprint(), chainOf(client_.certificate));
  EXPECT_TRUE(access->clientKey->matches(*access->clientCertificate));
  EXPECT_TRUE(access->token.empty());
  EXPECT_EQ(access->nameSpace, "default");
  EXPECT_EQ(access->fingerprint.size(), 64U);
}

TEST_F(Kubeconfigs, MayBeJson) {
  const base::Result<ApiAccess> access = readText(
      R"({"kind": "Config", "apiVersion": "v1", "current-context": "here",
          "contexts": [{"name": "here", "context": {"cluster": "ours", "user": "me", "namespace": "egress"}}],
          "clusters": [{"name": "ours", "cluster": {"server": "https://rancher.example.com/k8s/clusters/c-1",
                                                    "tls-server-name": "API.example.com"}}],
          "users": [{"name": "me", "user": {"token": "first-token"}}]})");
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->host, "rancher.example.com");
  EXPECT_EQ(access->port, 443);
  EXPECT_EQ(access->pathPrefix, "/k8s/clusters/c-1");
  EXPECT_EQ(access->serverName, "api.example.com");
  EXPECT_EQ(access->trust, nullptr);
  EXPECT_EQ(access->clientCertificate, nullptr);
  EXPECT_EQ(access->clientKey, nullptr);
  EXPECT_EQ(access->token.reveal(), "first-token");
  EXPECT_EQ(access->nameSpace, "egress");
}

TEST_F(Kubeconfigs, AreReadAtTheCurrentContextAlone) {
  const base::Result<ApiAccess> access = readText(
      "current-context: b\ncontexts:\n- {name: a, context: {cluster: broken, user: broken}}\n"
      "- {name: b, context: {cluster: good, user: good}}\n"
      "clusters:\n- {name: broken, cluster: {server: 7, proxy-url: 'http://proxy'}}\n"
      "- {name: good, cluster: {server: 'https://api.example.com.'}}\n"
      "users:\n- {name: broken, user: {exec: {command: aws}}}\n- {name: good, user: {token: t}}\n");
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->host, "api.example.com.");
  EXPECT_EQ(access->serverName, "api.example.com");
  EXPECT_EQ(access->token.reveal(), "t");
}

TEST_F(Kubeconfigs, MayHoldFieldsThatAreNotKnown) {
  context_ = "{cluster: ours, user: me, extensions: [{name: a, extension: {b: c}}]}";
  cluster_ = "{server: 'https://api.example.com', disable-compression: true, extensions: [], new: {a: 1}}";
  user_ = "{token: first-token, extensions: null, new: 1}";
  EXPECT_EQ(refusal(), "read");
}

TEST_F(Kubeconfigs, TreatEmptyFieldsAsAbsent) {
  context_ = "{cluster: ours, user: me, namespace: ''}";
  cluster_ =
      "{server: 'https://api.example.com', proxy-url: '', tls-server-name: '', certificate-authority: '', "
      "certificate-authority-data: ''}";
  user_ =
      "{token: '', tokenFile: '', username: '', password: '', as: '', as-uid: '', as-groups: [], exec: null, "
      "client-certificate: '', client-certificate-data: '', client-key: '', client-key-data: ''}";
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_TRUE(access->token.empty());
  EXPECT_EQ(access->serverName, "api.example.com");
}

TEST_F(Kubeconfigs, WithoutAUserAreAnonymous) {
  context_ = "{cluster: ours}";
  EXPECT_TRUE(read()->token.empty());
  context_ = "{cluster: ours, user: me}";
  user_ = "{}";
  EXPECT_TRUE(read()->token.empty());
}

TEST_F(Kubeconfigs, NameFilesRelativeToTheirFolder) {
  folder_.write("pki/ca.crt", authority_.certificate);
  folder_.write("pki/me.crt", client_.certificate);
  folder_.write("pki/me.key", client_.key);
  folder_.write("token", "from-file\n");
  cluster_ = "{server: 'https://api.example.com', certificate-authority: pki/ca.crt}";
  user_ = "{client-certificate: ./pki/me.crt, client-key: '" + folder_ / "pki/me.key" + "', tokenFile: token}";
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->trust->fingerprint(), authoritiesOf(authority_.certificate));
  EXPECT_EQ(access->clientCertificate->fingerprint(), chainOf(client_.certificate));
  EXPECT_EQ(access->token.reveal(), "from-file");
}

TEST_F(Kubeconfigs, PreferDataToFiles) {
  folder_.write("ca.crt", sluice::test::makeAuthority().certificate);
  folder_.write("me.crt", otherClient_.certificate);
  folder_.write("me.key", otherClient_.key);
  cluster_ = "{server: 'https://api.example.com', certificate-authority: ca.crt, certificate-authority-data: " +
             base64(authority_.certificate) + "}";
  user_ = "{client-certificate: me.crt, client-certificate-data: " + base64(client_.certificate) +
          ", client-key: missing.key, client-key-data: " + base64(client_.key) + "}";
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->trust->fingerprint(), authoritiesOf(authority_.certificate));
  EXPECT_EQ(access->clientCertificate->fingerprint(), chainOf(client_.certificate));
}

TEST_F(Kubeconfigs, MixDataAndFiles) {
  folder_.write("me.crt", client_.certificate);
  user_ = "{client-certificate: me.crt, client-key-data: " + base64(client_.key) + "}";
  EXPECT_NE(read()->clientKey, nullptr);
}

TEST_F(Kubeconfigs, PreferTheTokenFileAsLongAsItHoldsAToken) {
  folder_.write("token", "from-file");
  user_ = "{token: given, tokenFile: token}";
  EXPECT_EQ(read()->token.reveal(), "from-file");
  folder_.write("token", "\n");
  EXPECT_EQ(read()->token.reveal(), "given");
  std::filesystem::remove(folder_ / "token");
  EXPECT_EQ(read()->token.reveal(), "given");
  user_ = "{tokenFile: token}";
  EXPECT_EQ(refusal(), "FILE:13:21: user \"me\": tokenFile: " + (folder_ / "token") +
                           ": cannot be read: No such file or directory");
}

TEST_F(Kubeconfigs, TakeTheKubeletsFileOfCertificateAndKey) {
  folder_.write("current.pem", client_.certificate + authority_.certificate + client_.key);
  user_ = "{client-certificate: current.pem, client-key: current.pem}";
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->clientCertificate->fingerprint(), chainOf(client_.certificate + authority_.certificate));
}

TEST_F(Kubeconfigs, GiveNoCredentialsWithoutTls) {
  folder_.write("token", "from-file");
  cluster_ = "{server: 'http://localhost:8001'}";
  user_ = "{token: given, tokenFile: token, client-certificate-data: " + base64(client_.certificate) +
          ", client-key-data: " + base64(client_.key) + "}";
  const base::Result<ApiAccess> access = read();
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_FALSE(access->tls);
  EXPECT_TRUE(access->token.empty());
  EXPECT_EQ(access->clientCertificate, nullptr);
}

TEST_F(Kubeconfigs, MayTurnVerificationOff) {
  cluster_ = "{server: 'https://api.example.com', insecure-skip-tls-verify: true}";
  EXPECT_TRUE(read()->insecureSkipVerify);
  cluster_ = "{server: 'https://api.example.com', insecure-skip-tls-verify: false, certificate-authority-data: " +
             base64(authority_.certificate) + "}";
  EXPECT_FALSE(read()->insecureSkipVerify);
}

TEST_F(Kubeconfigs, OfOneContentHaveOneFingerprint) {
  const std::string authorities = base64(authority_.certificate);
  const std::string good =
      "client-certificate-data: " + base64(client_.certificate) + ", client-key-data: " + base64(client_.key);
  const std::string other =
      "client-certificate-data: " + base64(otherClient_.certificate) + ", client-key-data: " + base64(otherClient_.key);
  std::set<std::string> fingerprints;
  for (const std::string& cluster : {
           std::string("{server: 'https://api.example.com'}"),
           std::string("{server: 'https://api.example.com:6443'}"),
           std::string("{server: 'https://api.example.com/c'}"),
           std::string("{server: 'https://other.example.com'}"),
           std::string("{server: 'https://api.example.com', tls-server-name: other.example.com}"),
           std::string("{server: 'https://api.example.com', insecure-skip-tls-verify: true}"),
           "{server: 'https://api.example.com', certificate-authority-data: " + authorities + "}",
       }) {
    for (const std::string& user : {std::string("token: a"), good, other}) {
      cluster_ = cluster;
      user_ = "{" + user + "}";
      const std::string fingerprint = read()->fingerprint;
      EXPECT_TRUE(fingerprints.insert(fingerprint).second) << cluster << user;
      EXPECT_EQ(read()->fingerprint, fingerprint);
    }
  }
}

TEST_F(Kubeconfigs, HaveOneFingerprintForEveryTokenAndNamespace) {
  const std::string before = read()->fingerprint;
  user_ = "{token: second-token}";
  context_ = "{cluster: ours, user: me, namespace: egress}";
  EXPECT_EQ(read()->token.reveal(), "second-token");
  EXPECT_EQ(read()->fingerprint, before);
}

// As cert-manager's or Vault's files are, in a mounted Secret.
TEST_F(Kubeconfigs, NameCertificatesThatRotateWithTheirFolder) {
  folder_.write("..1/me.crt", client_.certificate);
  folder_.write("..1/me.key", client_.key);
  folder_.write("..2/me.crt", otherClient_.certificate);
  folder_.write("..2/me.key", otherClient_.key);
  folder_.link("..data", "..1");
  user_ = "{client-certificate: ..data/me.crt, client-key: ..data/me.key}";
  const base::Result<ApiAccess> before = read();
  folder_.link("..data", "..2");
  const base::Result<ApiAccess> after = read();
  ASSERT_TRUE(after.ok()) << after.error().detail;
  EXPECT_EQ(after->clientCertificate->fingerprint(), chainOf(otherClient_.certificate));
  EXPECT_NE(after->fingerprint, before->fingerprint);
}

TEST_F(Kubeconfigs, NeverGiveACertificateWithTheKeyOfAnotherOne) {
  folder_.write("me.crt", client_.certificate);
  folder_.write("me.key", client_.key);
  user_ = "{client-certificate: me.crt, client-key: me.key}";
  ASSERT_EQ(refusal(), "read");
  folder_.write("me.crt", otherClient_.certificate);
  EXPECT_EQ(refusal(), "FILE:13:50: user \"me\": client-key: " + (folder_ / "me.key") +
                           ": does not belong to the certificate; while both are being replaced, this passes");
  folder_.write("me.key", otherClient_.key);
  EXPECT_EQ(refusal(), "read");
}

TEST_F(Kubeconfigs, AreRefusedWhileACertificateOrItsKeyIsHalfWritten) {
  user_ = "{client-certificate: me.crt, client-key: me.key}";
  folder_.write("me.key", client_.key);
  for (std::size_t size = 0; size + 1 < client_.certificate.size(); size += 7) {
    folder_.write("me.crt", client_.certificate.substr(0, size));
    EXPECT_TRUE(refusal().starts_with("FILE:13:30: user \"me\": client-certificate: " + (folder_ / "me.crt: ")))
        << size;
  }
  folder_.write("me.crt", client_.certificate);
  for (std::size_t size = 0; size + 2 < client_.key.size(); size += 7) {
    folder_.write("me.key", client_.key.substr(0, size));
    EXPECT_TRUE(refusal().starts_with("FILE:13:50: user \"me\": client-key: " + (folder_ / "me.key: "))) << size;
  }
}

}  // namespace
}  // namespace sluice::kubernetes
