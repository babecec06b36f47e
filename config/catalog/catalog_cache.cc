#include "config/catalog/catalog_cache.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "config/catalog/engine_formats.h"
#include "config/yaml/value_builder.h"
#include "proxy/base/text.h"

namespace sluice::config {

/// Makes one Catalog from a Model. It lives only while it does so.
class CatalogMaker {
 public:
  CatalogMaker(const Model& model, const ProcessorSupport& support, CatalogCache::Schemas& schemas);

  CatalogCache::CachedCatalog make();

 private:
  /// The place where a type was read first.
  struct TypePlace {
    const ConfigMap* catalog;
    std::string_view key;
  };

  const ConfigMap* look(const std::string& nameSpace, const std::string& name);
  void addBuiltins();
  void readCatalog(const base::NamespacedName& ref);
  void readEntry(const ConfigMap& catalog, const std::string& key, const ConfigMap::DataEntry& text);
  /// Returns the reason why the entry cannot be used; empty if it can.
  std::string complete(CatalogEntry&& entry, ProcessorType& type);
  std::string completeBuiltin(CatalogEntry&& entry, ProcessorType& type) const;
  std::string findSchema(const CatalogRef& ref, ProcessorType& type);
  std::string findScript(CatalogEntry& entry);
  CatalogCache::Schema compiled(std::string_view text);
  void problem(const ConfigMap& catalog, std::string_view key, const Position& position, std::string message);

  const Model& model_;
  const ProcessorSupport& support_;
  CatalogCache::Schemas& schemas_;
  Catalog catalog_;
  CatalogCache::CachedCatalog made_;
  std::map<std::string, TypePlace, std::less<>> typePlaces_;  // types that an entry has named
  std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<const ConfigMap>> configMaps_;
};

CatalogMaker::CatalogMaker(const Model& model, const ProcessorSupport& support, CatalogCache::Schemas& schemas)
    : model_(model), support_(support), schemas_(schemas) {
  for (const auto& configMap : model.all<ConfigMap>().shared()) {
    configMaps_.try_emplace({configMap->meta.nameSpace, configMap->meta.name}, configMap);
  }
}

CatalogCache::CachedCatalog CatalogMaker::make() {
  addBuiltins();
  made_.refs = model_.settings.processorCatalogs;
  made_.limits = model_.settings.limits;
  for (const base::NamespacedName& ref : made_.refs) readCatalog(ref);
  made_.catalog = std::make_shared<const Catalog>(std::move(catalog_));
  schemas_.sweep();
  return std::move(made_);
}

const ConfigMap* CatalogMaker::look(const std::string& nameSpace, const std::string& name) {
  const auto found = configMaps_.find({nameSpace, name});
  const auto configMap = found == configMaps_.end() ? nullptr : found->second;
  made_.sources.push_back({nameSpace, name, configMap});
  return configMap.get();
}

void CatalogMaker::addBuiltins() {
  for (const BuiltinProcessor& builtin : support_.types) {
    ProcessorType type;
    type.entry.type = builtin.type;
    type.entry.phases = builtin.phases;
    type.preAuth = builtin.preAuth;
    type.spans = builtin.spans;
    type.builtinSchema = builtin.schema;
    const CatalogCache::Schema schema = compiled(builtin.schema);
    if (*schema) {
      type.schema = **schema;
    } else {
      type.fault = "its schema " + schema->error().detail;
    }
    catalog_.types_[std::string(builtin.type)] = std::make_shared<const ProcessorType>(std::move(type));
  }
}

void CatalogMaker::readCatalog(const base::NamespacedName& ref) {
  const ConfigMap* catalog = look(ref.nameSpace, ref.name);
  if (catalog == nullptr) {
    made_.problems.push_back({Severity::kError,
                              {},
                              "ConfigMap " + ref.nameSpace + "/" + ref.name,
                              "",
                              "does not exist, but settings.yaml names it in processorCatalogs"});
    return;
  }
  for (const auto& [key, text] : catalog->data) {
    if (key.ends_with(".yaml")) readEntry(*catalog, key, text);
  }
}

void CatalogMaker::readEntry(const ConfigMap& catalog, const std::string& key, const ConfigMap::DataEntry& text) {
  std::string name;
  std::optional<CatalogEntry> entry = readCatalogEntry(text, catalog, key, made_.limits, name, made_.problems);
  if (name.empty()) return;
  const auto [origin, isNew] = typePlaces_.try_emplace(name, TypePlace{&catalog, key});
  if (!isNew) {
    problem(catalog, key, text.position,
            "type: " + base::quote(name) + " is in ConfigMap " + origin->second.catalog->meta.qualifiedName() + ", " +
                std::string(origin->second.key) + " already, which counts");
    return;
  }
  ProcessorType type;
  const auto builtin = catalog_.types_.find(name);
  if (builtin != catalog_.types_.end()) type = *builtin->second;
  type.entry.type = name;
  const std::string fault = entry ? complete(std::move(*entry), type) : std::string();
  if (!fault.empty()) problem(catalog, key, text.position, fault);
  // The problem has the reason. Users of the type do not see it, because the catalog belongs to the platform.
  if (!entry || !fault.empty()) type.fault = "its entry in the catalog is not valid";
  catalog_.types_[name] = std::make_shared<const ProcessorType>(std::move(type));
}

std::string CatalogMaker::complete(CatalogEntry&& entry, ProcessorType& type) {
  if (entry.engine == kBuiltinEngine) return completeBuiltin(std::move(entry), type);
  const std::string_view domain = std::string_view(entry.type).substr(0, entry.type.find('/'));
  if (domain == kGatewayGroup || domain == kOwnGroup) {
    return "type: must have a domain of its own, but " + std::string(domain) + " is for built-in types";
  }
  const auto& engines = support_.engines;
  type.runnable = type.spans = std::find(engines.begin(), engines.end(), entry.engine) != engines.end();
  std::string fault = findSchema(*entry.schemaRef, type);
  if (fault.empty() && entry.scriptRef) fault = findScript(entry);
  type.entry = std::move(entry);
  return fault;
}

std::string CatalogMaker::completeBuiltin(CatalogEntry&& entry, ProcessorType& type) const {
  const auto& types = support_.types;
  const auto builtin =
      std::find_if(types.begin(), types.end(), [&](const BuiltinProcessor& each) { return each.type == entry.type; });
  if (builtin == types.end()) return "type: there is no built-in type " + base::quote(entry.type);
  for (const std::string_view phase : entry.phases) {
    const auto& has = builtin->phases;
    if (std::find(has.begin(), has.end(), phase) == has.end()) {
      return "phases: " + entry.type + " cannot run in the phase " + std::string(phase);
    }
  }
  if (entry.defaults.preAuth.value_or(false) && !builtin->preAuth) {
    return "defaults.preAuth: must not be true: " + entry.type + " runs after authentication only";
  }
  type.entry = std::move(entry);
  return "";
}

std::string CatalogMaker::findSchema(const CatalogRef& ref, ProcessorType& type) {
  const std::string name = "ConfigMap " + ref.nameSpace + "/" + ref.name;
  const ConfigMap* holder = look(ref.nameSpace, ref.name);
  if (holder == nullptr) return "schemaRef: " + name + " does not exist";
  const std::string* text = holder->find(ref.key);
  if (text == nullptr) return "schemaRef: " + name + " has no key " + ref.key;
  const CatalogCache::Schema schema = compiled(*text);
  if (!*schema) return "schemaRef: " + name + ", " + ref.key + ": " + schema->error().detail;
  type.schema = **schema;
  return "";
}

std::string CatalogMaker::findScript(CatalogEntry& entry) {
  const CatalogRef& ref = *entry.scriptRef;
  const std::string field = std::string(engineFormat(entry.engine).settings) + ".scriptRef: ";
  const std::string name = "ConfigMap " + ref.nameSpace + "/" + ref.name;
  const ConfigMap* holder = look(ref.nameSpace, ref.name);
  if (holder == nullptr) return field + name + " does not exist";
  const auto text = holder->data.find(ref.key);
  if (text == holder->data.end()) return field + name + " has no key " + ref.key;
  Value script = textValue(text->second.value, text->second.position);
  script.blockColumn = text->second.blockColumn;
  addMember(*entry.engineConfig, "script", std::move(script));
  return "";
}

CatalogCache::Schema CatalogMaker::compiled(std::string_view text) {
  return schemas_.get(text, [text] {
    base::Result<content::JsonSchema> schema = content::JsonSchema::compile(text);
    if (schema) {
      if (const base::Status defaults = schema->checkDefaults(); !defaults) schema = defaults.error();
    }
    return std::make_shared<const base::Result<content::JsonSchema>>(std::move(schema));
  });
}

void CatalogMaker::problem(const ConfigMap& catalog, std::string_view key, const Position& position,
                           std::string message) {
  made_.problems.push_back(
      {Severity::kError, position, "ConfigMap " + catalog.meta.qualifiedName(), std::string(key), std::move(message)});
}

bool CatalogCache::unchanged(const Model& model) const {
  const base::LimitSettings& limits = model.settings.limits;
  return last_.catalog != nullptr && last_.refs == model.settings.processorCatalogs &&
         last_.limits.configBytes == limits.configBytes && last_.limits.luaScriptBytes == limits.luaScriptBytes &&
         last_.limits.references == limits.references &&
         std::all_of(last_.sources.begin(), last_.sources.end(), [&](const LookedUpConfigMap& source) {
           return model.find<ConfigMap>(source.nameSpace, source.name) == source.configMap.get();
         });
}

std::shared_ptr<const Catalog> CatalogCache::read(const Model& model, const ProcessorSupport& support,
                                                  Problems& problems) {
  if (!unchanged(model)) last_ = CatalogMaker(model, support, schemas_).make();
  problems.insert(problems.end(), last_.problems.begin(), last_.problems.end());
  return last_.catalog;
}

}  // namespace sluice::config
