#include "proxy/kubernetes/objects/cluster_objects.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_path.h"

namespace sluice::kubernetes {
namespace {

using content::Value;

constexpr base::Duration kAfterCrd = std::chrono::milliseconds(250);
constexpr base::Duration kWithoutCrds = std::chrono::seconds(30);
constexpr base::Duration kAfterDoubt = std::chrono::seconds(1);
constexpr base::Duration kAfterAbsence = std::chrono::seconds(5);

/// Each stage needs the objects of the stages before it.
enum class Stage { kClasses, kGateways, kObjects, kServices };
constexpr std::array kStages{Stage::kClasses, Stage::kGateways, Stage::kObjects, Stage::kServices};

bool isByName(const config::ObjectKind& kind) {
  return kind.isOf<config::SecretObject>() || kind.isOf<config::ConfigMap>();
}

bool isRoute(const config::ObjectKind& kind) {
  return kind.isOf<config::HttpRoute>() || kind.isOf<config::GrpcRoute>();
}

Stage stageOf(const config::ObjectKind& kind) {
  if (kind.isOf<config::GatewayClass>()) return Stage::kClasses;
  if (kind.isOf<config::Gateway>()) return Stage::kGateways;
  return kind.isOf<config::Service>() || kind.isOf<config::EndpointSlice>() ? Stage::kServices : Stage::kObjects;
}

const Value& specOf(const Value& object) {
  static const Value kNone;
  const Value* spec = object.find("spec");
  return spec == nullptr ? kNone : *spec;
}

std::string_view memberText(const Value& value, std::string_view key) {
  const Value* member = value.find(key);
  return member == nullptr ? std::string_view() : std::string_view(member->text);
}

/// Returns true if one of the parents in the status was written by this program.
bool hasStatusOfOurs(const Value& route) {
  const Value* status = route.find("status");
  const Value* parents = status == nullptr ? nullptr : status->find("parents");
  return parents != nullptr && std::any_of(parents->items.begin(), parents->items.end(), [](const Value& parent) {
           return memberText(parent, "controllerName") == config::kControllerName;
         });
}

/// Parses the kept parts of an object, including its status.
Value keptValue(const ApiObject& object) {
  auto parsed = content::parseJson(object.text->text.reveal(), {.bytes = ListDecoder::kMostBytes});
  if (!parsed.ok()) return {};
  auto status = content::parseJson(object.status, {.bytes = ListDecoder::kMostBytes});
  if (status.ok()) parsed->members.push_back({"status", {}, std::move(status).value()});
  return std::move(parsed).value();
}

}  // namespace

ClusterObjects::ClusterObjects(ApiClient& client, ClusterScope scope)
    : TurnEnd(client.turnEnds()), client_(client), scope_(std::move(scope)), crds_(client, *this), log_(client.log()) {
  for (const config::ObjectKind& kind : config::objectKinds()) {
    if (isByName(kind)) continue;
    const bool withStatus = scope_.withStatus && kind.status.has_value();
    kinds_.push_back(std::make_unique<FollowedCollection>(client_, static_cast<CollectionOwner&>(*this), kind,
                                                          FollowedCollection::Scope{.withStatus = withStatus}));
  }
}

void ClusterObjects::start() {
  crds_.start();
  startStages();
}

void ClusterObjects::need(NamedObjects names) {
  asked_ = std::move(names);
  mark();
}

// --- the choice of objects -------------------------------------------------------------------------------------------

bool ClusterObjects::wants(const config::ObjectKind& kind, const Value& object) const {
  if (kind.isOf<config::GatewayClass>()) return memberText(specOf(object), "controllerName") == config::kControllerName;
  if (kind.isOf<config::Gateway>()) return wantsGateway(keyOf(object), object);
  if (isRoute(kind)) return wantsRoute(object);
  if (kind.isOf<config::Service>()) return needed_.services.contains(keyOf(object));
  if (kind.isOf<config::EndpointSlice>()) {
    return needed_.services.contains({keyOf(object).first, std::string(serviceOf(object))});
  }
  return true;
}

bool ClusterObjects::wantsGateway(const ApiObjectKey& key, const Value& object) const {
  const bool ours = classes_.contains(std::string(memberText(specOf(object), "gatewayClassName")));
  return ours && (scope_.gateways.empty() || scope_.gateways.contains(key.first + "/" + key.second));
}

// The kind of the parent does not matter here: an additional name only costs memory.
bool ClusterObjects::wantsRoute(const Value& route) const {
  const Value* parents = specOf(route).find("parentRefs");
  const std::string own = keyOf(route).first;
  const auto isServed = [&](const Value& parent) {
    const std::string_view nameSpace = memberText(parent, "namespace");
    const ApiObjectKey gateway{nameSpace.empty() ? own : std::string(nameSpace),
                               std::string(memberText(parent, "name"))};
    return gateways_.contains({gateway, true}) || (gateway.first == own && gateways_.contains({gateway, false}));
  };
  if (parents != nullptr && std::any_of(parents->items.begin(), parents->items.end(), isServed)) return true;
  return scope_.withStatus && hasStatusOfOurs(route);
}

/// Routes of other namespaces need a listener that admits some of them (allowedRoutes.namespaces.from). Without one, a
/// process that serves chosen Gateways and writes no statuses does not keep them. An additional one costs only memory,
/// so it is enough to find the words in the text.
bool ClusterObjects::keepsRoutesOfOthers(const ApiObject& gateway) const {
  if (scope_.withStatus || scope_.gateways.empty()) return true;
  const std::string_view text = gateway.text->text.reveal();
  return text.find(R"("from":"All")") != text.npos || text.find(R"("from":"Selector")") != text.npos;
}

void ClusterObjects::onCollection(FollowedCollection& /*collection*/) { mark(); }

void ClusterObjects::onCrds() {
  lookAgainAfter(kAfterCrd);
  mark();
}

// Collections get each object at once; the consequences of all of them are worked out once.
void ClusterObjects::onTurnEnd() {
  eachCollection([](FollowedCollection& each) { each.settle(); });
  const bool doubts = std::any_of(kinds_.begin(), kinds_.end(), [](const auto& each) { return each->doubtsAbsence(); });
  if (doubts) lookAgainAfter(kAfterDoubt);
  // A server that has just started may not find kinds that it has.
  const bool lacks = std::any_of(kinds_.begin(), kinds_.end(), [this](const auto& each) {
    return each->state() == FollowedCollection::State::kAbsent && isInstalled(each->kind());
  });
  if (lacks) lookAgainAfter(kAfterAbsence);
  findGateways();
  startStages();
  followNamed();
  std::erase_if(fetches_, [](const auto& each) { return each->done(); });
  eachCollection([this](FollowedCollection& each) { textsChanged_ = each.takeChanged() || textsChanged_; });
  logTrouble();
  const Touched touched = takeTouched();
  for (ClusterObjectsUser* each : users_) each->onObjects(touched);
}

void ClusterObjects::startStages() {
  for (const Stage stage : kStages) {
    bool listed = true;
    if (stage == Stage::kServices && !knowsNeeds_) return;
    for (const auto& each : kinds_) {
      if (stageOf(each->kind()) != stage) continue;
      if (started_.insert(&each->kind()).second) each->start();
      listed = listed && each->state() != FollowedCollection::State::kUnknown;
    }
    if (!listed) return;
  }
}

/// Finds our classes and the served Gateways, and lists the objects of new ones again.
void ClusterObjects::findGateways() {
  std::set<std::string> classes;
  ServedGateways gateways;
  for (const auto& each : kinds_) {
    if (each->kind().isOf<config::GatewayClass>()) {
      for (const auto& [key, object] : each->objects()) classes.insert(key.second);
    }
  }
  const auto adopt = [this](auto& known, auto found, const auto& concerns) {
    if (known == found) return;
    const bool more = !std::includes(known.begin(), known.end(), found.begin(), found.end());
    const bool fewer = !std::includes(found.begin(), found.end(), known.begin(), known.end());
    known = std::move(found);
    for (const auto& each : kinds_) {
      if (!concerns(each->kind()) || !started_.contains(&each->kind())) continue;
      const auto wanted = [&](const ApiObjectKey&, const ApiObject& object) {
        return wants(each->kind(), keptValue(object));
      };
      if (fewer) each->prune(wanted);
      if (more) each->listAgain();
    }
  };
  adopt(classes_, std::move(classes), [](const config::ObjectKind& kind) { return kind.isOf<config::Gateway>(); });
  for (const auto& each : kinds_) {
    if (each->kind().isOf<config::Gateway>()) {
      for (const auto& [key, object] : each->objects()) gateways.insert({key, keepsRoutesOfOthers(object)});
    }
  }
  adopt(gateways_, std::move(gateways), isRoute);
}

// --- referenced objects ----------------------------------------------------------------------------------------------

void ClusterObjects::followNamed() {
  if (!asked_) return;
  const NamedObjects before = std::exchange(needed_, *std::exchange(asked_, std::nullopt));
  knowsNeeds_ = true;
  for (const config::ObjectKind& kind : config::objectKinds()) {
    if (kind.isOf<config::SecretObject>()) followNamed(kind, needed_.secrets);
    if (kind.isOf<config::ConfigMap>()) followNamed(kind, needed_.configMaps);
  }
  if (before.services != needed_.services) fetchServices();
  startStages();
}

void ClusterObjects::followNamed(const config::ObjectKind& kind, const NamedObjects::Names& names) {
  const std::size_t gone = std::erase_if(named_, [&](const auto& each) {
    return std::get<0>(each.first) == kind.kind && !names.contains({std::get<1>(each.first), std::get<2>(each.first)});
  });
  textsChanged_ = textsChanged_ || gone > 0;
  for (const auto& [nameSpace, name] : names) {
    auto& followed = named_[{kind.kind, nameSpace, name}];
    if (followed != nullptr) continue;
    followed = std::make_unique<FollowedCollection>(client_, static_cast<CollectionOwner&>(*this), kind,
                                                    FollowedCollection::Scope{nameSpace, name, false});
    followed->start();
  }
}

/// Forgets Services that are not named any more, and reads those that are named now.
void ClusterObjects::fetchServices() {
  FollowedCollection* services = nullptr;
  FollowedCollection* slices = nullptr;
  for (const auto& each : kinds_) {
    if (each->kind().isOf<config::Service>()) services = each.get();
    if (each->kind().isOf<config::EndpointSlice>()) slices = each.get();
  }
  services->prune([this](const ApiObjectKey& key, const ApiObject&) { return needed_.services.contains(key); });
  slices->prune([this](const ApiObjectKey& key, const ApiObject& slice) {
    return needed_.services.contains({key.first, slice.service});
  });
  std::erase_if(fetches_, [this](const auto& each) { return !needed_.services.contains(each->name()); });
  if (!started_.contains(&services->kind())) return;  // their first list is still to come
  for (const ApiObjectKey& name : needed_.services) {
    const bool underWay =
        std::any_of(fetches_.begin(), fetches_.end(), [&](const auto& each) { return each->name() == name; });
    if (underWay || services->find(name) != nullptr) continue;
    fetches_.push_back(std::make_unique<ServiceFetch>(client_, name, *services, *slices, [this] { mark(); }));
    fetches_.back()->start();
  }
}

// --- CRDs that are installed or removed ------------------------------------------------------------------------------

/// Looks for kinds that the server lacks after that pause, unless it does so earlier.
void ClusterObjects::lookAgainAfter(base::Duration pause) {
  const base::MonotonicTime at = client_.worker().now() + pause;
  if (!isSet() || at < deadline()) client_.worker().timers().set(*this, at);
}

void ClusterObjects::onTimer() {
  bool doubts = false;
  for (const auto& each : kinds_) {
    doubts = doubts || each->doubtsAbsence();
    each->retry();
  }
  if (doubts || !crds_.followed()) lookAgainAfter(doubts ? kAfterDoubt : kWithoutCrds);
}

bool ClusterObjects::isInstalled(const config::ObjectKind& kind) const {
  return kind.group.empty() || crds_.has(pluralOf(kind.kind) + "." + std::string(kind.group));
}

/// Objects of an installed kind that may not be read might restrict traffic, so nothing is served without them. A kind
/// that is not installed may be forbidden, too.
bool ClusterObjects::isKnown(const FollowedCollection& collection) const {
  const config::ObjectKind& kind = collection.kind();
  const bool withheld =
      collection.state() == FollowedCollection::State::kForbidden && !kind.group.empty() && isInstalled(kind);
  return collection.complete() && !withheld;
}

// --- results for users of the class ----------------------------------------------------------------------------------

template <typename Visit>
void ClusterObjects::eachCollection(Visit&& visit) const {
  for (const auto& each : kinds_) visit(*each);
  for (const auto& [key, each] : named_) visit(*each);
}

std::string ClusterObjects::awaited() const {
  std::string first;
  const auto name = [&](const FollowedCollection& each) {
    if (!first.empty() || isKnown(each)) return;
    first = (each.scope().name.empty() ? "the list of kind " : "") + collectionName(each);
    if (!each.trouble().empty()) first += " (" + each.trouble() + ")";
  };
  eachCollection(name);
  if (first.empty() && !crds_.answered()) first = "the list of kind CustomResourceDefinition";
  if (first.empty() && asked_) first = "what the objects name";
  if (first.empty() && !fetches_.empty())
    first = "Service " + fetches_.front()->name().first + "/" + fetches_.front()->name().second;
  return first;
}

bool ClusterObjects::listed() const {
  return crds_.answered() && std::all_of(kinds_.begin(), kinds_.end(), [this](const auto& each) {
           return stageOf(each->kind()) == Stage::kServices || isKnown(*each);
         });
}

bool ClusterObjects::complete() const { return knowsNeeds_ && awaited().empty(); }

config::KeptTexts ClusterObjects::texts() const {
  config::KeptTexts texts;
  eachCollection([&](const FollowedCollection& each) {
    for (const auto& [key, object] : each.objects()) texts.push_back(object.text);
  });
  return texts;
}

std::vector<ClusterObjects::ForbiddenObject> ClusterObjects::forbidden() const {
  std::vector<ForbiddenObject> forbidden;
  for (const auto& [key, each] : named_) {
    if (each->state() != FollowedCollection::State::kForbidden) continue;
    forbidden.push_back({each->kind().kind, {std::get<1>(key), std::get<2>(key)}, each->trouble()});
  }
  return forbidden;
}

std::map<std::string, std::uint64_t> ClusterObjects::seenRoutes() const {
  std::map<std::string, std::uint64_t> seen;
  for (const auto& each : kinds_) {
    if (isRoute(each->kind()) && each->seen() != 0) seen[std::string(each->kind().kind)] = each->seen();
  }
  return seen;
}

ClusterObjects::Touched ClusterObjects::takeTouched() {
  Touched touched;
  for (const auto& each : kinds_) {
    for (ApiObjectKey& key : each->takeTouched()) touched.emplace_back(&each->kind(), std::move(key));
  }
  return touched;
}

bool ClusterObjects::takeChanged() {
  const bool otherApi = toldApi_ != gatewayApi();
  if (otherApi) toldApi_ = gatewayApi();
  return std::exchange(textsChanged_, false) || otherApi;
}

ClusterObjects::NewestObject ClusterObjects::find(std::string_view group, std::string_view kind,
                                                  const ApiObjectKey& key) const {
  for (const auto& each : kinds_) {
    if (each->kind().group != group || each->kind().kind != kind) continue;
    return {each->find(key), each->version()};
  }
  return {};
}

const FollowedCollection* ClusterObjects::collectionOf(std::string_view kind, const ApiObjectKey& key) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const auto& each) {
    return each->kind().kind == kind && each->find(key) != nullptr;
  });
  return found == kinds_.end() ? nullptr : found->get();
}

void ClusterObjects::forEach(
    const std::function<void(const config::ObjectKind&, const ApiObjectKey&, const ApiObject&)>& visit) const {
  for (const auto& each : kinds_) {
    if (!each->scope().withStatus) continue;
    for (const auto& [key, object] : each->objects()) visit(each->kind(), key, object);
  }
}

void ClusterObjects::logTrouble() {
  eachCollection([this](const FollowedCollection& each) { log_.look(each); });
  log_.tell(client_.url(), listed());
}

}  // namespace sluice::kubernetes
