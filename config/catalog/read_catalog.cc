// Reads the entries of catalogs of payload processors.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "config/model/catalog_entry.h"
#include "config/read/data_document.h"
#include "config/read/processors/processor_settings.h"

namespace sluice::config {
namespace {

constexpr Choice<ProcessorEngine> kEngines[] = {{"builtin", ProcessorEngine::kBuiltin},
                                                {"lua", ProcessorEngine::kLua},
                                                {"library", ProcessorEngine::kLibrary},
                                                {"ext-proc", ProcessorEngine::kExtProc}};

/// Returns the key with the settings of the engine.
std::string_view partOf(ProcessorEngine engine) {
  return engine == ProcessorEngine::kExtProc ? "extProc" : engineName(engine);
}

constexpr bool isPhase(std::string_view text) {
  return std::find(std::begin(kProcessorPhases), std::end(kProcessorPhases), text) != std::end(kProcessorPhases);
}
constexpr TextRule kPhaseRule{isPhase, "one of the seven phases"};

std::vector<std::string_view> readPhases(FieldReader& reader) {
  std::vector<std::string_view> phases;
  const std::vector<std::string> given = reader.texts("phases", kPhaseRule, std::size(kProcessorPhases));
  for (const std::string_view phase : kProcessorPhases) {
    if (std::find(given.begin(), given.end(), phase) != given.end()) phases.push_back(phase);
  }
  const Value* list = reader.require("phases");
  if (list != nullptr && list->isList() && list->items.empty()) reader.error("phases", "must name at least one phase");
  return phases;
}

std::optional<SchemaRef> readSchemaRef(FieldReader& reader, ProcessorEngine engine, const ConfigMap& catalog) {
  if (engine == ProcessorEngine::kBuiltin) {
    if (reader.has("schemaRef")) reader.error("schemaRef", "must not be given: built-in types have their own schema");
    return std::nullopt;
  }
  if (reader.require("schemaRef") == nullptr) return std::nullopt;
  FieldReader ref = reader.map("schemaRef");
  SchemaRef schema;
  schema.name = ref.requiredText("name", rule::kObjectName);
  schema.nameSpace = ref.text("namespace", rule::kNamespace);
  if (schema.nameSpace.empty()) schema.nameSpace = catalog.meta.nameSpace;
  if (ref.has("key")) schema.key = ref.text("key", rule::kRefName);
  ref.finish();
  return schema;
}

CatalogEntry readEntry(FieldReader reader, const ConfigMap& catalog) {
  CatalogEntry entry;
  entry.type = reader.requiredText("type", rule::kProcessorType);
  reader.require("engine");
  entry.engine = reader.choice("engine", kEngines, ProcessorEngine::kBuiltin);
  entry.phases = readPhases(reader);
  entry.schemaRef = readSchemaRef(reader, entry.engine, catalog);
  reader.read("defaults", entry.defaults, readProcessorSettings);
  const bool late = !entry.phases.empty() && phaseIndex(entry.phases.front()) >= phaseIndex(kFirstPhaseAfterAuth);
  if (entry.defaults.preAuth.value_or(false) && late) {
    reader.error("defaults", "preAuth: must not be true: none of its phases comes before authentication");
  }
  FieldReader limits = reader.map("limits");
  entry.bodyBytes = limits.quantity("bodyBytes", 0, std::numeric_limits<std::uint64_t>::max());
  limits.finish();
  const std::string_view part = partOf(entry.engine);
  if (const Value* own = reader.find(part)) {
    if (!own->isMap()) reader.error(part, "must be a map, but is " + std::string(describe(own->kind)));
    entry.engineConfig = *own;
  }
  reader.finish();
  return entry;
}

}  // namespace

std::string_view engineName(ProcessorEngine engine) {
  return std::find_if(std::begin(kEngines), std::end(kEngines), [&](const auto& each) { return each.value == engine; })
      ->word;
}

std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::DataEntry& entry, const ConfigMap& catalog,
                                             std::string_view key, std::string& type, Problems& problems) {
  std::optional<CatalogEntry> read;
  const bool good = readDataDocument(entry, "ConfigMap " + catalog.meta.qualifiedName(), key, problems,
                                     [&](FieldReader reader) { read = readEntry(std::move(reader), catalog); });
  if (read) type = read->type;
  if (!good) return std::nullopt;
  return read;
}

}  // namespace sluice::config
