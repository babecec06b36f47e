#include "proxy/server/kubernetes/check_upgrade_command.h"

#include <cstdio>
#include <string_view>
#include <utility>

#include "config/read/object_kinds.h"
#include "proxy/content/json.h"
#include "proxy/content/output/make_value.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/provision/upgrade_losses.h"
#include "proxy/server/kubernetes/cluster_lists.h"

namespace sluice::server {
namespace {

/// Secrets are not read, because only references to them matter; endpoints do not matter for that.
bool isReadForUpgrade(const config::ObjectKind& kind) {
  return !kind.isOf<config::SecretObject>() && !kind.isOf<config::EndpointSlice>();
}

/// Returns the kinds that are read, each once, and their collections.
std::pair<std::vector<const config::ObjectKind*>, std::vector<ClusterCollection>> collectionsForUpgrade() {
  std::pair<std::vector<const config::ObjectKind*>, std::vector<ClusterCollection>> result;
  for (const config::ObjectKind& kind : config::objectKinds()) {
    if (!isReadForUpgrade(kind)) continue;
    ClusterCollection collection;
    for (const std::string_view version : kind.versions) {
      collection.paths.push_back(kubernetes::collectionPath(kind, version));
    }
    result.first.push_back(&kind);
    result.second.push_back(std::move(collection));
  }
  return result;
}

/// Returns the text of an object of a list, whose items need not have apiVersion and kind.
std::string textOfItem(const config::ObjectKind& kind, const content::Value& item) {
  const std::string text = content::writeJson(item);
  if (item.find("kind") != nullptr || text.size() < 2) return text;
  const std::string version(kind.versions.front());
  const std::string apiVersion = kind.group.empty() ? version : std::string(kind.group) + "/" + version;
  return R"({"apiVersion":")" + apiVersion + R"(","kind":")" + std::string(kind.kind) + R"(",)" + text.substr(1);
}

base::Result<config::ObjectSet> readObjects(const std::string& kubeconfig, const std::vector<std::string>& files) {
  config::TextCache cache;
  if (!files.empty()) return config::readPaths(files, base::Secret(), cache);
  auto [kinds, collections] = collectionsForUpgrade();
  auto lists = readClusterLists(kubeconfig, std::move(collections));
  if (!lists.ok()) return lists.error();
  std::vector<config::SourceText> texts;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (const content::Value& item : lists->each[i]) {
      texts.push_back({lists->server, textOfItem(*kinds[i], item)});
    }
  }
  return config::readTexts(texts, {}, base::Secret(), cache);
}

content::Output upgradeOutput(const kubernetes::UpgradeLosses& losses) {
  std::string text;
  const auto gateway = [&](const auto& each) {
    text += each.gateway + " would have no new Pods, and those that it has would stay as they are: " + each.why + "\n";
    return content::makeMap({{"gateway", each.gateway}, {"message", each.why}});
  };
  const auto secret = [&](const auto& each) {
    text += each.gateway + " would lose Secret " + each.nameSpace + "/" + each.name +
            ": trust its namespace (provisioning.trustedNamespaces of settings.yaml), or apply\n" + each.grant;
    return content::makeMap(
        {{"gateway", each.gateway}, {"namespace", each.nameSpace}, {"name", each.name}, {"grant", each.grant}});
  };
  content::Value value = content::makeMap({{"gateways", content::makeList(losses.gateways, gateway)},
                                           {"secrets", content::makeList(losses.secrets, secret)}});
  return {std::move(value), text.empty() ? "no Gateway would lose anything\n" : std::move(text)};
}

}  // namespace

int checkUpgrade(const std::string& kubeconfig, const UpgradeCheckOptions& options, OutputFormat format,
                 const processing::BuiltinTypes& processors) {
  const auto set = readObjects(kubeconfig, options.config);
  if (!set.ok() || !set->refused.empty()) {
    const std::string why = set.ok() ? config::firstError(set->problems) : set.error().detail;
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const kubernetes::UpgradeLosses losses = kubernetes::upgradeLosses(*set, options.nameSpace, processors);
  print(upgradeOutput(losses), format);
  return losses.empty() ? 0 : 1;
}

}  // namespace sluice::server
