#include "config/catalog/config_references.h"

#include <cstdint>
#include <string>
#include <utility>

namespace sluice::config {
namespace {

constexpr ReferenceField kReferenceFields[] = {
    {processor_type::kCredentialInjector, "secretRef", SecretObject::kKind},
    {processor_type::kExtProc, "backendRefs", Service::kKind},
    {processor_type::kExternalAuthType, "backendRef", Service::kKind},
};

ObjectRef referenceIn(const Value& written, std::string_view kind) {
  const auto text = [&](std::string_view key, std::string_view otherwise) {
    const Value* member = written.find(key);
    return std::string(member != nullptr && member->isString() ? std::string_view(member->text) : otherwise);
  };
  ObjectRef ref;
  ref.group = text("group", "");
  ref.kind = text("kind", kind);
  ref.nameSpace = text("namespace", "");
  ref.name = text("name", "");
  return ref;
}

/// Returns the value of a field in the config of the use; nullopt if the field is of another type, or absent.
std::optional<Value> referringValue(const ReferenceField& field, const ProcessorUse& use) {
  return field.type == use.type && use.config ? use.config->find(field.name) : std::nullopt;
}

std::string beyond(std::uint64_t count, std::string_view what, std::string_view limit, std::uint64_t most) {
  std::string text = "has " + std::to_string(count);
  text.append(" ").append(what).append(", and ").append(std::to_string(most));
  return text.append(" are allowed (limits.").append(limit).append(")");
}

}  // namespace

std::span<const ReferenceField> referenceFields() { return kReferenceFields; }

std::vector<ObjectRef> referencesIn(const ProcessorUse& use, const base::LimitSettings& limits) {
  std::vector<ObjectRef> refs;
  if (excessOf(use, limits)) return refs;
  const auto add = [&refs](const Value& written, std::string_view kind) {
    ObjectRef ref = referenceIn(written, kind);
    // The place of a server names no Secret, even if the reference has that kind.
    if (!ref.group.empty() || ref.kind == kind) refs.push_back(std::move(ref));
  };
  for (const ReferenceField& field : kReferenceFields) {
    const std::optional<Value> written = referringValue(field, use);
    if (!written) continue;
    if (written->isMap()) add(*written, field.kind);
    for (const Value& item : written->items) add(item, field.kind);
  }
  return refs;
}

std::optional<Finding> excessOf(const ProcessorUse& use, const base::LimitSettings& limits) {
  if (!use.config) return std::nullopt;
  const std::size_t bytes = use.config->size();
  if (bytes > limits.configBytes) {
    return Finding{use.configPath(), beyond(bytes, "bytes", "configBytes", limits.configBytes)};
  }
  for (const ReferenceField& field : kReferenceFields) {
    const std::optional<Value> written = referringValue(field, use);
    const std::size_t count = written ? written->items.size() : 0;
    if (count <= limits.references) continue;
    return Finding{use.configPath() + "." + std::string(field.name),
                   beyond(count, "references", "references", limits.references)};
  }
  return std::nullopt;
}

}  // namespace sluice::config
