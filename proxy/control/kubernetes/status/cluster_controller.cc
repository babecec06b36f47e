#include "proxy/control/kubernetes/status/cluster_controller.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "config/model/supported_kinds.h"
#include "proxy/control/kubernetes/provision/provision_plan.h"

namespace sluice::control {
namespace {

using GatewayKey = std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>;

/// Leaves out what is said about parents that are no Gateways of ours: they are for their own controllers to speak of,
/// and if there is no such Gateway, for nobody. Files have no other controllers, so there it is said that it is
/// missing.
config::StatusList withoutForeignParents(const config::StatusList& statuses) {
  std::set<GatewayKey> gateways;
  for (const config::ObjectStatus& each : statuses) {
    if (each.shape == config::StatusShape::kGateway) {
      gateways.emplace(each.group, each.kind, each.nameSpace, each.name);
    }
  }
  config::StatusList kept = statuses;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const config::ObjectStatus& each = statuses[i];
    if (each.shape != config::StatusShape::kParents) continue;
    const auto isForeign = [&](const config::ParentStatus& parent) {
      const auto& object = parent.parentRef.object;
      return !gateways.contains(
          {object.group, object.kind, object.nameSpace.empty() ? each.nameSpace : object.nameSpace, object.name});
    };
    if (std::none_of(each.parents.begin(), each.parents.end(), isForeign)) continue;
    auto changed = std::make_shared<config::ObjectStatus>(each);
    std::erase_if(changed->parents, isForeign);
    kept.replace(i, std::move(changed));
  }
  return kept;
}

}  // namespace

ClusterController::ClusterController(ApiClient& client, ClusterObjects& objects, Candidacy candidacy, std::string image,
                                     std::function<void(bool)> led)
    : client_(client),
      objects_(objects),
      candidacy_(candidacy),
      image_(std::move(image)),
      led_(std::move(led)),
      replicas_(client, [this] { onReports(); }),
      statuses_(client, objects),
      catalog_(client),
      provisioner_(client),
      lease_(client, std::move(candidacy), [this](bool leads) { lead(leads); }) {}

void ClusterController::onCompiled(const CompiledConfiguration& compiled) {
  if (!compiled.readable) return;
  compiled_ = withoutForeignParents(compiled.compiled.statuses);
  if (!image_.empty()) {
    compiled_ = withServiceAddresses(*compiled_, compiled.model);
    if (auto plan = planProvision(compiled, objects_, image_)) provisioner_.want(*std::move(plan));
  }
  wantStatuses();
  const std::string& gatewayClass = compiled.model.gatewayClassName;
  const bool publishes = !gatewayClass.empty() && compiled.catalog != nullptr;
  catalog_.want(publishes ? config::publishedKindsJson(*compiled.catalog, gatewayClass, candidacy_.nameSpace) : "");
}

void ClusterController::start() {
  replicas_.start();
  lease_.start();
}

void ClusterController::onReports() {
  if (!isSet()) client_.worker().timers().set(*this, std::max(judgedAt_ + kBetweenJudgements, client_.worker().now()));
}

void ClusterController::wantStatuses() {
  if (!compiled_) return;  // replicas may report before it is known what they should serve
  judgedAt_ = client_.worker().now();
  const auto changedAt = [this](const config::ObjectStatus& object) {
    const ClusterObjects::NewestObject found =
        objects_.find(object.group, object.kind, {object.nameSpace, object.name});
    return found.object == nullptr ? 0 : found.object->changedAt;
  };
  statuses_.want(fleet_.apply(*compiled_, replicas_.reports(), changedAt, client_.worker().now()));
}

void ClusterController::onObjects() { statuses_.onObjects(objects_.takeTouched()); }

void ClusterController::release(std::function<void()> done) { lease_.release(std::move(done)); }

void ClusterController::lead(bool leads) {
  client_.log().info(leads ? "this controller leads" : "this controller does not lead any more",
                     {{"lease", candidacy_.nameSpace + "/" + candidacy_.lease}, {"identity", candidacy_.identity}});
  statuses_.lead(leads);
  catalog_.lead(leads);
  provisioner_.lead(leads);
  led_(leads);
}

}  // namespace sluice::control
