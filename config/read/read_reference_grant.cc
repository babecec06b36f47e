#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxEntries = 16;

/// Reads a group, which must be given. It may be empty, which means the core group.
std::string readGroup(FieldReader& reader) {
  reader.require("group");
  std::string group = reader.anyText("group", rule::kGroup.maxLength);
  if (!isGroup(group)) reader.error("group", "must be an API group");
  return group;
}

std::vector<Item> readEntries(FieldReader& spec, std::string_view key) {
  spec.require(key);
  std::vector<Item> items = spec.list(key, kMaxEntries);
  const Value* given = spec.find(key);
  if (given != nullptr && given->isList() && given->items.empty()) spec.error(key, "must have at least one item");
  return items;
}

}  // namespace

ReferenceGrant readReferenceGrant(FieldReader& root, ObjectMeta meta) {
  ReferenceGrant grant;
  grant.meta = std::move(meta);
  root.require("spec");
  FieldReader spec = root.map("spec");
  for (const Item& item : readEntries(spec, "from")) {
    FieldReader from = spec.map(item);
    grant.from.push_back(
        {readGroup(from), from.requiredText("kind", rule::kKind), from.requiredText("namespace", rule::kNamespace)});
    from.finish();
  }
  for (const Item& item : readEntries(spec, "to")) {
    FieldReader to = spec.map(item);
    grant.to.push_back({readGroup(to), to.requiredText("kind", rule::kKind), to.text("name", rule::kRefName)});
    to.finish();
  }
  spec.finish();
  return grant;
}

}  // namespace sluice::config
