// How commands find the API server.
#include "proxy/server/kubernetes/cluster_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "test/kubernetes/access/access_folder.h"

namespace sluice::server {
namespace {

using testing::HasSubstr;

class AccessOfPersonTest : public testing::Test {
 protected:
  std::string config(const std::string& name, const std::string& user) const {
    return folder_.write(name,
                         "current-context: c\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nclusters: [{name: "
                         "c, cluster: {server: 'https://" +
                             name.substr(name.rfind('/') + 1) + ".example.com'}}]\nusers: [{name: u, user: " + user +
                             "}]\n");
  }
  AccessReader reader(const std::string& kubeconfig = {}) const {
    return accessOfPerson(kubeconfig, [this](const char* name) {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::string() : found->second;
    });
  }
  std::string host(const std::string& kubeconfig = {}) const {
    const auto access = reader(kubeconfig)();
    return access.ok() ? access->host : access.error().detail;
  }

  const kubernetes::AccessFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(AccessOfPersonTest, IsThatOfTheFlagThenKubeconfigThenHome) {
  EXPECT_THAT(host(), HasSubstr("not in a cluster"));
  variables_["HOME"] = folder_ / "home";
  EXPECT_THAT(host(), HasSubstr("not in a cluster"));
  config("home/.kube/config", "{token: a}");
  EXPECT_EQ(host(), "config.example.com");
  variables_["KUBECONFIG"] = (folder_ / "absent") + ":" + config("listed", "{token: a}");
  EXPECT_EQ(host(), "listed.example.com");
  EXPECT_EQ(host(config("given", "{token: a}")), "given.example.com");
  variables_["KUBECONFIG"] = folder_ / "absent";
  EXPECT_THAT(host(), HasSubstr("there is no kubeconfig: "));
}

TEST_F(AccessOfPersonTest, RunsAPluginOnceAndAProcessRunsNone) {
  const std::string count = folder_ / "count";
  const std::string script = folder_.write(
      "plugin.sh", "echo run >>" + count +
                       "\necho '{\"apiVersion\": \"client.authentication.k8s.io/v1\", \"kind\": \"ExecCredential\", "
                       "\"status\": {\"token\": \"t\"}}'\n");
  const std::string file =
      config("plugged", "{exec: {apiVersion: client.authentication.k8s.io/v1, command: sh, args: ['" + script + "']}}");
  const AccessReader twice = reader(file);
  ASSERT_TRUE(twice().ok()) << twice().error().detail;
  EXPECT_EQ(twice()->token.reveal(), "t");
  std::ifstream in(count);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "run\n");
  EXPECT_THAT(accessOfProcess(file)().error().detail, HasSubstr("credential plugins are for commands that a person"));
}

}  // namespace
}  // namespace sluice::server
