#include "proxy/kubernetes/status/status_patch.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include "proxy/base/json_writer.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {
namespace {

using content::Member;
using content::Value;

constexpr std::size_t kConditionsBound = 8;
constexpr std::size_t kOwnConditionsBound = 32;
constexpr std::size_t kParentsBound = 32;
constexpr std::size_t kAncestorsBound = 16;
constexpr std::size_t kControllersBound = 8;
constexpr std::size_t kListenersBound = 64;
constexpr std::size_t kFeaturesBound = 64;
constexpr std::size_t kAddressesBound = 16;
constexpr std::size_t kMostMessageBytes = 32768;
constexpr std::size_t kLeastMessageBytes = 128;
constexpr std::size_t kMostStatusBytes = std::size_t{1024} * 1024;

constexpr std::string_view kOurTypes[] = {config::condition_type::kAccepted,
                                          config::condition_type::kProgrammed,
                                          config::condition_type::kResolvedRefs,
                                          config::condition_type::kConflicted,
                                          config::condition_type::kPartiallyInvalid,
                                          config::condition_type::kPartiallyVisible,
                                          config::condition_type::kOverlappingTlsConfig,
                                          config::condition_type::kSupportedVersion,
                                          config::condition_type::kInsecureFrontendValidationMode,
                                          config::condition_type::kDegraded,
                                          config::condition_type::kAvailable,
                                          config::condition_type::kProgressing};

Value* memberOf(Value& map, std::string_view key) {
  for (Member& each : map.members) {
    if (each.key == key) return &each.value;
  }
  return nullptr;
}

void setTextMember(Value& map, std::string_view key, std::string text) {
  Value* found = memberOf(map, key);
  if (found == nullptr) {
    map.members.push_back({std::string(key), {}, {}});
    found = &map.members.back().value;
  }
  *found = Value{Value::Kind::kString, std::move(text), {}, {}, {}, 0};
}

/// Returns the entries of the list `key`; none if there is no such list.
const std::vector<Value>& entriesOf(const Value* map, std::string_view key) {
  static const std::vector<Value> kNone;
  const Value* found = valueIn(map, key);
  return found == nullptr ? kNone : found->items;
}

bool isSameValue(const Value& a, const Value& b);

bool areSameLists(const std::vector<Value>& a, const std::vector<Value>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSameValue);
}

bool isSameValue(const Value& a, const Value& b) {
  if (a.kind != b.kind || a.members.size() != b.members.size()) return false;
  if (a.kind == Value::Kind::kMap) {
    return std::all_of(a.members.begin(), a.members.end(), [&](const Member& each) {
      const Value* other = b.find(each.key);
      return other != nullptr && isSameValue(each.value, *other);
    });
  }
  return a.text == b.text && areSameLists(a.items, b.items);
}

/// The rules by which entries of a list are distinguished.
struct EntryRules {
  std::size_t most = 0;
  std::function<bool(const Value& entry)> isOurs;
  std::function<bool(const Value& a, const Value& b)> isSameEntry;
};

/// Returns the list's next content: `current` with our entries replaced by `wanted`.
std::vector<Value> mergedList(const EntryRules& rules, const std::vector<Value>& current, std::vector<Value> wanted) {
  const auto others = static_cast<std::size_t>(
      std::count_if(current.begin(), current.end(), [&](const Value& each) { return !rules.isOurs(each); }));
  const std::size_t room = rules.most - std::min(rules.most, others);
  if (wanted.size() > room) wanted.resize(room);
  std::vector<Value> list;
  for (const Value& each : current) {
    if (!rules.isOurs(each)) {
      list.push_back(each);
      continue;
    }
    const auto found =
        std::find_if(wanted.begin(), wanted.end(), [&](const Value& entry) { return rules.isSameEntry(entry, each); });
    if (found == wanted.end()) continue;
    list.push_back(std::move(*found));
    wanted.erase(found);
  }
  std::move(wanted.begin(), wanted.end(), std::back_inserter(list));
  return list;
}

bool haveSameText(const Value& a, const Value& b, std::string_view key) { return textIn(&a, key) == textIn(&b, key); }

/// Returns true for types whose prefix is this program's domain or one below it, such as "extension.sluice.dev/key".
bool hasOurDomain(std::string_view type) {
  const std::string_view domain = type.substr(0, std::min(type.find('/'), type.size()));
  if (domain.size() == type.size() || !domain.ends_with(config::kOwnGroup)) return false;
  return domain.size() == config::kOwnGroup.size() || domain[domain.size() - config::kOwnGroup.size() - 1] == '.';
}

bool isOurType(std::string_view type) {
  return hasOurDomain(type) || std::find(std::begin(kOurTypes), std::end(kOurTypes), type) != std::end(kOurTypes);
}

EntryRules conditionRules(std::size_t most, const std::vector<Value>& wanted) {
  return {most,
          [&wanted](const Value& entry) {
            const std::string_view type = textIn(&entry, "type");
            return isOurType(type) || std::any_of(wanted.begin(), wanted.end(),
                                                  [&](const Value& each) { return textIn(&each, "type") == type; });
          },
          [](const Value& a, const Value& b) { return haveSameText(a, b, "type"); }};
}

bool isAboutOwn(const Value* reference, const OwnEntries& own) {
  if (own.gateways == nullptr || own.gateways->empty()) return true;
  const std::string_view kind = textIn(reference, "kind");
  if (!kind.empty() && kind != config::Gateway::kKind) return true;
  const std::string_view nameSpace = textIn(reference, "namespace");
  return own.gateways->contains(std::string(nameSpace.empty() ? own.nameSpace : nameSpace) + "/" +
                                std::string(textIn(reference, "name")));
}

EntryRules parentRules(std::size_t most, std::string_view reference, const OwnEntries& own) {
  return {most,
          [reference, own](const Value& entry) {
            return textIn(&entry, "controllerName") == config::kControllerName &&
                   isAboutOwn(valueIn(&entry, reference), own);
          },
          [reference](const Value& a, const Value& b) {
            const Value* one = valueIn(&a, reference);
            const Value* other = valueIn(&b, reference);
            return one != nullptr && other != nullptr && isSameValue(*one, *other);
          }};
}

EntryRules controllerRules() {
  return {kControllersBound, [](const Value& entry) { return textIn(&entry, "name") == config::kControllerName; },
          [](const Value& a, const Value& b) { return haveSameText(a, b, "name"); }};
}

/// Makes the lists that differ from the current status.
class StatusMerge {
 public:
  StatusMerge(const Value* current, std::string_view group, base::WallTime now)
      : current_(current),
        now_(apiTime(now)),
        mostConditions_(group == config::kOwnGroup ? kOwnConditionsBound : kConditionsBound) {}

  void conditions(std::vector<Value> wanted) {
    carryTimes(wanted, entriesOf(current_, "conditions"));
    const std::vector<Value> types = wanted;
    merge("conditions", conditionRules(mostConditions_, types), std::move(wanted));
  }

  /// Takes over entries that have conditions of their own.
  void parts(std::string_view list, const EntryRules& rules, std::vector<Value> wanted) {
    for (Value& entry : wanted) {
      Value* conditions = memberOf(entry, "conditions");
      if (conditions == nullptr) continue;
      const Value* known = nullptr;
      for (const Value& each : entriesOf(current_, list)) {
        if (rules.isOurs(each) && rules.isSameEntry(entry, each)) known = &each;
      }
      carryTimes(conditions->items, entriesOf(known, "conditions"));
      if (conditions->items.size() > mostConditions_) conditions->items.resize(mostConditions_);
    }
    merge(list, rules, std::move(wanted));
  }

  /// Takes over a list that only this program writes.
  void whole(std::string_view list, std::size_t most, std::vector<Value> wanted) {
    if (wanted.size() > most) wanted.resize(most);
    put(list, std::move(wanted));
  }

  void merge(std::string_view list, const EntryRules& rules, std::vector<Value> wanted) {
    put(list, mergedList(rules, entriesOf(current_, list), std::move(wanted)));
  }

  std::optional<std::string> take(std::string_view resourceVersion) {
    assert(!resourceVersion.empty());
    if (changed_.members.empty()) return std::nullopt;
    base::JsonWriter json;
    json.beginObject().key("metadata").beginObject().member("resourceVersion", resourceVersion).endObject();
    return json.key("status").json(content::writeJson(changed_)).endObject().take();
  }

 private:
  void put(std::string_view list, std::vector<Value> entries) {
    if (areSameLists(entries, entriesOf(current_, list))) return;
    changed_.members.push_back({std::string(list), {}, {Value::Kind::kList, {}, std::move(entries), {}, {}, 0}});
  }

  void carryTimes(std::vector<Value>& conditions, const std::vector<Value>& before) const {
    constexpr std::string_view kTime = "lastTransitionTime";
    for (Value& each : conditions) {
      const auto known =
          std::find_if(before.begin(), before.end(), [&](const Value& old) { return haveSameText(each, old, "type"); });
      std::string time(textIn(&each, kTime));
      // The text has fractions, which a metav1.Time has not.
      if (const std::size_t fraction = time.find('.'); fraction != std::string::npos)
        time = time.substr(0, fraction) + "Z";
      if (time.empty()) time = now_;
      if (known != before.end() && haveSameText(each, *known, "status") && !textIn(&*known, kTime).empty()) {
        time = textIn(&*known, kTime);
      }
      setTextMember(each, kTime, std::move(time));
    }
  }

  const Value* const current_;
  const std::string now_;
  const std::size_t mostConditions_;
  Value changed_{Value::Kind::kMap, {}, {}, {}, {}, 0};
};

void cutMessages(Value& value, std::size_t most) {
  for (Value& each : value.items) cutMessages(each, most);
  for (auto& [key, position, each] : value.members) {
    if (key == "message" && each.text.size() > most) {
      each.text = boundedText(each.text, most);
    } else {
      cutMessages(each, most);
    }
  }
}

/// Returns the status in the form of its kind, with messages that are short enough.
Value wantedTree(const config::ObjectStatus& wanted) {
  const std::string text = config::statusJson(wanted);
  base::Result<Value> parsed = content::parseJson(text, {text.size(), 64});
  assert(parsed);
  Value tree = parsed ? std::move(*parsed) : Value{Value::Kind::kMap, {}, {}, {}, {}, 0};
  cutMessages(tree, kMostMessageBytes);
  for (std::size_t most = kMostMessageBytes / 2; most >= kLeastMessageBytes; most /= 2) {
    if (content::writeJson(tree).size() <= kMostStatusBytes) break;
    cutMessages(tree, most);
  }
  return tree;
}

std::vector<Value> sortedByName(std::vector<Value> features) {
  std::sort(features.begin(), features.end(),
            [](const Value& a, const Value& b) { return textIn(&a, "name") < textIn(&b, "name"); });
  features.erase(std::unique(features.begin(), features.end(), isSameValue), features.end());
  return features;
}

std::vector<Value> takeEntries(Value& tree, std::string_view list) {
  Value* found = memberOf(tree, list);
  return found == nullptr ? std::vector<Value>() : std::move(found->items);
}

EntryRules listenerRules() {
  return {kListenersBound, [](const Value&) { return true; },
          [](const Value& a, const Value& b) { return haveSameText(a, b, "name"); }};
}

}  // namespace

std::optional<std::string> statusPatch(const config::ObjectStatus& wanted, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own, base::WallTime now) {
  Value tree = wantedTree(wanted);
  StatusMerge merge(current, wanted.group, now);
  switch (wanted.shape) {
    case config::StatusShape::kConditions:
      merge.conditions(takeEntries(tree, "conditions"));
      if (wanted.kind == config::GatewayClass::kKind) {
        merge.whole("supportedFeatures", kFeaturesBound, sortedByName(takeEntries(tree, "supportedFeatures")));
      }
      break;
    case config::StatusShape::kGateway:
      merge.conditions(takeEntries(tree, "conditions"));
      merge.parts("listeners", listenerRules(), takeEntries(tree, "listeners"));
      merge.whole("addresses", kAddressesBound, takeEntries(tree, "addresses"));
      break;
    case config::StatusShape::kParents:
      merge.parts("parents", parentRules(kParentsBound, "parentRef", own), takeEntries(tree, "parents"));
      break;
    case config::StatusShape::kAncestors:
      merge.parts("ancestors", parentRules(kAncestorsBound, "ancestorRef", own), takeEntries(tree, "ancestors"));
      break;
    case config::StatusShape::kControllers:
      merge.parts("controllers", controllerRules(), takeEntries(tree, "controllers"));
      break;
  }
  return merge.take(resourceVersion);
}

std::optional<std::string> withoutOurs(config::StatusShape shape, const content::Value* current,
                                       std::string_view resourceVersion, const OwnEntries& own) {
  StatusMerge merge(current, {}, {});
  switch (shape) {
    case config::StatusShape::kConditions:
    case config::StatusShape::kGateway:
      merge.merge("conditions",
                  {kConditionsBound, [](const Value& entry) { return hasOurDomain(textIn(&entry, "type")); },
                   [](const Value&, const Value&) { return false; }},
                  {});
      break;
    case config::StatusShape::kParents:
      merge.merge("parents", parentRules(kParentsBound, "parentRef", own), {});
      break;
    case config::StatusShape::kAncestors:
      merge.merge("ancestors", parentRules(kAncestorsBound, "ancestorRef", own), {});
      break;
    case config::StatusShape::kControllers:
      merge.merge("controllers", controllerRules(), {});
      break;
  }
  return merge.take(resourceVersion);
}

}  // namespace sluice::kubernetes
