#include "config/catalog/supported_kinds.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "proxy/base/json_writer.h"

namespace sluice::config {
namespace {

/// The key of one element of the list.
using Kind = std::tuple<std::string_view, std::string_view, std::string_view, std::vector<std::string_view>>;

struct KindVersions {
  std::vector<std::string_view> versions;
  std::vector<CatalogRef> schemas;
};

constexpr std::string_view kNameEnd = "-extension-kinds";

/// Returns "sluice.dev_HeaderModifier_v1.schema.json". Keys of a ConfigMap may contain neither "/" nor ":".
std::string schemaKey(std::string type) {
  std::replace_if(
      type.begin(), type.end(), [](char c) { return c == '/' || c == ':'; }, '_');
  return type + ".schema.json";
}

std::string supportedTypes(const Catalog& catalog) {
  std::string lines;
  for (const auto& [name, type] : catalog.types()) {
    if (type->usable()) lines.append(name).append("\n");
  }
  return lines;
}

std::map<Kind, KindVersions> groupedByKind(const Catalog& catalog, const KindsConfigMap& published) {
  std::map<Kind, KindVersions> kinds;
  for (const auto& [name, type] : catalog.types()) {
    if (!type->usable()) continue;
    const std::string_view text = name;
    const std::size_t slash = text.find('/');
    const std::size_t colon = text.rfind(':');
    KindVersions& kind = kinds[{text.substr(0, slash), text.substr(slash + 1, colon - slash - 1), type->entry.engine,
                                type->entry.phases}];
    kind.versions.push_back(text.substr(colon + 1));
    if (!type->builtinSchema.empty()) {
      if (published.name.empty()) continue;
      kind.schemas.push_back({published.nameSpace, published.name, schemaKey(name)});
    } else if (type->entry.schemaRef) {
      kind.schemas.push_back(*type->entry.schemaRef);
    }
  }
  return kinds;
}

void write(base::JsonWriter& json, const CatalogRef& ref) {
  json.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap").member("name", ref.name);
  json.member("namespace", ref.nameSpace).member("key", ref.key).endObject();
}

void write(base::JsonWriter& json, const Kind& kind, const KindVersions& versions) {
  const auto& [group, name, engine, phases] = kind;
  json.beginObject().member("group", group).member("kind", name).key("versions").beginList();
  for (const std::string_view version : versions.versions) json.text(version);
  json.endList().key("schemaRefs").beginList();
  for (const CatalogRef& ref : versions.schemas) write(json, ref);
  json.endList().member("engine", engine).key("phases").beginList();
  for (const std::string_view phase : phases) json.text(phase);
  json.endList().endObject();
}

}  // namespace

KindsConfigMap kindsConfigMap(const Model& model) {
  std::string nameSpace;
  if (const GatewayClass* ours = model.find<GatewayClass>({}, model.gatewayClassName)) {
    const auto said = ours->meta.annotations.find(std::string(kSupportedKindsAnnotation));
    const std::size_t slash = said == ours->meta.annotations.end() ? 0 : said->second.find('/');
    if (slash != 0 && slash != std::string::npos && slash + 1 < said->second.size()) {
      return {said->second.substr(0, slash), said->second.substr(slash + 1)};
    }
    if (ours->parametersRef) nameSpace = ours->parametersRef->nameSpace;
  }
  if (nameSpace.empty()) nameSpace = "default";
  return {nameSpace, model.gatewayClassName.empty() ? std::string() : model.gatewayClassName + std::string(kNameEnd)};
}

std::string supportedKindsJson(const Catalog& catalog, const KindsConfigMap& published) {
  base::JsonWriter json;
  json.beginList();
  for (const auto& [kind, versions] : groupedByKind(catalog, published)) write(json, kind, versions);
  json.endList();
  return json.take();
}

std::string publishedKindsJson(const Catalog& catalog, std::string_view gatewayClass, std::string_view nameSpace) {
  const KindsConfigMap here{std::string(nameSpace), std::string(gatewayClass).append(kNameEnd)};
  base::JsonWriter json;
  json.beginObject().member("apiVersion", "v1").member("kind", "List").key("items").beginList();
  json.beginObject().member("apiVersion", "v1").member("kind", "ConfigMap").key("metadata").beginObject();
  json.member("name", here.name).member("namespace", here.nameSpace).endObject();
  json.key("data").beginObject().member(kSupportedKindsKey, supportedKindsJson(catalog, here));
  json.member(kSupportedTypesKey, supportedTypes(catalog));
  for (const auto& [name, type] : catalog.types()) {
    if (type->usable() && !type->builtinSchema.empty()) json.member(schemaKey(name), type->builtinSchema);
  }
  json.endObject().endObject();
  json.beginObject().member("apiVersion", std::string(kGatewayGroup) + "/v1").member("kind", "GatewayClass");
  json.key("metadata").beginObject().member("name", gatewayClass).key("annotations").beginObject();
  json.member(kSupportedKindsAnnotation, here.nameSpace + "/" + here.name);
  json.endObject().endObject().endObject();
  json.endList().endObject();
  return json.take();
}

}  // namespace sluice::config
