#include "config/read/object_readers.h"

namespace sluice::config {
namespace {

constexpr std::size_t kMaxEntries = 16;

void readFrom(FieldReader& reader, ReferenceGrant::From& from) {
  from.group = readGroup(reader);
  reader.read(required("kind"), from.kind, rule::kKind);
  reader.read(required("namespace"), from.nameSpace, rule::kNamespace);
}

void readTo(FieldReader& reader, ReferenceGrant::To& to) {
  to.group = readGroup(reader);
  reader.read(required("kind"), to.kind, rule::kKind);
  reader.read("name", to.name, rule::kRefName);
}

/// Reads a list that must not be empty.
template <typename T>
void readEntries(FieldReader& spec, std::string_view key, std::vector<T>& entries, void (*fields)(FieldReader&, T&)) {
  const Value* given = spec.require(key);
  spec.read(key, entries, kMaxEntries, fields);
  if (given != nullptr && given->isList() && given->items.empty()) spec.error(key, "must have at least one item");
}

}  // namespace

void readReferenceGrant(FieldReader& spec, ReferenceGrant& grant) {
  readEntries(spec, "from", grant.from, readFrom);
  readEntries(spec, "to", grant.to, readTo);
}

}  // namespace sluice::config
