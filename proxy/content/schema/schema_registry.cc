#include "proxy/content/schema/schema_registry.h"

#include "proxy/content/json_pointer.h"
#include "proxy/content/schema/schema_bounds.h"
#include "proxy/content/schema/schema_keywords.h"
#include "proxy/content/schema/uri_reference.h"

namespace sluice::content {

SchemaFault SchemaRegistry::add(const Value& document, std::string_view uri) {
  fault_ = {};
  visit(document, begin(document, std::string(uri), document));
  return fault_;
}

SchemaFault SchemaRegistry::addPart(const PlacedSchema& part) {
  fault_ = {};
  visit(*part.schema, part.resource);
  return fault_;
}

std::uint32_t SchemaRegistry::begin(const Value& root, std::string uri, const Value& at) {
  const std::uint32_t resource = resourceCount();
  if (uri.size() > kMaxSchemaUriBytes) {
    fail(at, "must not lead to a URI of more than " + std::to_string(kMaxSchemaUriBytes) + " bytes");
  }
  if (!byUri_.try_emplace(uri, resource).second) fail(at, "is the URI of another schema already");
  resources_.push_back({std::move(uri), &root, {}, {}});
  return resource;
}

void SchemaRegistry::visit(const Value& schema, std::uint32_t resource) {
  if (fault_) return;
  if (std::string fault = shapeFault(KeywordShape::kSchema, schema); !fault.empty()) {
    fail(schema, std::move(fault));
    return;
  }
  for (const Member& member : schema.members) {
    const SchemaKeyword* keyword = findSchemaKeyword(member.key);
    if (keyword == nullptr) continue;
    if (std::string fault = shapeFault(keyword->shape, member.value); !fault.empty()) {
      fail(member.value, std::move(fault));
      return;
    }
  }
  resource = identify(schema, resource);
  places_.emplace(&schema, resource);
  anchor(schema, resource);
  forEachSubschema(schema, [&](const Value& below) { visit(below, resource); });
}

/// Returns the resource that the schema is, or belongs to.
std::uint32_t SchemaRegistry::identify(const Value& schema, std::uint32_t resource) {
  const Value* id = schema.find("$id");
  if (id == nullptr) return resource;
  std::string uri = resolveUri(resources_[resource].uri, id->text).document;
  if (uri == resources_[resource].uri && resources_[resource].root == &schema) return resource;
  return begin(schema, std::move(uri), *id);
}

void SchemaRegistry::anchor(const Value& schema, std::uint32_t resource) {
  for (const std::string_view keyword : {"$anchor", "$dynamicAnchor"}) {
    const Value* name = schema.find(keyword);
    if (name == nullptr) continue;
    SchemaResource& holder = resources_[resource];
    const auto [known, isNew] = holder.anchors.try_emplace(name->text, &schema);
    if (!isNew && known->second != &schema) fail(*name, "is the name of another anchor already");
    if (keyword == "$dynamicAnchor") holder.dynamicAnchors.emplace_back(name->text, &schema);
  }
}

PlacedSchema SchemaRegistry::find(std::string_view document, std::string_view fragment) const {
  const auto known = byUri_.find(document);
  if (known == byUri_.end()) return {};
  const SchemaResource& resource = resources_[known->second];
  const auto text = percentDecoded(fragment);
  if (!text) return {};
  if (!text->empty() && text->front() != '/') {
    const auto anchored = resource.anchors.find(*text);
    return anchored == resource.anchors.end() ? PlacedSchema{} : PlacedSchema{anchored->second, known->second};
  }
  const auto pointer = JsonPointer::parse(*text);
  const Value* schema = pointer ? pointer->find(*resource.root) : nullptr;
  return {schema, known->second};
}

void SchemaRegistry::fail(const Value& at, std::string message) {
  if (!fault_) fault_ = {&at, std::move(message)};
}

}  // namespace sluice::content
