#include "proxy/control/kubernetes/provision/provisioner.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/control/kubernetes/client/api_forms.h"

namespace sluice::control {
namespace {

constexpr base::Duration kLookAgainAfter = std::chrono::minutes(1);
constexpr base::Duration kTryAgainAfter = std::chrono::seconds(10);
constexpr int kAlreadyDeleted = 404;
constexpr std::string_view kNotProvisioned = "NotProvisioned";

/// Returns what changes if somebody changes what is applied. Statuses change the resourceVersion all the time, so it
/// counts only where there is no generation.
std::string versionOf(const content::Value& object) {
  const content::Value* metadata = valueIn(&object, "metadata");
  const std::string uid(textIn(metadata, "uid"));
  if (const auto generation = numberIn(metadata, "generation")) return uid + "/" + std::to_string(*generation);
  return uid + "@" + std::string(textIn(metadata, "resourceVersion"));
}

std::string pathOf(const ProvisionedKind& kind, const content::Value& object) {
  const content::Value* metadata = valueIn(&object, "metadata");
  return kind.path(textIn(metadata, "namespace")) + "/" + std::string(textIn(metadata, "name"));
}

}  // namespace

void Provisioner::want(ProvisionPlan plan) {
  const auto isSame = [](const ProvisionedObject& a, const ProvisionedObject& b) {
    return a.path() == b.path() && a.body == b.body;
  };
  const std::vector<ProvisionedObject>& before = wanted_.objects;
  const bool same = given_ && plan.leftAlone == wanted_.leftAlone &&
                    std::equal(plan.objects.begin(), plan.objects.end(), before.begin(), before.end(), isSame);
  if (same) return;
  const bool first = !std::exchange(given_, true);
  std::map<std::string, const std::string*> bodies;
  for (const ProvisionedObject& each : before) bodies.emplace(each.path(), &each.body);
  for (const ProvisionedObject& each : plan.objects) {
    const auto old = bodies.find(each.path());
    if (old == bodies.end() || *old->second != each.body) pending_.insert(each.gateway);
  }
  wanted_ = std::move(plan);
  wantedChanged_ = true;
  if (tasks_.empty() && exchange_ == nullptr) begin(/*looks=*/first);
}

void Provisioner::lead(bool leads) {
  leads_ = leads;
  exchange_.reset();
  tasks_.clear();
  applied_.clear();  // another leader may have written since
  faults_.clear();
  reasons_.clear();
  outcome_.reset();
  pending_.clear();
  cancel();
  if (leads) begin(/*looks=*/true);
}

void Provisioner::onTimer() {
  if (tasks_.empty() && exchange_ == nullptr) begin(/*looks=*/true);
}

void Provisioner::begin(bool looks) {
  if (!leads_ || !given_) return;
  wantedChanged_ = false;
  // An object that is kept no more is found by looking.
  const bool removes = std::any_of(applied_.begin(), applied_.end(), [this](const auto& applied) {
    return std::none_of(wanted_.objects.begin(), wanted_.objects.end(),
                        [&](const ProvisionedObject& each) { return each.path() == applied.first; });
  });
  if (looks || removes) {
    for (const ProvisionedKind* kind : provisionedKinds()) {
      tasks_.push_back(
          {Task::Type::kList, kind,
           kind->path() + "?labelSelector=" + std::string(kManagedByLabel) + "%3D" + std::string(kManagedBy)});
    }
  } else {
    for (const ProvisionedObject& each : wanted_.objects) {
      const auto applied = applied_.find(each.path());
      if (applied != applied_.end() && applied->second.body == each.body) continue;
      apply(each, applied != applied_.end());
    }
  }
  next();
}

void Provisioner::next() {
  if (!tasks_.empty()) return send(tasks_.front());
  const base::Duration pause = reasons_.empty() ? kLookAgainAfter : std::max(kTryAgainAfter, retryAfter_);
  endRound();
  if (wantedChanged_) return begin(/*looks=*/false);
  client_.worker().timers().set(*this, client_.worker().now() + pause);
}

void Provisioner::endRound() {
  logged_ = std::exchange(reasons_, {});
  retryAfter_ = {};
  Faults faults = std::exchange(faults_, {});
  const bool waited = !wantedChanged_ && !std::exchange(pending_, {}).empty();
  if (outcome_ == faults && !waited) return;
  outcome_ = std::move(faults);
  changed_();
}

std::optional<config::Condition> Provisioner::conditionOf(const std::string& gateway) const {
  const auto isItsOwn = [&](const ProvisionedObject& each) { return each.gateway == gateway; };
  if (!outcome_ || std::none_of(wanted_.objects.begin(), wanted_.objects.end(), isItsOwn)) return std::nullopt;
  config::Condition condition;
  condition.type = config::condition_type::kProvisioned;
  condition.reason = config::reason::kPending;
  if (pending_.contains(gateway)) return condition;
  auto fault = outcome_->find(gateway);
  if (fault == outcome_->end()) fault = outcome_->find("");
  const bool provisioned = fault == outcome_->end();
  condition.status = provisioned ? config::ConditionStatus::kTrue : config::ConditionStatus::kFalse;
  condition.reason = provisioned ? "Provisioned" : kNotProvisioned;
  if (!provisioned) condition.message = fault->second;
  return condition;
}

void Provisioner::send(const Task& task) {
  ApiRequest request;
  request.path = task.path;
  switch (task.type) {
    case Task::Type::kList:
      request.accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
      break;
    case Task::Type::kApply:
      request.method = http::Method::kPatch;
      // With force, we take back fields that somebody else has changed. Without it, the server refuses to change fields
      // that somebody else has written, so an object that is not ours stays as it is.
      request.path += "?fieldManager=sluice-controller" + std::string(task.isOurs ? "&force=true" : "");
      request.body = task.body;
      request.contentType = "application/apply-patch+yaml";
      break;
    case Task::Type::kDelete:
      request.method = http::Method::kDelete;
      // Another object of the name may have come meanwhile.
      request.body = base::JsonWriter()
                         .beginObject()
                         .member("kind", "DeleteOptions")
                         .member("apiVersion", "v1")
                         .member("propagationPolicy", "Background")
                         .key("preconditions")
                         .beginObject()
                         .member("uid", task.uid)
                         .endObject()
                         .endObject()
                         .take();
      request.contentType = "application/json";
      break;
  }
  exchange_ = std::make_unique<ApiExchange>(client_, request,
                                            [this](base::Result<ApiAnswer>&& answer) { done(std::move(answer)); });
}

void Provisioner::done(base::Result<ApiAnswer>&& answer) {
  const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
  if (!leads_) return;
  const Task task = std::move(tasks_.front());
  tasks_.pop_front();
  const bool gone = answer.ok() && task.type == Task::Type::kDelete && answer->status == kAlreadyDeleted;
  if (!answer.ok()) {
    tasks_.clear();  // the server does not answer
    faults_.emplace("", answer.error().detail);
    tellFailure("", answer.error().detail);
  } else if (!answer->ok() && !gone) {
    retryAfter_ = std::max(retryAfter_, answer->retryAfter);
    const std::string reason = std::string(task.kind->kind) + " " + task.path + ": " + answer->fault();
    // An object that is to be deleted belongs to no Gateway any more, so no Gateway has a condition about it.
    if (task.type != Task::Type::kDelete) faults_.emplace(task.gateway, reason);
    tellFailure(task.gateway, reason);
  } else if (task.type == Task::Type::kList) {
    judge(*task.kind, answer->body);
  } else if (task.type == Task::Type::kApply) {
    note(task, answer->body);
  } else {
    applied_.erase(task.path);
  }
  next();
}

/// Plans what is to be done about the objects of a kind.
void Provisioner::judge(const ProvisionedKind& kind, const content::Value& list) {
  std::map<std::string, const content::Value*> found;
  if (const content::Value* items = valueIn(&list, "items"); items != nullptr && items->isList()) {
    for (const content::Value& item : items->items) found.emplace(pathOf(kind, item), &item);
  }
  for (const ProvisionedObject& each : wanted_.objects) {
    if (each.kind != &kind) continue;
    const auto there = found.find(each.path());
    const auto applied = applied_.find(each.path());
    const bool current = there != found.end() && applied != applied_.end() && applied->second.body == each.body &&
                         applied->second.version == versionOf(*there->second);
    if (!current) apply(each, there != found.end() || applied != applied_.end());
    if (there != found.end()) found.erase(there);
  }
  for (const auto& [path, object] : found) {
    if (isLeftAlone(*object)) continue;
    const std::string_view uid = textIn(valueIn(object, "metadata"), "uid");
    tasks_.push_back({.type = Task::Type::kDelete, .kind = &kind, .path = path, .uid = std::string(uid)});
  }
}

void Provisioner::apply(const ProvisionedObject& object, bool isOurs) {
  tasks_.push_back({.type = Task::Type::kApply,
                    .kind = object.kind,
                    .path = object.path(),
                    .body = object.body,
                    .gateway = object.gateway,
                    .isOurs = isOurs});
}

void Provisioner::note(const Task& task, const content::Value& object) {
  const std::string before = std::exchange(applied_[task.path], {task.body, versionOf(object)}).body;
  if (before == task.body) return;
  client_.log().info("an object is provisioned", {{"kind", task.kind->kind}, {"path", task.path}});
}

bool Provisioner::isLeftAlone(const content::Value& object) const {
  const content::Value* labels = valueIn(valueIn(&object, "metadata"), "labels");
  return wanted_.leftAlone.contains(
      {std::string(textIn(labels, kGatewayNamespaceLabel)), std::string(textIn(labels, kGatewayNameLabel))});
}

void Provisioner::tellFailure(const std::string& gateway, const std::string& reason) {
  if (reasons_.insert(reason).second && !logged_.contains(reason)) {
    client_.log().warn("what a Gateway runs in cannot be provisioned", {{"gateway", gateway}, {"reason", reason}});
  }
}

}  // namespace sluice::control
