#include "config/supported_kinds.h"

#include <map>
#include <tuple>
#include <vector>

#include "config/json_writer.h"

namespace sluice::config {
namespace {

/// What one element of the list is about.
using Kind = std::tuple<std::string_view, std::string_view, ProcessorEngine, std::vector<std::string_view>>;

struct Versions {
  std::vector<std::string_view> versions;
  std::vector<const SchemaRef*> schemas;
};

std::map<Kind, Versions> groupedByKind(const Catalog& catalog) {
  std::map<Kind, Versions> kinds;
  for (const auto& [name, type] : catalog.types()) {
    if (!type->usable()) continue;
    const std::string_view text = name;
    const std::size_t slash = text.find('/');
    const std::size_t colon = text.rfind(':');
    Versions& kind = kinds[{text.substr(0, slash), text.substr(slash + 1, colon - slash - 1), type->entry.engine,
                            type->entry.phases}];
    kind.versions.push_back(text.substr(colon + 1));
    if (type->entry.schemaRef) kind.schemas.push_back(&*type->entry.schemaRef);
  }
  return kinds;
}

void write(JsonWriter& json, const SchemaRef& ref) {
  json.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap").member("name", ref.name);
  json.member("namespace", ref.nameSpace).member("key", ref.key).endObject();
}

void write(JsonWriter& json, const Kind& kind, const Versions& versions) {
  const auto& [group, name, engine, phases] = kind;
  json.beginObject().member("group", group).member("kind", name).key("versions").beginList();
  for (const std::string_view version : versions.versions) json.text(version);
  json.endList().key("schemaRefs").beginList();
  for (const SchemaRef* ref : versions.schemas) write(json, *ref);
  json.endList().member("engine", engineName(engine)).key("phases").beginList();
  for (const std::string_view phase : phases) json.text(phase);
  json.endList().endObject();
}

}  // namespace

std::string supportedKindsJson(const Catalog& catalog) {
  JsonWriter json;
  json.beginList();
  for (const auto& [kind, versions] : groupedByKind(catalog)) write(json, kind, versions);
  json.endList();
  return json.take();
}

std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace) {
  const std::string name = std::string(gatewayClass) + "-extension-kinds";
  JsonWriter json;
  json.beginObject().member("apiVersion", "v1").member("kind", "List").key("items").beginList();
  json.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap").key("metadata").beginObject();
  json.member("name", name).member("namespace", nameSpace).endObject();
  json.key("data").beginObject().member(kSupportedKindsKey, supportedKindsJson(catalog)).endObject().endObject();
  json.beginObject().member("apiVersion", std::string(kGatewayGroup) + "/v1").member("kind", "GatewayClass");
  json.key("metadata").beginObject().member("name", gatewayClass).key("annotations").beginObject();
  json.member(kSupportedKindsAnnotation, std::string(nameSpace) + "/" + name);
  json.endObject().endObject().endObject();
  json.endList().endObject();
  return json.take();
}

}  // namespace sluice::config
