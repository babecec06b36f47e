// The engines of catalogs: the words that name them in entries, and the readers of their own settings. Whether this
// program has an engine is another question; see ProcessorSupport.
//
// These are pure functions.
#pragma once

#include <span>
#include <string_view>

#include "config/fields/field_reader.h"
#include "config/model/catalog_entry.h"

namespace sluice::config {

struct EngineFormat {
  std::string_view name;      // the value of `engine`: "ext-proc"
  std::string_view settings;  // the key of the engine's own settings in an entry: "extProc"
  /// Reads these settings, which are then required, into `entry.engineConfig`, with their defaults. `nameSpace` is that
  /// of the catalog, where references lead without one. Null: any map is kept as it was written, and the engine checks
  /// it for each use.
  void (*read)(FieldReader& settings, std::string_view nameSpace, CatalogEntry& entry);
};

/// Returns all engines, in the order in which messages name them.
std::span<const EngineFormat> engineFormats();
/// `name` must be that of an engine.
const EngineFormat& engineFormat(std::string_view name);

/// Reads a reference to a key of a ConfigMap. Its namespace is `nameSpace` and its key is `key` if it has none.
CatalogRef readCatalogRef(FieldReader reader, std::string_view nameSpace, std::string_view key);

}  // namespace sluice::config
