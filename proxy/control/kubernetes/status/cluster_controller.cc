#include "proxy/control/kubernetes/status/cluster_controller.h"

#include <algorithm>
#include <utility>

#include "config/model/supported_kinds.h"

namespace sluice::control {

ClusterController::ClusterController(ApiClient& client, ClusterObjects& objects, Candidacy candidacy)
    : client_(client),
      objects_(objects),
      candidacy_(candidacy),
      replicas_(client, [this] { onReports(); }),
      statuses_(client, objects),
      catalog_(client),
      lease_(client, std::move(candidacy), [this](bool leads) { lead(leads); }) {}

void ClusterController::onCompiled(const CompiledConfiguration& compiled) {
  if (!compiled.readable) return;
  compiled_ = compiled.compiled.statuses;
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
  judgedAt_ = client_.worker().now();
  const auto changedAt = [this](const config::ObjectStatus& object) {
    const ClusterObjects::NewestObject found =
        objects_.find(object.group, object.kind, {object.nameSpace, object.name});
    return found.object == nullptr ? 0 : found.object->changedAt;
  };
  statuses_.want(fleet_.apply(compiled_, replicas_.reports(), changedAt, client_.worker().now()));
}

void ClusterController::onObjects() { statuses_.onObjects(objects_.takeTouched()); }

void ClusterController::release(std::function<void()> done) { lease_.release(std::move(done)); }

void ClusterController::lead(bool leads) {
  client_.log().info(leads ? "this controller leads" : "this controller does not lead any more",
                     {{"lease", candidacy_.nameSpace + "/" + candidacy_.lease}, {"identity", candidacy_.identity}});
  statuses_.lead(leads);
  catalog_.lead(leads);
}

}  // namespace sluice::control
