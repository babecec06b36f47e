// One entry of a catalog of payload processors as its author wrote it: a key *.yaml of a ConfigMap that
// settings.processorCatalogs names.
//
// These are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/problem.h"
#include "config/model/model.h"

namespace sluice::config {

enum class ProcessorEngine : std::uint8_t { kBuiltin, kLua, kLibrary, kExtProc };

/// Returns "builtin", "lua", "library" or "ext-proc".
std::string_view engineName(ProcessorEngine engine);

/// Says where a type's JSON Schema is.
struct SchemaRef {
  std::string nameSpace;  // the catalog's own namespace if none was given
  std::string name;
  std::string key = "schema.json";
};

struct CatalogEntry {
  std::string type;  // "domain/Kind:version"
  ProcessorEngine engine = ProcessorEngine::kBuiltin;
  std::vector<std::string_view> phases;  // the phases in which it may be used, in their order
  std::optional<SchemaRef> schemaRef;    // none for built-in types, whose schemas are compiled in
  ProcessorSettings defaults;
  std::optional<std::uint64_t> bodyBytes;  // bound of a body that it buffers
  std::optional<Value> engineConfig;       // `builtin`, `lua`, `library` or `extProc` as written
};

/// Reads the text of `key` in the ConfigMap `catalog`. Returns nullopt if anything is wrong and adds that to
/// `problems`. Even then `type` is set to the legible part of the type, because its uses must not run as if there were
/// no entry.
std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::DataEntry& entry, const ConfigMap& catalog,
                                             std::string_view key, std::string& type, Problems& problems);

}  // namespace sluice::config
