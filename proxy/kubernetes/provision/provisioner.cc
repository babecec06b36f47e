#include "proxy/kubernetes/provision/provisioner.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/list_watch.h"
#include "proxy/kubernetes/provision/pod_count.h"
#include "proxy/kubernetes/writer/write_requests.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

constexpr base::Duration kLookAgainAfter = std::chrono::minutes(1);
constexpr base::Duration kTryAgainAfter = std::chrono::seconds(10);
constexpr int kAlreadyDeleted = 404;
constexpr int kCreated = 201;
constexpr std::string_view kNotProvisioned = "NotProvisioned";
constexpr std::string_view kFieldManager = "sluice-controller";
constexpr int kObjectsOfPage = 250;
constexpr std::string_view kUnreadableList = "the list cannot be read";
constexpr std::string_view kMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/// Returns the body with the uid, so that it is applied to no other object of that name.
std::string withUid(std::string body, const std::string& uid) {
  constexpr std::string_view kMetadata = R"("metadata":{)";
  const std::size_t at = body.find(kMetadata);
  if (at != std::string::npos) body.insert(at + kMetadata.size(), R"("uid":")" + uid + R"(",)");
  return body;
}

/// Returns the path of the list that has the object at `path`, if it exists.
std::string pathOfLookup(const std::string& path) {
  return path.substr(0, path.rfind('/')) + "?fieldSelector=metadata.name%3D" + path.substr(path.rfind('/') + 1);
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

// A refusal stops only its own object, and is reported by conditions, too. Only the server may ask for a pause.
Provisioner::Provisioner(ApiClient& client, ProvisionerUser& user)
    : client_(client), user_(user), writer_(client, {}, *this) {}

void Provisioner::want(ProvisionPlan plan) {
  const auto isSame = [](const ProvisionedObject& a, const ProvisionedObject& b) {
    return a.path() == b.path() && a.body == b.body && a.onlyIfThere == b.onlyIfThere;
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
  wantedPaths_.clear();
  needs_.clear();
  for (const ProvisionedObject& each : wanted_.objects) {
    wantedPaths_.insert(each.path());
    if (each.onlyIfThere) continue;
    Needs& needs = needs_[each.gateway];
    if (each.kind == &provisioned::kServiceAccount) needs.account = each.path();
    if (isNeededByPods(*each.kind) && !each.isElsewhere()) needs.ofPods.push_back(each.path());
  }
  if (tasks_.empty()) begin(/*looks=*/first);
}

void Provisioner::lead(bool leads) {
  leads_ = leads;
  writer_.clear();
  tasks_.clear();
  applied_.clear();  // another leader may have written since
  found_.clear();
  unwanted_.clear();
  faults_.clear();
  reasons_.clear();
  outcome_.reset();
  pending_.clear();
  cancel();
  if (leads) begin(/*looks=*/true);
}

void Provisioner::onTimer() {
  if (tasks_.empty()) begin(/*looks=*/true);
}

void Provisioner::begin(bool looks) {
  if (!leads_ || !given_) return;
  wantedChanged_ = false;
  // Objects that are not needed any more are found when the lists are read.
  const bool removes = std::any_of(applied_.begin(), applied_.end(),
                                   [this](const auto& applied) { return !wantedPaths_.contains(applied.first); });
  if (looks || removes) {
    for (const ProvisionedKind* kind : provisionedKinds()) tasks_.push_back({Task::Type::kList, kind, kind->path()});
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
  while (!tasks_.empty() && isHeldBack(tasks_.front())) tasks_.pop_front();
  if (!tasks_.empty()) return writer_.want(WriteKey());  // all that is provisioned, one request after the other
  const bool soon = !reasons_.empty() || std::exchange(moreUnwanted_, false);
  const base::Duration asked = std::exchange(retryAfter_, {});
  const base::Duration pause = soon ? std::max(kTryAgainAfter, asked) : kLookAgainAfter;
  endRound();
  if (wantedChanged_) return begin(/*looks=*/false);
  client_.worker().timers().set(*this, client_.worker().now() + pause);
}

bool Provisioner::isHeldBack(const Task& task) const {
  const auto isMissing = [this](const std::string& path) { return !applied_.contains(path); };
  const auto needs = needs_.find(task.gateway);
  if (needs == needs_.end() || (task.type != Task::Type::kFind && task.type != Task::Type::kApply)) return false;
  if (task.kind == &provisioned::kServiceAccount) return false;
  if (!needs->second.account.empty() && isMissing(needs->second.account)) return true;
  const std::vector<std::string>& ofPods = needs->second.ofPods;
  return task.kind == &provisioned::kDeployment && task.type == Task::Type::kFind &&
         std::any_of(ofPods.begin(), ofPods.end(), isMissing);
}

void Provisioner::endRound() {
  logged_ = std::exchange(reasons_, {});
  Faults faults = std::exchange(faults_, {});
  const bool waited = !wantedChanged_ && !std::exchange(pending_, {}).empty();
  if (outcome_ == faults && !waited) return;
  outcome_ = std::move(faults);
  user_.onProvisioned();
}

std::optional<config::Condition> Provisioner::conditionOf(const std::string& gateway) const {
  if (!outcome_ || !needs_.contains(gateway)) return std::nullopt;
  config::Condition condition;
  condition.type = config::condition_type::kProvisioned;
  condition.reason = config::reason::kPending;
  if (pending_.contains(gateway)) return condition;
  auto fault = outcome_->find(gateway);
  if (fault == outcome_->end()) fault = outcome_->find("");
  const bool provisioned = fault == outcome_->end();
  condition.status = provisioned ? config::ConditionStatus::kTrue : config::ConditionStatus::kFalse;
  condition.reason = provisioned ? "Provisioned" : kNotProvisioned;
  if (!provisioned) condition.message = fault->second.reason;
  return condition;
}

std::optional<ApiRequest> Provisioner::requestFor(const WriteKey& /*key*/) {
  const Task& task = tasks_.front();
  ApiRequest read;
  read.accept = std::string(kMetadataList);
  switch (task.type) {
    case Task::Type::kList:
      read.listed = true;
      read.path = task.path + "?labelSelector=" + std::string(kManagedByLabel) + "%3D" + std::string(kManagedBy) +
                  "&limit=" + std::to_string(kObjectsOfPage);
      if (!task.page.empty()) read.path += "&continue=" + processing::encodeQuery(task.page);
      return read;
    case Task::Type::kFind:
      read.path = pathOfLookup(task.path);
      return read;
    case Task::Type::kCount:
      read.path = pathOfLookup(task.path);
      read.accept = ApiRequest().accept;  // the metadata alone has no number
      return read;
    case Task::Type::kKeep:
      return applyRequest(task.path, kCountManager, ApplyConflicts::kForce, task.body);
    case Task::Type::kCreate:
    case Task::Type::kRelease:
      return applyRequest(task.path, kFieldManager, ApplyConflicts::kFail, task.body);
    case Task::Type::kApply:
      return applyRequest(task.path, kFieldManager, ApplyConflicts::kForce, withUid(task.body, task.uid));
    case Task::Type::kDelete:
      return deleteRequest(task.path, task.uid);
  }
  return std::nullopt;
}

void Provisioner::onWritten(const WriteKey& /*key*/, WriteOutcome /*outcome*/, const base::Result<ApiAnswer>& answer) {
  const Task task = std::move(tasks_.front());
  tasks_.pop_front();
  const bool gone = answer.ok() && task.type == Task::Type::kDelete && answer->status == kAlreadyDeleted;
  if (!answer.ok()) {
    tasks_.clear();  // the server does not answer
    faults_.emplace("", ProvisionFault{answer.error().detail});
    tellFailure("", answer.error().detail);
  } else if (!answer->ok() && !gone) {
    retryAfter_ = std::max(retryAfter_, answer->retryAfter);
    fail(task, answer->fault(), "HTTP status " + std::to_string(answer->status));
  } else {
    executed(task, *answer);
  }
  next();
}

void Provisioner::executed(const Task& task, const ApiAnswer& answer) {
  switch (task.type) {
    case Task::Type::kList:
      return endPage(task, answer.body);
    case Task::Type::kFind: {
      const content::Value* items = itemsOf(answer.body);
      if (items == nullptr) return fail(task, std::string(kUnreadableList), std::string(kUnreadableList));
      if (!items->items.empty()) return refuseForeign(task);
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
    case Task::Type::kCount:
      return keepCount(task, answer.body);
    case Task::Type::kKeep:
    case Task::Type::kRelease:
      return;
    case Task::Type::kDelete:
      applied_.erase(task.path);
      return;
  }
}

/// Reports that another object has that name.
void Provisioner::refuseForeign(const Task& task) {
  const std::string why = "it is there and was not made for this Gateway, so it stays as it is";
  fail(task, why, why);
}

void Provisioner::keepCount(const Task& task, const content::Value& list) {
  const content::Value* items = itemsOf(list);
  if (items == nullptr) return fail(task, std::string(kUnreadableList), std::string(kUnreadableList));
  for (const content::Value& each : items->items) {
    if (metadataText(each, "uid") != task.uid) continue;
    auto body = keptPodCount(each, kFieldManager);
    if (!body) continue;
    Task keep = task;
    keep.type = Task::Type::kKeep;
    keep.body = *std::move(body);
    tasks_.push_front(std::move(keep));
  }
}

void Provisioner::fail(const Task& task, const std::string& why, const std::string& told) {
  // Without its number a Deployment would get one Pod.
  const bool keeps = task.type == Task::Type::kCount || task.type == Task::Type::kKeep;
  if (keeps && !tasks_.empty() && tasks_.front().path == task.path) tasks_.pop_front();
  if (task.type == Task::Type::kList) {
    found_.clear();  // nothing can be concluded from a part of the list
    unwanted_.clear();
  }
  const std::string kind(task.kind->kind);
  const std::string reason = kind + " " + task.path + ": " + why;
  tellFailure(task.gateway, reason);
  // An object that is to be deleted belongs to no Gateway any more, so no Gateway has a condition about it.
  if (task.type == Task::Type::kDelete) return;
  ProvisionFault fault{task.elsewhere ? "a " + kind + " of another namespace: " + told : reason, task.elsewhere};
  const auto [first, isFirst] = faults_.try_emplace(task.gateway, fault);
  if (!isFirst && first->second.elsewhere && !fault.elsewhere) first->second = std::move(fault);
}

/// Takes an object of a list, if it needs an action.
void Provisioner::take(const ProvisionedKind& kind, const content::Value& object) {
  FoundObject found = foundObject(kind, object);
  if (!wantedPaths_.contains(found.path)) {
    if (found.deleted || isLeftAlone(kind, found)) return;
    if (unwanted_[found.nameSpace] >= kMostRemovals) {
      moreUnwanted_ = true;
      return;
    }
    ++unwanted_[found.nameSpace];
  }
  std::string path = found.path;
  found_.insert_or_assign(std::move(path), std::move(found));
}

void Provisioner::endPage(const Task& task, const content::Value& list) {
  if (itemsOf(list) == nullptr) return fail(task, std::string(kUnreadableList), std::string(kUnreadableList));
  if (const std::string_view more = textIn(valueIn(&list, "metadata"), "continue"); !more.empty()) {
    Task next = task;
    next.page = more;
    return tasks_.push_front(std::move(next));
  }
  unwanted_.clear();
  judge(*task.kind);
}

/// Plans the actions for the objects of a kind.
void Provisioner::judge(const ProvisionedKind& kind) {
  std::map<std::string, FoundObject> found = std::exchange(found_, {});
  for (const ProvisionedObject& each : wanted_.objects) {
    if (each.kind != &kind) continue;
    const auto there = found.extract(each.path());
    const bool isOurs = !there.empty() && there.mapped().belongsTo(each);
    if (!isOurs) applied_.erase(each.path());
    if (!there.empty() && !isOurs) remove(kind, there.mapped());
    if (!isOurs && each.onlyIfThere) continue;
    const auto applied = applied_.find(each.path());
    const bool current = isOurs && applied != applied_.end() && applied->second.body == each.body &&
                         applied->second.version == there.mapped().version;
    if (!current) apply(each, isOurs ? there.mapped().uid : std::string());
  }
  for (const auto& [path, object] : found) {
    if (!isLeftAlone(kind, object)) remove(kind, object);
  }
  // The list has shown all objects of the kind, so the paths of those that are not wanted can be forgotten.
  std::erase_if(applied_,
                [&](const auto& each) { return each.second.kind == &kind && !wantedPaths_.contains(each.first); });
}

void Provisioner::remove(const ProvisionedKind& kind, const FoundObject& object) {
  tasks_.push_back({.type = Task::Type::kDelete, .kind = &kind, .path = object.path, .uid = object.uid});
}

void Provisioner::apply(const ProvisionedObject& object, const std::string& uid) {
  if (object.isCountedByOthers && !uid.empty()) {
    tasks_.push_back({.type = Task::Type::kCount,
                      .kind = object.kind,
                      .path = object.path(),
                      .gateway = object.gateway,
                      .uid = uid});
  }
  tasks_.push_back({.type = uid.empty() ? Task::Type::kFind : Task::Type::kApply,
                    .kind = object.kind,
                    .path = object.path(),
                    .body = object.body,
                    .gateway = object.gateway,
                    .uid = uid,
                    .elsewhere = object.isElsewhere()});
}

void Provisioner::note(const Task& task, const content::Value& object) {
  const FoundObject found = foundObject(*task.kind, object);
  const std::string before = std::exchange(applied_[task.path], {task.kind, task.body, found.uid, found.version}).body;
  if (before == task.body) return;
  client_.log().info("an object of a Gateway has been applied", {{"kind", task.kind->kind}, {"path", task.path}});
}

/// An object without the label of a Gateway may belong to Gateways that are left alone: an earlier version made such
/// objects for all Gateways.
bool Provisioner::isLeftAlone(const ProvisionedKind& kind, const FoundObject& object) const {
  const auto& all = wanted_.leftAlone;
  if (object.gateway.second.empty()) {
    return std::any_of(all.begin(), all.end(), [](const auto& each) { return each.second != LeftAlone::kPods; });
  }
  const auto found = all.find(object.gateway);
  if (found == all.end()) return false;
  if (found->second == LeftAlone::kAll || !isAccess(kind)) return true;
  const bool elsewhere = !object.nameSpace.empty() && object.nameSpace != object.gateway.first;
  return found->second == LeftAlone::kNotElsewhere && !elsewhere;
}

void Provisioner::tellFailure(const std::string& gateway, const std::string& reason) {
  if (reasons_.insert(reason).second && !logged_.contains(reason)) {
    client_.log().warn("the Pods of a Gateway cannot be provisioned", {{"gateway", gateway}, {"reason", reason}});
  }
}

}  // namespace sluice::kubernetes
