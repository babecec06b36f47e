#include "config/fields/creation_time.h"
#include "config/read/object_identity.h"
#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
constexpr std::size_t kMaxTimeBytes = 64;

/// Reads a member that an API server has written. It is not checked, because users may leave it in an exported object
/// or alter it.
std::string serverText(FieldReader& reader, std::string_view key) {
  const Value* field = reader.find(key);
  return field != nullptr && field->isString() ? field->text : std::string();
}

/// Returns kAfterAllTimes for what is no time: such an object must not take what an older one has.
std::string readCreationTime(FieldReader& reader) {
  const Value* given = reader.find("creationTimestamp");
  if (given == nullptr) return std::string(kAfterAllTimes);
  if (given->isString() && given->text.size() <= kMaxTimeBytes) {
    if (std::optional<std::string> time = sortableTime(given->text)) return *std::move(time);
  }
  reader.error("creationTimestamp", "must be a time like 2026-01-31T23:59:59Z, but is " + base::quote(given->text));
  return std::string(kAfterAllTimes);
}

}  // namespace

ObjectMeta readMeta(FieldReader& root, const ObjectKind& kind) {
  ObjectMeta meta;
  meta.group = kind.group;
  meta.kind = kind.kind;
  meta.position = root.position();
  root.require("metadata");
  FieldReader reader = root.map("metadata");
  if (root.has("metadata")) meta.name = reader.requiredText("name", rule::kObjectName);
  meta.nameSpace = reader.text("namespace", rule::kNamespace);
  if (!kind.namespaced) meta.nameSpace.clear();
  meta.namespaceGiven = !meta.nameSpace.empty();
  if (kind.namespaced && meta.nameSpace.empty()) meta.nameSpace = kDefaultNamespace;
  meta.generation = reader.integer("generation", 0, INT64_MAX);
  meta.uid = serverText(reader, "uid");
  meta.resourceVersion = serverText(reader, "resourceVersion");
  meta.creationTimestamp = readCreationTime(reader);
  meta.labels = reader.textMap("labels", 63);
  meta.annotations = reader.textMap("annotations", kMaxAnnotationBytes);
  for (const std::string_view field : kServerFields) reader.ignore(field);
  reader.finish();
  return meta;
}

ObjectRef readObjectRef(FieldReader& reader, const RefDefaults& defaults, bool withNamespace) {
  ObjectRef ref;
  ref.path = reader.path();
  ref.position = reader.position();
  if (defaults.required) {
    // A group may be required and yet be empty, which means the core group.
    reader.require("group");
    ref.group = reader.anyText("group", rule::kGroup.maxLength);
    if (!isGroup(ref.group)) reader.error("group", "must be an API group");
    ref.kind = reader.requiredText("kind", rule::kKind);
  } else {
    const Value* group = reader.find("group");
    const bool core = group != nullptr && group->isString() && group->text.empty();
    ref.group = group == nullptr ? std::string(defaults.group) : core ? "" : reader.text("group", rule::kGroup);
    ref.kind = reader.has("kind") ? reader.text("kind", rule::kKind) : std::string(defaults.kind);
  }
  ref.name = reader.requiredText("name", rule::kRefName);
  if (withNamespace) ref.nameSpace = reader.text("namespace", rule::kNamespace);
  return ref;
}

std::vector<ObjectRef> readObjectRefs(FieldReader& reader, std::string_view key, std::size_t maxItems,
                                      const RefDefaults& defaults, bool withNamespace) {
  std::vector<ObjectRef> refs;
  for (const Item& item : reader.list(key, maxItems)) {
    FieldReader ref = reader.map(item);
    refs.push_back(readObjectRef(ref, defaults, withNamespace));
    ref.finish();
  }
  return refs;
}

}  // namespace sluice::config
