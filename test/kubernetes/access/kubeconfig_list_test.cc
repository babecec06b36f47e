// The kubeconfigs of a person: lists of files, and credential plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/kubernetes/access/kubeconfig_fixture.h"

namespace sluice::kubernetes {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Returns a kubeconfig with a context, a cluster and a user of one name, and no current context.
std::string configOf(const std::string& name, const std::string& user) {
  return "contexts: [{name: " + name + ", context: {cluster: " + name + ", user: " + name +
         "}}]\nclusters: [{name: " + name + ", cluster: {server: 'https://" + name +
         ".example.com'}}]\nusers: [{name: " + name + ", user: " + user + "}]\n";
}

class KubeconfigListTest : public Kubeconfigs {
 protected:
  base::Result<ApiAccess> readFiles(const std::vector<std::string>& paths) {
    return readKubeconfigs(paths, [this](const CredentialPlugin& plugin) -> base::Result<base::Secret> {
      asked_.push_back(plugin);
      if (printed_.empty()) return base::Error::config("it has failed");
      return base::Secret(printed_);
    });
  }
  base::Result<ApiAccess> readWithPlugin(const std::string& exec) {
    user_ = "{exec: " + exec + "}";
    return readFiles({writeParts()});
  }
  static std::string credentialOf(const std::string& status, const std::string& version = "v1") {
    return R"({"apiVersion": "client.authentication.k8s.io/)" + version + R"(", "kind": "ExecCredential", "status": )" +
           status + "}";
  }

  std::vector<CredentialPlugin> asked_;
  std::string printed_;
};

constexpr const char* kPluginEntry =
    "{apiVersion: client.authentication.k8s.io/v1, command: cloud, args: [get, token], env: [{name: A, value: b}], "
    "interactiveMode: Never}";

TEST(KubeconfigList, HasEachPathOnce) {
  EXPECT_THAT(kubeconfigList("/a:b::/a:c"), ElementsAre("/a", "b", "c"));
  EXPECT_THAT(kubeconfigList(""), IsEmpty());
  EXPECT_THAT(kubeconfigList(":"), IsEmpty());
}

TEST_F(KubeconfigListTest, IsReadAsOneWhoseFirstFileDecides) {
  const std::string first = folder_.write("first", configOf("one", "{token: first}") + "current-context: two\n");
  const std::string second =
      folder_.write("sub/second", configOf("two", "{tokenFile: token}") + "current-context: one\n");
  folder_.write("sub/token", "second");
  const auto access = readFiles({folder_ / "absent", first, second});
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->host, "two.example.com");
  EXPECT_EQ(access->token.reveal(), "second") << "of the folder of its own file";
  const std::string third = folder_.write("third", configOf("two", "{token: third}"));
  EXPECT_EQ(readFiles({first, third, second})->token.reveal(), "third");
}

TEST_F(KubeconfigListTest, NamesTheFileOfAFault) {
  const std::string good = folder_.write("good", configOf("one", "{token: a}") + "current-context: one\n");
  const std::string bad = folder_.write("bad", "clusters: 7\n");
  EXPECT_THAT(readFiles({bad, good}).error().detail, HasSubstr("/bad:1:"));
  EXPECT_EQ(readFiles({folder_ / "absent"}).error().detail, "there is no kubeconfig: " + (folder_ / "absent"));
}

TEST_F(KubeconfigListTest, GetsATokenFromAPlugin) {
  printed_ = credentialOf(R"({"token": "secret-token", "expirationTimestamp": "2030-01-01T00:00:00Z"})");
  const auto access = readWithPlugin(kPluginEntry);
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->token.reveal(), "secret-token");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(asked_[0].command, "cloud");
  EXPECT_THAT(asked_[0].arguments, ElementsAre("get", "token"));
  EXPECT_THAT(asked_[0].environment,
              ElementsAre(testing::Pair("A", "b"),
                          testing::Pair("KUBERNETES_EXEC_INFO",
                                        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
                                        R"("spec":{"interactive":false}})")));
}

TEST_F(KubeconfigListTest, GetsACertificateFromAPlugin) {
  const auto quoted = [](const std::string& pem) {
    std::string text;
    for (const char c : pem) text += c == '\n' ? std::string("\\n") : std::string(1, c);
    return '"' + text + '"';
  };
  printed_ = credentialOf("{\"clientCertificateData\": " + quoted(client_.certificate) +
                              ", \"clientKeyData\": " + quoted(client_.key) + "}",
                          "v1beta1");
  const std::string exec =
      "{apiVersion: client.authentication.k8s.io/v1beta1, command: bin/cloud, provideClusterInfo: true}";
  const auto access = readWithPlugin(exec);
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->clientCertificate->fingerprint(), chainOf(client_.certificate));
  EXPECT_EQ(asked_.at(0).command, folder_ / "bin/cloud");
  EXPECT_THAT(asked_.at(0).environment.at(0).second, HasSubstr(R"("server":"https://api.example.com:6443")"));
}

TEST_F(KubeconfigListTest, RunsNoPluginBesideAToken) {
  user_ = std::string("{token: own, exec: ") + kPluginEntry + "}";
  const auto access = readFiles({writeParts()});
  ASSERT_TRUE(access.ok()) << access.error().detail;
  EXPECT_EQ(access->token.reveal(), "own");
  EXPECT_THAT(asked_, IsEmpty());
}

TEST_F(KubeconfigListTest, RefusesWhatAPluginMustNotPrintAndQuotesNothing) {
  const std::pair<std::string, std::string> table[] = {
      {"", "exec: it has failed"},
      {"s3cret", "its output is not JSON: line 1, column 1: "},
      {R"({"kind": "s3cret"})", "its output is no ExecCredential"},
      {credentialOf(R"({"token": "s3cret"})", "v1beta1"),
       "its output has another apiVersion than client.authentication.k8s.io/v1"},
      {credentialOf("null"), "its output has no status"},
      {credentialOf("{}"), "its output has neither status.token nor status.clientCertificateData"},
      {credentialOf(R"({"token": 7})"), "its output has a status.token that is no string"},
      {credentialOf(R"({"clientKeyData": "s3cret"})"), "must have status.clientCertificateData and"},
      {credentialOf(R"({"token": "s3cret", "expirationTimestamp": "soon"})"), "that is no time of RFC 3339"},
      {credentialOf(R"({"token": "s3 cret"})"), "the token holds a space"},
  };
  for (const auto& [printed, message] : table) {
    printed_ = printed;
    const std::string detail = detailOf(readWithPlugin(kPluginEntry));
    EXPECT_THAT(detail, HasSubstr(message)) << printed;
    EXPECT_THAT(detail, Not(testing::AnyOf(HasSubstr("s3cret"), HasSubstr("s3 cret")))) << printed;
  }
}

TEST_F(KubeconfigListTest, RefusesPluginsThatCannotBeRun) {
  const std::string version = "apiVersion: client.authentication.k8s.io/v1, ";
  for (const std::string& exec :
       {std::string("{command: a}"), std::string("{apiVersion: client.authentication.k8s.io/v1alpha1, command: a}"),
        "{" + version + "args: [a]}", "{" + version + "command: a, interactiveMode: Always}",
        "{" + version + "command: a, env: [{name: 'A=B', value: c}]}"}) {
    EXPECT_FALSE(readWithPlugin(exec).ok()) << exec;
  }
  EXPECT_THAT(asked_, IsEmpty());
}

}  // namespace
}  // namespace sluice::kubernetes
