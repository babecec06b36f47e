#include "config/convert/new_references.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "config/convert/converted_kinds.h"
#include "config/model/model.h"
#include "config/yaml/value_builder.h"
#include "config/yaml/yaml_reader.h"
#include "config/yaml/yaml_writer.h"

namespace sluice::config {
namespace {

/// The field of a filter whose reference has a default group and kind of another spelling.
constexpr std::string_view kPipelineField = "payloadProcessingRef";

/// The group and kind of a reference that does not name them.
struct ReferenceDefaults {
  std::string_view group;
  std::string_view kind;
};

std::string memberText(const Value& map, std::string_view key, std::string_view absent = {}) {
  const Value* found = map.find(key);
  return found != nullptr && found->isString() ? found->text : std::string(absent);
}

void setText(Value& map, std::string_view key, std::string_view text) {
  const auto found =
      std::find_if(map.members.begin(), map.members.end(), [key](const Member& each) { return each.key == key; });
  if (found == map.members.end()) return addText(map, key, text);
  found->value = textValue(text, map.position);
}

class ReferenceRenewal {
 public:
  ReferenceRenewal(const std::string& nameSpace, const StayingObjects& staying)
      : nameSpace_(nameSpace), staying_(staying) {}

  /// Changes the map if it is a reference. Returns true if it was one.
  bool renew(Value& map, const ReferenceDefaults& defaults = {}) const {
    const std::string group = memberText(map, "group", defaults.group);
    const std::string kind = memberText(map, "kind", defaults.kind);
    const ConvertedKind* converted = findConvertedKind(group, kind);
    if (converted == nullptr) return false;
    const std::string name = memberText(map, "name");
    if (staying_.contain(group, kind, memberText(map, "namespace", nameSpace_), name)) return false;
    setText(map, "group", converted->newGroup);
    setText(map, "kind", converted->newKind);
    return true;
  }

  /// Changes all references in the value, whose depth is bounded because that of a document is. Returns true if there
  /// was one.
  bool renewAll(Value& value) const {
    bool changed = value.isMap() && renew(value);
    for (Member& each : value.members) {
      if (each.key == kPipelineField && each.value.isMap()) {
        changed = renew(each.value, {kGatewayGroup, PayloadProcessingPipeline::kKind}) || changed;
      }
      changed = renewAll(each.value) || changed;
    }
    for (Value& each : value.items) changed = renewAll(each) || changed;
    return changed;
  }

  /// Changes the entries of a list of a ReferenceGrant.
  void renewEntries(Value& list) const {
    std::vector<Value> entries;
    const auto add = [&entries](Value entry) {
      const std::string text = writeYaml(entry);
      const bool repeats =
          std::any_of(entries.begin(), entries.end(), [&text](const Value& other) { return writeYaml(other) == text; });
      if (!repeats) entries.push_back(std::move(entry));
    };
    for (const Value& each : list.items) {
      if (staying_.containAny(memberText(each, "group"), memberText(each, "kind"))) add(each);
      Value renewed = each;
      renew(renewed);
      add(std::move(renewed));
    }
    list.items = std::move(entries);
  }

 private:
  const std::string& nameSpace_;
  const StayingObjects& staying_;
};

Value* findMember(Value* map, std::string_view key) {
  if (map == nullptr) return nullptr;
  for (Member& each : map->members) {
    if (each.key == key) return &each.value;
  }
  return nullptr;
}

/// Changes the references in texts of a ConfigMap, which are settings and entries of catalogs. A text without such
/// references stays as it is, with its comments.
void renewTexts(Value& configMap, const ReferenceRenewal& renewal) {
  Value* data = findMember(&configMap, "data");
  if (data == nullptr) return;
  for (Member& each : data->members) {
    if (!each.key.ends_with(".yaml") || !each.value.isString()) continue;
    Problems unread;
    std::vector<Document> documents = readYaml(each.value.text, {}, unread);
    if (documents.size() != 1 || !renewal.renewAll(documents.front().root)) continue;
    each.value = textValue(writeYaml(documents.front().root), each.value.position);
  }
}

}  // namespace

void StayingObjects::add(const ObjectIdentity& object) {
  names_.emplace(object.group, object.kind, object.nameSpace, object.name);
  kinds_.emplace(object.group, object.kind);
}

bool StayingObjects::contain(std::string_view group, std::string_view kind, std::string_view nameSpace,
                             std::string_view name) const {
  const auto has = [&](std::string_view ofKind) {
    return names_.contains(Name(std::string(group), std::string(ofKind), std::string(nameSpace), std::string(name)));
  };
  if (has(kind)) return true;
  // A reference of the prototype to a Backend may mean an XBackendDestination.
  return group == kPrototypeGroup && kind == Backend::kKind && has(Backend::kDestinationKind);
}

bool StayingObjects::containAny(std::string_view group, std::string_view kind) const {
  return kinds_.contains({std::string(group), std::string(kind)});
}

void renewReferences(Value& object, const ObjectIdentity& identity, const StayingObjects& staying) {
  const ReferenceRenewal renewal(identity.nameSpace, staying);
  if (identity.group == kGatewayGroup && identity.kind == ReferenceGrant::kKind) {
    Value* spec = findMember(&object, "spec");
    for (const std::string_view key : {"from", "to"}) {
      if (Value* list = findMember(spec, key)) renewal.renewEntries(*list);
    }
  } else if (identity.group.empty() && identity.kind == ConfigMap::kKind) {
    renewTexts(object, renewal);
  } else if (!(identity.group.empty() && identity.kind == SecretObject::kKind)) {
    renewal.renewAll(object);
  }
}

}  // namespace sluice::config
