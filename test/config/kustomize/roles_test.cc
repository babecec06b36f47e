// Tests that the rules of the roles agree. An API server lets no user grant rights that the user does not have, but the
// API server of the tests does not check that.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "config/yaml/yaml_reader.h"
#include "test/config/file_text.h"

namespace sluice::config {
namespace {

/// A group, a resource and a verb.
using Right = std::tuple<std::string, std::string, std::string>;

/// Returns the rights of a ClusterRole on all objects of a resource.
std::set<Right> rightsOf(const std::string& file, const std::string& role) {
  std::set<Right> rights;
  Problems problems;
  const std::string path = SLUICE_SOURCE_DIR "/config/kustomize/" + file;
  for (const Document& each : readYaml(fileText(path), {std::make_shared<const std::string>(path)}, problems)) {
    const Value* kind = each.root.find("kind");
    const Value* metadata = each.root.find("metadata");
    const Value* rules = each.root.find("rules");
    if (kind == nullptr || kind->text != "ClusterRole" || metadata->find("name")->text != role) continue;
    for (const Value& rule : rules->items) {
      if (rule.find("resourceNames") != nullptr) continue;
      for (const Value& group : rule.find("apiGroups")->items) {
        for (const Value& resource : rule.find("resources")->items) {
          for (const Value& verb : rule.find("verbs")->items) rights.emplace(group.text, resource.text, verb.text);
        }
      }
    }
  }
  EXPECT_GT(rights.size(), 5U) << path << " " << role;
  return rights;
}

TEST(InstalledRoles, GiveTheControllerAllThatItGrantsToPods) {
  const std::set<Right> controller = rightsOf("default/access.yaml", "sluice-controller");
  std::set<Right> granted = rightsOf("default/gateway-role.yaml", "sluice-gateway");
  // The Roles in a Gateway's namespaces have these rights (gateway_access.cc).
  for (const char* verb : {"create", "patch", "delete"}) granted.emplace("coordination.k8s.io", "leases", verb);
  for (const char* verb : {"create", "list", "watch"}) granted.emplace("sluice.dev", "egressrevisions", verb);
  for (const char* verb : {"list", "watch"}) {
    granted.emplace("", "secrets", verb);
    granted.emplace("", "configmaps", verb);
  }
  for (const auto& [group, resource, verb] : granted) {
    EXPECT_TRUE(controller.contains({group, resource, verb})) << verb << " " << resource << "." << group;
  }
}

}  // namespace
}  // namespace sluice::config
