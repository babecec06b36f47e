#include "config/load/object_reading.h"

#include <string>
#include <utility>

#include "config/fields/field_reader.h"
#include "config/read/object_readers.h"
#include "proxy/base/text.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxItems = 100000;  // the most items of a List

std::string groupPrefix(std::string_view group) { return group.empty() ? "" : std::string(group) + "/"; }

/// Returns all versions with the kind: "sluice.dev/v1alpha1 or gateway.networking.k8s.io/v1alpha1".
std::string apiVersionsOf(std::string_view kind) {
  std::vector<std::string> versions;
  for (const ObjectKind& each : objectKinds()) {
    if (each.kind != kind) continue;
    for (const std::string_view version : each.versions) {
      versions.push_back(groupPrefix(each.group) + std::string(version));
    }
  }
  const std::vector<std::string_view> choices(versions.begin(), versions.end());
  return base::joinChoices(choices);
}

/// Returns the problem of an object for which there is no reader.
Problem unreadableKind(const Value& root, const ObjectIdentity& identity) {
  Problem problem;
  const Value* apiVersion = root.find("apiVersion");
  const Value* kindField = root.find("kind");
  problem.position = kindField == nullptr ? root.position : kindField->position;
  problem.object = identity.name.empty() ? identity.kind : identity.kind + " " + identity.qualifiedName();
  const bool hasVersion = apiVersion != nullptr && apiVersion->isString() && !apiVersion->text.empty();
  if (!hasVersion || identity.kind.empty()) {
    problem.message = "must have apiVersion and kind";
  } else if (isUnsupportedKind(identity.group, identity.kind)) {
    problem.message = "kind " + identity.kind + " of " + apiVersion->text +
                      " is known, but not supported yet; the object has no effect";
  } else {
    problem.message = "unknown kind " + base::quote(identity.kind) + " of " + base::quote(apiVersion->text);
    const std::string_view meant = closestKind(identity.kind);
    if (meant == identity.kind) problem.message += ": that is a kind of " + apiVersionsOf(meant);
    if (!meant.empty() && meant != identity.kind) problem.message += ": did you mean " + std::string(meant) + "?";
  }
  return problem;
}

/// Refuses an object whose version is not supported. Its readable part still shows which requests it is for.
void checkVersion(const Value& root, const ObjectReading& reading, ObjectContext& context) {
  const ObjectIdentity& identity = reading.identity;
  if (reading.kind->hasVersion(identity.version)) return;
  const Value& apiVersion = *root.find("apiVersion");
  context.error(apiVersion.position, "apiVersion",
                "must be " + groupPrefix(identity.group) + base::joinChoices(reading.kind->versions) + ", but is " +
                    base::quote(apiVersion.text));
}

void readFields(const Value& root, const ReadingRules& rules, ObjectReading& reading) {
  const ObjectIdentity& identity = reading.identity;
  ObjectContext context(identity.kind + " " + identity.qualifiedName(), reading.problems, rules.unknownFields);
  checkVersion(root, reading, context);
  FieldReader reader(&root, "", root.position, context);
  for (const std::string_view field : {"apiVersion", "kind", "status"}) reader.ignore(field);
  Rejected rejected;
  ObjectMeta meta = readMeta(reader, *reading.kind);
  meta.revision = meta.contentRevision = revisionOf(pki::toHex(reading.revision->digest));
  static_cast<ObjectVersion&>(rejected) = meta;
  reading.object = reading.kind->read(reader, std::move(meta), rejected);
  if (context.errors() == 0 || identity.name.empty()) return;
  rejected.group = identity.group;
  rejected.kind = identity.kind;
  rejected.nameSpace = identity.nameSpace;
  rejected.name = identity.name;
  rejected.message = context.firstError();
  rejected.position = root.position;
  reading.rejected = std::make_shared<Rejected>(std::move(rejected));
}

void readObject(const Value& root, const ReadingRules& rules, bool insideList, std::vector<ObjectReading>& readings);

void readList(const Value& root, const ObjectIdentity& identity, const ReadingRules& rules,
              std::vector<ObjectReading>& readings) {
  ObjectReading list;
  list.position = root.position;
  ObjectContext context(identity.kind, list.problems, rules.unknownFields);
  FieldReader reader(&root, "", root.position, context);
  for (const std::string_view field : {"apiVersion", "kind", "metadata"}) reader.ignore(field);
  std::vector<Item> items = reader.list("items", kMaxItems);
  if (context.errors() != 0) items.clear();
  reader.finish();
  for (const Item& item : items) {
    if (identity.isList()) {
      readObject(*item.value, rules, /*insideList=*/true, readings);
    } else {
      readObject(completeItem(*item.value, root), rules, /*insideList=*/true, readings);
    }
  }
  readings.push_back(std::move(list));
}

void readObject(const Value& root, const ReadingRules& rules, bool insideList, std::vector<ObjectReading>& readings) {
  if (root.isNull()) return;
  ObjectReading reading;
  reading.identity = identify(root);
  reading.position = root.position;
  if (!insideList && isListOfObjects(root, reading.identity)) return readList(root, reading.identity, rules, readings);
  reading.revision = revisionEntry(root, reading.identity, rules.key);
  if (!root.isMap()) {
    reading.problems.push_back({Severity::kError, root.position, "", "", "must be an object with apiVersion and kind"});
  } else {
    if (!reading.identity.version.empty()) {
      reading.kind = findObjectKind(reading.identity.group, reading.identity.kind);
    }
    if (reading.kind != nullptr) {
      readFields(root, rules, reading);
    } else if (reading.identity.version.empty() || !isUnconcernedKind(reading.identity.group, reading.identity.kind)) {
      reading.problems.push_back(unreadableKind(root, reading.identity));
    }
  }
  readings.push_back(std::move(reading));
}

}  // namespace

void readObjects(const Value& root, const ReadingRules& rules, std::vector<ObjectReading>& readings) {
  readObject(root, rules, /*insideList=*/false, readings);
}

}  // namespace sluice::config
