// An entry of a catalog of payload processors as its author wrote it. It is a key *.yaml of a ConfigMap that
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

/// The place of a type's JSON Schema.
struct SchemaRef {
  std::string nameSpace;  // by default, the namespace of the catalog
  std::string name;
  std::string key = "schema.json";
};

struct CatalogEntry {
  std::string type;  // "domain/Kind:version"
  ProcessorEngine engine = ProcessorEngine::kBuiltin;
  std::vector<std::string_view> phases;  // the phases in which uses may run, in their order
  std::optional<SchemaRef> schemaRef;    // nullopt for built-in types, whose schemas are compiled in
  ProcessorSettings defaults;
  std::optional<std::uint64_t> bodyBytes;  // the most bytes of a body that it buffers
  std::optional<Value> engineConfig;       // `builtin`, `lua`, `library` or `extProc`, as written
};

/// Reads the text of `key` in the ConfigMap `catalog`. If anything is wrong, returns nullopt and adds the errors to
/// `problems`. Even then, `type` is set to the readable part of the type, because its uses must not run as if there
/// were no entry.
std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::DataEntry& entry, const ConfigMap& catalog,
                                             std::string_view key, std::string& type, Problems& problems);

}  // namespace sluice::config
