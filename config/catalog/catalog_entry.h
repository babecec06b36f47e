// One entry of a catalog of payload processors, as it is written: a key *.yaml of a ConfigMap that
// settings.processorCatalogs names.
//
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/model.h"
#include "config/problem.h"

namespace sluice::config {

enum class ProcessorEngine : std::uint8_t { kBuiltin, kLua, kLibrary, kExtProc };

/// "builtin", "lua", "library", "ext-proc".
std::string_view engineName(ProcessorEngine engine);

/// Where a type's JSON Schema is.
struct SchemaRef {
  std::string nameSpace;  // that of the catalog if it was not given
  std::string name;
  std::string key = "schema.json";
};

struct CatalogEntry {
  std::string type;  // "domain/Kind:version"
  ProcessorEngine engine = ProcessorEngine::kBuiltin;
  std::vector<std::string_view> phases;  // that it may be used in, in their order
  std::optional<SchemaRef> schemaRef;    // none: built-in types, which have theirs compiled in
  ProcessorSettings defaults;
  std::optional<std::uint64_t> bodyBytes;  // of a body that it buffers
  std::optional<Value> engineConfig;       // `builtin`, `lua`, `library` or `extProc`, as it is
};

/// Reads the text of `key` in the ConfigMap `catalog`. nullopt if anything is wrong, which is then in `problems`.
/// `type` gets what is legible of the type even then: its uses must not run as if there were no entry.
std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::Entry& entry, const ConfigMap& catalog,
                                             std::string_view key, std::string& type, Problems& problems);

}  // namespace sluice::config
