#include "proxy/kubernetes/provision/rollout_state.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

using content::Value;

constexpr std::size_t kMostReasonBytes = 100;
constexpr std::size_t kMostImageBytes = 256;
constexpr std::size_t kMostFaultBytes = 1024;
constexpr std::int64_t kManyRestarts = 2;

/// Returns the item of a list of conditions that has this type and status; nullptr if there is none.
const Value* findCondition(const Value* status, std::string_view type, std::string_view value) {
  const Value* conditions = valueIn(status, "conditions");
  if (conditions == nullptr) return nullptr;
  const auto found = std::find_if(conditions->items.begin(), conditions->items.end(), [&](const Value& each) {
    return textIn(&each, "type") == type && textIn(&each, "status") == value;
  });
  return found == conditions->items.end() ? nullptr : &*found;
}

/// Returns "REASON: message" of a condition, within bounds. Its message is that of a refusal by the API server, or
/// names only the Deployment's own parts.
std::string reasonAndMessage(const Value& condition) {
  const std::string_view message = textIn(&condition, "message");
  std::string text = boundedText(textIn(&condition, "reason"), kMostReasonBytes);
  if (!message.empty()) text += ": " + boundedText(message, kMostFaultBytes);
  return text;
}

std::string faultOf(const Value* status) {
  if (const Value* failure = findCondition(status, "ReplicaFailure", "True")) return reasonAndMessage(*failure);
  if (const Value* late = findCondition(status, "Progressing", "False")) return reasonAndMessage(*late);
  return {};
}

/// Returns why a container waits, or ends again and again; empty if it runs, or is about to. The reason is the same
/// while a kubelet goes on trying, so that conditions do not change to and fro.
std::string_view whyWaiting(const Value& container) {
  constexpr std::string_view kPullFails = "ImagePullBackOff";
  constexpr std::string_view kEndsAgain = "CrashLoopBackOff";
  const Value* ready = valueIn(&container, "ready");
  if (ready != nullptr && ready->kind == Value::Kind::kBool && ready->text == "true") return {};
  const std::string_view reason = textIn(valueIn(valueIn(&container, "state"), "waiting"), "reason");
  if (reason == "ErrImagePull") return kPullFails;
  if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") return reason;
  return numberIn(&container, "restartCount").value_or(0) >= kManyRestarts ? kEndsAgain : std::string_view();
}

/// Returns the first reason of one of these containers, with its image; empty if there is none.
std::string whyWaiting(const Value* containers) {
  if (containers == nullptr) return {};
  for (const Value& each : containers->items) {
    const std::string_view reason = whyWaiting(each);
    if (reason.empty()) continue;
    return boundedText(reason, kMostReasonBytes) + ": image " + boundedText(textIn(&each, "image"), kMostImageBytes);
  }
  return {};
}

}  // namespace

RolloutState rolloutState(const Value& deployment) {
  const Value* status = valueIn(&deployment, "status");
  const auto count = [status](std::string_view key) { return numberIn(status, key).value_or(0); };
  RolloutState state;
  state.wanted = numberIn(valueIn(&deployment, "spec"), "replicas").value_or(1);
  state.available = std::min(count("availableReplicas"), state.wanted);
  const std::int64_t generation = numberIn(valueIn(&deployment, "metadata"), "generation").value_or(0);
  if (count("observedGeneration") < generation) return state;  // its conditions are about an earlier template
  state.complete = count("updatedReplicas") == state.wanted && count("replicas") == state.wanted &&
                   count("availableReplicas") == state.wanted;
  state.fault = faultOf(status);
  return state;
}

std::string whyNotStarted(const Value& pod) {
  if (valueIn(valueIn(&pod, "metadata"), "deletionTimestamp") != nullptr) return {};
  const Value* status = valueIn(&pod, "status");
  if (const Value* place = findCondition(status, "PodScheduled", "False")) {
    if (textIn(place, "reason") == "Unschedulable") return "Unschedulable: no node takes a Pod";
  }
  std::string why = whyWaiting(valueIn(status, "initContainerStatuses"));
  return why.empty() ? whyWaiting(valueIn(status, "containerStatuses")) : why;
}

}  // namespace sluice::kubernetes
