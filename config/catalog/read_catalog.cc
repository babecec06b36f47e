// Reads the entries of catalogs of payload processors.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "config/catalog/engine_formats.h"
#include "config/model/catalog_entry.h"
#include "config/read/data_document.h"
#include "config/read/processors/processor_settings.h"
#include "config/yaml/value_builder.h"

namespace sluice::config {
namespace {

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

std::optional<CatalogRef> readSchemaRef(FieldReader& reader, std::string_view engine, const ConfigMap& catalog) {
  if (engine == kBuiltinEngine) {
    if (reader.has("schemaRef")) reader.error("schemaRef", "must not be given: built-in types have their own schema");
    return std::nullopt;
  }
  if (reader.require("schemaRef") == nullptr) return std::nullopt;
  return readCatalogRef(reader.map("schemaRef"), catalog.meta.nameSpace, "schema.json");
}

std::string_view readEngine(FieldReader& reader) {
  std::vector<std::string_view> names;
  for (const EngineFormat& each : engineFormats()) names.push_back(each.name);
  return reader.word(required("engine"), names, kBuiltinEngine);
}

void readEngineSettings(FieldReader& reader, const ConfigMap& catalog, CatalogEntry& entry) {
  const EngineFormat& format = engineFormat(entry.engine);
  const Value* own = format.read == nullptr ? reader.find(format.settings) : reader.require(format.settings);
  if (own == nullptr) return;
  FieldReader settings = reader.map(format.settings);
  if (!own->isMap()) return;  // the reader has reported it
  if (format.read == nullptr) {
    entry.engineConfig = *own;
    return;
  }
  entry.engineConfig = emptyMap(own->position);
  format.read(settings, catalog.meta.nameSpace, entry);
  settings.finish();
}

CatalogEntry readEntry(FieldReader reader, const ConfigMap& catalog) {
  CatalogEntry entry;
  entry.type = reader.requiredText("type", rule::kProcessorType);
  entry.engine = readEngine(reader);
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
  readEngineSettings(reader, catalog, entry);
  reader.finish();
  return entry;
}

/// Returns the type that a text states in a line of its own; empty if there is no such line. The text is not parsed.
std::string statedType(std::string_view text) {
  constexpr std::string_view kKey = "type:";
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(kKey)) {
      constexpr std::string_view kAround = " \t\r\"'";
      const std::string_view value = line.substr(kKey.size());
      const std::size_t begin = value.find_first_not_of(kAround);
      if (begin == std::string_view::npos) return "";
      return std::string(value.substr(begin, value.find_last_not_of(kAround) + 1 - begin));
    }
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return "";
}

}  // namespace

std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::DataEntry& entry, const ConfigMap& catalog,
                                             std::string_view key, const base::LimitSettings& limits, std::string& type,
                                             Problems& problems) {
  const std::uint64_t most = limits.configBytes + limits.luaScriptBytes;  // an entry may have a script
  if (entry.value.size() > most) {
    problems.push_back({Severity::kError, entry.position, "ConfigMap " + catalog.meta.qualifiedName(), std::string(key),
                        "has " + std::to_string(entry.value.size()) + " bytes, and " + std::to_string(most) +
                            " are allowed (limits.configBytes and limits.luaScriptBytes)"});
    type = statedType(entry.value);
    return std::nullopt;
  }
  std::optional<CatalogEntry> read;
  const bool good = readDataDocument(entry, "ConfigMap " + catalog.meta.qualifiedName(), key, problems,
                                     [&](FieldReader reader) { read = readEntry(std::move(reader), catalog); });
  if (read) type = read->type;
  if (!good) return std::nullopt;
  return read;
}

}  // namespace sluice::config
