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
constexpr int kCreated = 201;
constexpr std::string_view kNotProvisioned = "NotProvisioned";
constexpr std::string_view kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

std::string uidOf(const content::Value& object) { return std::string(textIn(valueIn(&object, "metadata"), "uid")); }

/// Returns what changes if somebody changes what is applied. Statuses change the resourceVersion all the time, so it
/// counts only where there is no generation.
std::string versionOf(const content::Value& object) {
  const content::Value* metadata = valueIn(&object, "metadata");
  const std::string uid = uidOf(object);
  if (const auto generation = numberIn(metadata, "generation")) return uid + "/" + std::to_string(*generation);
  return uid + "@" + std::string(textIn(metadata, "resourceVersion"));
}

std::string pathOf(const ProvisionedKind& kind, const content::Value& object) {
  const content::Value* metadata = valueIn(&object, "metadata");
  return kind.path(textIn(metadata, "namespace")) + "/" + std::string(textIn(metadata, "name"));
}

/// Returns true if an object with our label is the one that is kept. Another Gateway may have had its name.
bool belongsToOwner(const content::Value& object, const ProvisionedObject& wanted) {
  if (wanted.owner.empty()) return true;
  const content::Value* owners = valueIn(valueIn(&object, "metadata"), "ownerReferences");
  return owners != nullptr && std::any_of(owners->items.begin(), owners->items.end(), [&](const content::Value& each) {
           return textIn(&each, "uid") == wanted.owner;
         });
}

/// Returns the body with the uid, so that it is applied to no other object of that name.
std::string withUid(std::string body, const std::string& uid) {
  constexpr std::string_view kMetadata = R"("metadata":{)";
  const std::size_t at = body.find(kMetadata);
  if (at != std::string::npos) body.insert(at + kMetadata.size(), R"("uid":")" + uid + R"(",)");
  return body;
}

bool isEmptyList(const content::Value& list) {
  const content::Value* items = valueIn(&list, "items");
  return items == nullptr || items->items.empty();
}

/// Returns the body of an apply that gives back all fields of an object.
std::string bodyOfRelease(const ProvisionedKind& kind, const std::string& path) {
  constexpr std::string_view kNamespaces = "/namespaces/";
  base::JsonWriter json;
  json.beginObject().member("apiVersion", kind.apiVersion()).member("kind", kind.kind).key("metadata").beginObject();
  json.member("name", path.substr(path.rfind('/') + 1));
  if (const std::size_t at = path.find(kNamespaces); at != std::string::npos) {
    const std::string rest = path.substr(at + kNamespaces.size());
    json.member("namespace", rest.substr(0, rest.find('/')));
  }
  return json.endObject().endObject().take();
}

}  // namespace

void Provisioner::want(ProvisionPlan plan) {
  const auto isSame = [](const ProvisionedObject& a, const ProvisionedObject& b) {
    return a.path() == b.path() && a.body == b.body && a.onlyIfThere == b.onlyIfThere;
  };
  const std::vector<ProvisionedObject>& before = wanted_.objects;
  const bool same = given_ && plan.leftAlone == wanted_.leftAlone && plan.podsLeftAlone == wanted_.podsLeftAlone &&
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
      if (applied == applied_.end() && each.onlyIfThere) continue;
      apply(each, applied == applied_.end() ? std::string() : applied->second.uid);
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
  const auto isItsOwn = [&](const ProvisionedObject& each) { return each.gateway == gateway && !each.onlyIfThere; };
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
      request.accept = std::string(kMetadataList);
      break;
    case Task::Type::kFind:
      request.path = task.path.substr(0, task.path.rfind('/')) + "?fieldSelector=metadata.name%3D" +
                     task.path.substr(task.path.rfind('/') + 1);
      request.accept = std::string(kMetadataList);
      break;
    case Task::Type::kCreate:
    case Task::Type::kApply:
    case Task::Type::kRelease:
      request.method = http::Method::kPatch;
      // With force, we take back fields of ours that somebody else has changed.
      request.path +=
          "?fieldManager=sluice-controller" + std::string(task.type == Task::Type::kApply ? "&force=true" : "");
      request.body = task.type == Task::Type::kApply ? withUid(task.body, task.uid) : task.body;
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
    fail(task, answer->fault());
  } else {
    executed(task, *answer);
  }
  next();
}

void Provisioner::executed(const Task& task, const ApiAnswer& answer) {
  switch (task.type) {
    case Task::Type::kList:
      return judge(*task.kind, answer.body);
    case Task::Type::kFind: {
      if (!isEmptyList(answer.body)) return refuseForeign(task);
      Task create = task;
      create.type = Task::Type::kCreate;
      return tasks_.push_front(std::move(create));
    }
    case Task::Type::kCreate: {
      if (answer.status == kCreated) return note(task, answer.body);
      Task release = task;
      release.type = Task::Type::kRelease;
      release.body = bodyOfRelease(*task.kind, task.path);
      tasks_.push_front(std::move(release));
      return refuseForeign(task);
    }
    case Task::Type::kApply:
      return note(task, answer.body);
    case Task::Type::kRelease:
      return;
    case Task::Type::kDelete:
      applied_.erase(task.path);
      return;
  }
}

/// Says that somebody else has an object of that name.
void Provisioner::refuseForeign(const Task& task) {
  fail(task, "it is there and was not made for this Gateway, so it stays as it is");
}

void Provisioner::fail(const Task& task, const std::string& why) {
  const std::string reason = std::string(task.kind->kind) + " " + task.path + ": " + why;
  // An object that is to be deleted belongs to no Gateway any more, so no Gateway has a condition about it.
  if (task.type != Task::Type::kDelete) faults_.emplace(task.gateway, reason);
  tellFailure(task.gateway, reason);
  if (task.kind != &provisioned::kServiceAccount || applied_.contains(task.path)) return;
  std::erase_if(tasks_, [&](const Task& each) {
    return each.gateway == task.gateway && (each.type == Task::Type::kFind || each.type == Task::Type::kApply);
  });
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
    const bool isOurs = there != found.end() && belongsToOwner(*there->second, each);
    if (!isOurs) applied_.erase(each.path());
    if (there != found.end() && !isOurs) remove(kind, each.path(), *there->second);
    const auto applied = applied_.find(each.path());
    const bool current = isOurs && applied != applied_.end() && applied->second.body == each.body &&
                         applied->second.version == versionOf(*there->second);
    if (!isOurs && each.onlyIfThere) {
      if (there != found.end()) found.erase(there);
      continue;
    }
    if (!current) apply(each, isOurs ? uidOf(*there->second) : std::string());
    if (there != found.end()) found.erase(there);
  }
  for (const auto& [path, object] : found) {
    if (!isLeftAlone(kind, *object)) remove(kind, path, *object);
  }
}

void Provisioner::remove(const ProvisionedKind& kind, const std::string& path, const content::Value& object) {
  tasks_.push_back({.type = Task::Type::kDelete, .kind = &kind, .path = path, .uid = uidOf(object)});
}

void Provisioner::apply(const ProvisionedObject& object, const std::string& uid) {
  tasks_.push_back({.type = uid.empty() ? Task::Type::kFind : Task::Type::kApply,
                    .kind = object.kind,
                    .path = object.path(),
                    .body = object.body,
                    .gateway = object.gateway,
                    .uid = uid});
}

void Provisioner::note(const Task& task, const content::Value& object) {
  const std::string before = std::exchange(applied_[task.path], {task.body, uidOf(object), versionOf(object)}).body;
  if (before == task.body) return;
  client_.log().info("an object is provisioned", {{"kind", task.kind->kind}, {"path", task.path}});
}

/// What has the label of no Gateway may be of those that are left alone: an earlier version has made it for all.
bool Provisioner::isLeftAlone(const ProvisionedKind& kind, const content::Value& object) const {
  const content::Value* labels = valueIn(valueIn(&object, "metadata"), "labels");
  const std::string name(textIn(labels, kGatewayNameLabel));
  if (name.empty()) return !wanted_.leftAlone.empty();
  const std::pair gateway(std::string(textIn(labels, kGatewayNamespaceLabel)), name);
  return wanted_.leftAlone.contains(gateway) || (!isAccess(kind) && wanted_.podsLeftAlone.contains(gateway));
}

void Provisioner::tellFailure(const std::string& gateway, const std::string& reason) {
  if (reasons_.insert(reason).second && !logged_.contains(reason)) {
    client_.log().warn("what a Gateway runs in cannot be provisioned", {{"gateway", gateway}, {"reason", reason}});
  }
}

}  // namespace sluice::control
