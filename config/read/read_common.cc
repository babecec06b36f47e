// Reads the metadata of objects, references to objects, and the targets of policies.
#include "config/fields/creation_time.h"
#include "config/read/object_identity.h"
#include "config/read/object_kinds.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxAnnotationBytes = 256 * 1024;
constexpr std::size_t kMaxTimeBytes = 64;

/// Reads a member that an API server has written. It is not checked, because users may keep it in an exported object or
/// alter it.
std::string serverText(FieldReader& reader, std::string_view key) {
  const Value* field = reader.find(key);
  return field != nullptr && field->isString() ? field->text : std::string();
}

/// Returns kAfterAllTimes for a text that is not a time. Such an object must not take precedence over any object with a
/// time.
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
  if (reader.given()) meta.name = reader.requiredText("name", rule::kObjectName);
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

void readNamespace(FieldReader& root, Namespace& /*object*/) { root.ignore("spec"); }

void readObjectRef(FieldReader& reader, ObjectRef& ref, const RefDefaults& defaults, bool withNamespace) {
  ref.path = reader.path();
  ref.position = reader.position();
  if (defaults.required) {
    ref.group = readGroup(reader);
    reader.read(required("kind"), ref.kind, rule::kKind);
  } else {
    ref.group = readGroup(reader, defaults.group);
    ref.kind = defaults.kind;
    reader.read("kind", ref.kind, rule::kKind);
  }
  reader.read(required("name"), ref.name, rule::kRefName);
  if (withNamespace) reader.read("namespace", ref.nameSpace, rule::kNamespace);
}

void readBackendObjectReference(FieldReader& reader, BackendObjectReference& ref) {
  readObjectRef(reader, ref.object, {"", "Service"}, true);
  reader.read("port", ref.port, kPorts);
}

std::string readGroup(FieldReader& reader) {
  reader.require("group");
  std::string group = reader.anyText("group", rule::kGroup.maxLength);
  if (!isGroup(group)) reader.error("group", "must be an API group");
  return group;
}

std::string readGroup(FieldReader& reader, std::string_view absent) {
  const Value* group = reader.find("group");
  if (group == nullptr) return std::string(absent);
  const bool core = group->isString() && group->text.empty();
  return core ? "" : reader.text("group", rule::kGroup);
}

void readPolicyTarget(FieldReader reader, PolicyTargets& named) {
  PolicyTarget target;
  readObjectRef(reader, target.object, {{}, {}, /*required=*/true}, false);
  const Value* group = reader.find("group");
  target.groupLegible = group != nullptr && group->isString() && isGroup(group->text);
  reader.read("sectionName", target.sectionName, rule::kSectionName);
  reader.finish();
  if (!target.object.name.empty()) named.targets.push_back(std::move(target));
}

void readTargetRefs(FieldReader& spec, PolicyTargets& named) {
  spec.require("targetRefs");
  for (const Item& item : spec.listOfSome("targetRefs", kMaxPolicyTargets)) readPolicyTarget(spec.map(item), named);
}

bool isBackendTarget(const PolicyTarget& target) {
  return isKindOf<Backend>(target.object.group, target.object.kind) ||
         isKindOf<Service>(target.object.group, target.object.kind);
}

}  // namespace sluice::config
