// Tests which kubeconfigs are refused, and the texts of the errors.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "test/kubernetes/access/kubeconfig_fixture.h"

namespace sluice::kubernetes {
namespace {

using KubeconfigRefusals = Kubeconfigs;

TEST_F(KubeconfigRefusals, SayWhatToDoInsteadOfWhatIsNotServed) {
  const std::string plugin =
      "credential plugins are for commands that a person runs, such as `sluice status --kubernetes`; `run` and "
      "`controller` do not run them: give tokenFile, token, or client-certificate and client-key instead";
  const std::string provider =
      "it is not supported: give tokenFile, token, or client-certificate and client-key instead";
  const std::string password =
      "passwords are not supported: give tokenFile, token, or client-certificate and client-key instead";
  const std::string impersonation =
      "impersonation is not supported: give the credentials of a user who has the permissions";
  const std::pair<std::string, std::string> table[] = {
      {"{exec: {apiVersion: client.authentication.k8s.io/v1, command: s3cret}}", "exec: " + plugin},
      {"{exec: {}}", "exec: " + plugin},
      {"{auth-provider: {name: oidc, config: {id-token: s3cret}}}", "auth-provider: " + provider},
      {"{username: admin}", "username: " + password},
      {"{password: s3cret}", "password: " + password},
      {"{token: a, password: s3cret}", "password: " + password},
      {"{token: a, as: admin}", "as: " + impersonation},
      {"{token: a, as-uid: '7'}", "as-uid: " + impersonation},
      {"{token: a, as-groups: [admins]}", "as-groups: " + impersonation},
      {"{token: a, as-user-extra: {a: [b]}}", "as-user-extra: " + impersonation},
  };
  for (const auto& [user, message] : table) {
    user_ = user;
    EXPECT_TRUE(refusal().starts_with("FILE:13:")) << refusal();
    EXPECT_TRUE(refusal().ends_with(": user \"me\": " + message)) << refusal();
  }
  user_ = "{token: a}";
  cluster_ = "{server: 'https://api.example.com', proxy-url: 'http://me:s3cret@proxy'}";
  EXPECT_EQ(refusal(),
            "FILE:10:59: cluster \"ours\": proxy-url: proxies are not supported: give a server that is reached without "
            "one");
}

TEST_F(KubeconfigRefusals, StandEvenWithoutTls) {
  cluster_ = "{server: 'http://127.0.0.1:8001'}";
  user_ = "{as: admin}";
  EXPECT_TRUE(refusal().starts_with("FILE:13:14: user \"me\": as: impersonation")) << refusal();
}

TEST_F(KubeconfigRefusals, NameTheFileThatCannotBeRead) {
  EXPECT_EQ(readKubeconfig(folder_ / "missing").error().detail,
            folder_ / "missing: cannot be read: No such file or directory");
  EXPECT_EQ(readKubeconfig(folder_.path()).error().detail, folder_.path() + ": cannot be read: Is a directory");
}

TEST_F(KubeconfigRefusals, BoundTheFileAndTheTokenFile) {
  const std::string text = "current-context: here\n#";
  EXPECT_EQ(refusalOf(text + std::string(1024 * 1024 - text.size(), 'a')),
            "FILE:1:1: contexts: has no entry of the name \"here\"");
  EXPECT_EQ(refusalOf(text + std::string(1024 * 1024 + 1 - text.size(), 'a')), "FILE: is larger than 1048576 bytes");
  user_ = "{tokenFile: token}";
  folder_.write("token", std::string(64 * 1024, 'a'));
  EXPECT_EQ(refusal(), "read");
  folder_.write("token", std::string(64 * 1024 + 1, 'a'));
  EXPECT_TRUE(refusal().ends_with("token: is larger than 65536 bytes")) << refusal();
}

TEST_F(KubeconfigRefusals, SayWhatIsMissing) {
  const std::pair<const char*, const char*> table[] = {
      {"", "FILE: is empty"},
      {"---\n---\n", "FILE: is empty"},
      {"{}\n---\n{}\n", "FILE: holds more than one document"},
      {"[]", "FILE:1:1: must be a map, but is a list"},
      {"text", "FILE:1:1: must be a map, but is a string"},
      {"kind: Secret", "FILE:1:7: kind: is \"Secret\", but a kubeconfig's is Config"},
      {"kind: Config\ncontexts: null",
       "FILE:1:1: current-context: is not set: kubectl config use-context NAME sets it"},
      {"current-context: ''", "FILE:1:18: current-context: is not set: kubectl config use-context NAME sets it"},
      {"current-context: 7", "FILE:1:18: current-context: must be a string, but is a number: put it in quotes"},
      {"current-context: a", "FILE:1:1: contexts: has no entry of the name \"a\""},
      {"current-context: a\ncontexts: {}", "FILE:2:11: contexts: must be a list, but is a map"},
      {"current-context: a\ncontexts: [7, {}, {name: 7}, {name: b}]",
       "FILE:2:11: contexts: has no entry of the name \"a\""},
      {"current-context: a\ncontexts: [{name: a}, {name: a}]",
       "FILE:2:11: contexts: has two entries of the name \"a\""},
      {"current-context: a\ncontexts: [{name: a}]", "FILE:2:12: context \"a\": cluster: is required"},
      {"current-context: a\ncontexts: [{name: a, context: b}]",
       "FILE:2:31: context \"a\": must be a map, but is a string"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: [b]}}]",
       "FILE:2:41: context \"a\": cluster: must be a string, but is a list"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: b, namespace: ../c}}]",
       "FILE:2:55: context \"a\": namespace: must be a DNS label in lower case, but is \"../c\""},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: b}}]",
       "FILE:1:1: clusters: has no entry of the name \"b\""},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: [{name: b}]",
       "FILE:3:12: cluster \"b\": server: is required"},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n"
       "clusters: [{name: b, cluster: {server: 'https://d'}}]",
       "FILE:1:1: users: has no entry of the name \"c\""},
      {"current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n"
       "clusters: [{name: b, cluster: {server: 'https://d'}}]\nusers: [{name: c, user: }]",
       "FILE:4:9: user \"c\": is empty: write {} for a user without credentials"},
  };
  for (const auto& [text, message] : table) EXPECT_EQ(refusalOf(text), message) << text;
}

TEST_F(KubeconfigRefusals, CoverTheFieldsOfAUser) {
  folder_.write("two-lines", "s3cret\ns3cret");
  folder_.write("me.key", client_.key);
  const std::string certificate = "client-certificate-data: " + base64(client_.certificate);
  const std::string key = "client-key-data: " + base64(client_.key);
  const std::pair<std::string, std::string> table[] = {
      {"{token: 7}", "token: must be a string: put it in quotes"},
      {"{token: [s3cret]}", "token: must be a string: put it in quotes"},
      {"{token: 's3cret s3cret'}", "token: the token holds"},
      {"{token: \"s3cret\\r\\nHost: a\"}", "token: the token holds"},
      {"{token: \"s3cret\\0\"}", "token: the token holds"},
      {"{token: '  '}", "token: the token is empty"},
      {"{token: " + std::string(64 * 1024 + 1, 's') + "}", "token: the token is larger than 65536 bytes"},
      {"{tokenFile: two-lines}", "tokenFile: "},
      {"{token: good, tokenFile: two-lines}", "tokenFile: "},
      {"{tokenFile: 7}", "tokenFile: must be a string, but is a number: put it in quotes"},
      {"{tokenFile: \"a\\nb\"}", "tokenFile: must be a path without control characters"},
      {"{tokenFile: \"a\\0b\"}", "tokenFile: must be a path without control characters"},
      {"{" + certificate + "}", "client-certificate-data: has no key: give client-key or client-key-data too"},
      {"{" + key + "}", "client-key-data: has no certificate: give client-certificate or client-certificate-data too"},
      {"{client-certificate: me.crt, " + key + "}", "client-certificate: "},
      {"{client-certificate-data: 's3cret!', " + key + "}", "client-certificate-data: is not base64"},
      {"{client-key-data: 's3cret!', " + certificate + "}", "client-key-data: is not base64"},
      {"{client-key-data: czNjcmV0, " + certificate + "}", "client-key-data: "},
      {"{client-key-data: 7, " + certificate + "}", "client-key-data: must be a string: put it in quotes"},
      {"{client-certificate-data: czNjcmV0, " + key + "}", "client-certificate-data: "},
      {"{client-certificate: me.key, " + key + "}", "client-certificate: "},
      {"{client-key-data: " + base64(client_.certificate) + ", " + certificate + "}", "client-key-data: "},
      {"{client-key-data: " + base64(sluice::test::encryptKey(client_, "s3cret")) + ", " + certificate + "}",
       "client-key-data: the private key is encrypted"},
      {"{client-key-data: " + base64(otherClient_.key) + ", " + certificate + "}",
       "client-key-data: does not belong to the certificate"},
  };
  for (const auto& [user, message] : table) {
    user_ = user;
    const std::string error = refusal();
    EXPECT_NE(error.find(": user \"me\": " + message), std::string::npos) << user << "\n" << error;
    EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
    EXPECT_EQ(error.find("czNjcmV0"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST_F(KubeconfigRefusals, CoverTheFieldsOfACluster) {
  folder_.write("ca.crt", authority_.certificate.substr(0, authority_.certificate.size() / 2));
  const std::string authorities = "certificate-authority-data: " + base64(authority_.certificate);
  const std::pair<std::string, std::string> table[] = {
      {"{server: 7}", "server: must be a string: put it in quotes"},
      {"{server: ''}", "server: is required"},
      {"{server: 'api.example.com'}", "server: must begin with https://"},
      {"{server: 'http://api.example.com'}", "server: must begin with https://, because http:// is for this machine"},
      {"{server: 'https://me:s3cret@api.example.com'}", "server: must not hold an @"},
      {"{server: 'https://a', tls-server-name: 'https://a'}",
       "tls-server-name: must be a domain name or an IP address"},
      {"{server: 'https://a', insecure-skip-tls-verify: 'true'}", "insecure-skip-tls-verify: must be true or false"},
      {"{server: 'https://a', insecure-skip-tls-verify: true, " + authorities + "}",
       "certificate-authority-data: is given, but insecure-skip-tls-verify too: leave one of them out"},
      {"{server: 'https://a', certificate-authority: ca.crt}", "certificate-authority: " + (folder_ / "ca.crt: ")},
      {"{server: 'https://a', certificate-authority: no.crt}",
       "certificate-authority: " + (folder_ / "no.crt: cannot")},
      {"{server: 'https://a', certificate-authority: .}", "certificate-authority: "},
      {"{server: 'https://a', certificate-authority-data: 'no base64'}", "certificate-authority-data: is not base64"},
      {"{server: 'https://a', certificate-authority-data: AAAA}", "certificate-authority-data: "},
      {"{server: 'https://a', certificate-authority-data: " + base64(client_.key) + "}",
       "certificate-authority-data: "},
  };
  for (const auto& [cluster, message] : table) {
    cluster_ = cluster;
    const std::string error = refusal();
    EXPECT_NE(error.find(": cluster \"ours\": " + message), std::string::npos) << cluster << "\n" << error;
    EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
  }
}

// A half-written file is either refused or read, and the error contains no secret.
TEST_F(KubeconfigRefusals, OfTextsThatAreCutAnywhereTellNoSecret) {
  user_ = "{token: s3cret-token, client-certificate-data: " + base64(client_.certificate) +
          ", client-key-data: " + base64(client_.key) + "}";
  writeParts();
  const std::string whole(readAccessFile(folder_ / "config", 1024 * 1024)->reveal());
  ASSERT_EQ(refusalOf(whole), "read");
  for (std::size_t size = 0; size + 2 < whole.size(); size += 5) {
    const std::string error = refusalOf(whole.substr(0, size));
    EXPECT_TRUE(error.starts_with("FILE")) << size;
    EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
  }
}

TEST_F(KubeconfigRefusals, OfTextsWithOneOtherByteTellNoSecret) {
  user_ = "{token: s3cret-token, tokenFile: token}";
  writeParts();
  const std::string whole(readAccessFile(folder_ / "config", 1024 * 1024)->reveal());
  constexpr std::string_view kBytes("\0\n\t\"'{}[]:,&*!%|\\\xFF-", 19);
  for (std::size_t at = 0; at < 2 * whole.size(); ++at) {
    std::string text = whole;
    text[at / 2] = kBytes[at % kBytes.size()];
    const std::string error = refusalOf(text);
    EXPECT_TRUE(error == "read" || error.starts_with("FILE")) << error;
    EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
  }
}

}  // namespace
}  // namespace sluice::kubernetes
