#include "proxy/kubernetes/provision/pod_check.h"

#include <algorithm>

#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/provision/provisioned_object.h"
#include "proxy/kubernetes/provision/rollout_state.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {

namespace {

constexpr base::Duration kLongestCheckPause = std::chrono::minutes(5);
constexpr std::string_view kPodKind = "Pod";

}  // namespace

// There is one place for all, so that an item belongs to the Deployment that was asked for last.
PodCheck::PodCheck(ApiClient& client, PodCheckUser& user)
    : client_(client),
      user_(user),
      writer_(client, {1, kLongestCheckPause, base::Duration::max(), "the Pods of a Gateway cannot be looked at"},
              *this) {}

WriteKey PodCheck::keyOf(const DeploymentName& deployment) {
  return {{}, kPodKind, deployment.first, deployment.second};
}

void PodCheck::watch(const DeploymentName& deployment) {
  const auto [known, isNew] = checked_.try_emplace(deployment);
  known->second.pause = kLookAgainAfter;
  writer_.want(keyOf(deployment), client_.worker().now() + (isNew ? kFirstLookAfter : kLookAgainAfter));
}

void PodCheck::forget(const DeploymentName& deployment) { checked_.erase(deployment); }

void PodCheck::clear() {
  checked_.clear();
  writer_.clear();
}

std::string PodCheck::faultOf(const DeploymentName& deployment) const {
  const auto found = checked_.find(deployment);
  if (found == checked_.end()) return {};
  std::string text;
  for (const std::string& reason : found->second.reasons) text += (text.empty() ? "" : "; ") + reason;
  return text;
}

std::optional<ApiRequest> PodCheck::requestFor(const WriteKey& key) {
  asked_ = {key.nameSpace, key.name};
  const auto found = checked_.find(asked_);
  if (found == checked_.end()) return std::nullopt;
  CheckedPods& pods = found->second;
  if (pods.page.empty()) {
    pods.found.clear();
    pods.pages = 0;
  }
  ApiRequest list;
  list.listed = true;
  list.path = "/api/v1/namespaces/" + key.nameSpace + "/pods?labelSelector=" + std::string(kPodsLabel) + "%3D" +
              key.name + "&limit=" + std::to_string(kPodsOfPage);
  if (!pods.page.empty()) list.path += "&continue=" + processing::encodeQuery(pods.page);
  return list;
}

void PodCheck::onItem(const content::Value& pod) {
  const auto found = checked_.find(asked_);
  if (found == checked_.end() || found->second.found.size() >= kMostReasons) return;
  if (std::string why = whyNotStarted(pod); !why.empty()) found->second.found.insert(std::move(why));
}

void PodCheck::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) {
  const auto found = checked_.find({key.nameSpace, key.name});
  if (found == checked_.end()) return;
  CheckedPods& pods = found->second;
  pods.page.clear();
  if (outcome == WriteOutcome::kDone) {
    pods.page = textIn(valueIn(&answer->body, "metadata"), "continue");
    if (!pods.page.empty() && ++pods.pages < kMostPages) return writer_.want(key);
    pods.page.clear();
    endLook(pods);
  }
  writer_.want(key, client_.worker().now() + pods.pause);
  pods.pause = std::min(2 * pods.pause, kLongestPause);
}

void PodCheck::endLook(CheckedPods& pods) {
  if (pods.found == pods.reasons) return;
  pods.reasons = std::exchange(pods.found, {});
  user_.onPodsChecked();
}

}  // namespace sluice::kubernetes
