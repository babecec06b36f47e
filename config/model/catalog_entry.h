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

/// The engine of the types that are compiled in.
inline constexpr std::string_view kBuiltinEngine = "builtin";

/// A text in a ConfigMap that an entry refers to.
struct CatalogRef {
  std::string nameSpace;  // by default, the namespace of the catalog
  std::string name;
  std::string key;
};

struct CatalogEntry {
  std::string type;                          // "domain/Kind:version"
  std::string_view engine = kBuiltinEngine;  // one of engineFormats()
  std::vector<std::string_view> phases;      // the phases in which uses may run, in their order
  std::optional<CatalogRef> schemaRef;       // nullopt for built-in types, whose schemas are compiled in
  ProcessorSettings defaults;
  std::optional<std::uint64_t> bodyBytes;  // the most bytes of a body that it buffers
  /// The settings of the engine (`lua`, `extProc`, ...). If the engine's format has a reader, they are as it made them.
  std::optional<Value> engineConfig;
  /// The text that becomes the member `script` of engineConfig when the catalog is complete.
  std::optional<CatalogRef> scriptRef;
};

/// Reads the text of `key` in the ConfigMap `catalog`. If anything is wrong, returns nullopt and adds the errors to
/// `problems`. Even then, `type` is set to the readable part of the type, because its uses must not run as if there
/// were no entry. A text that is longer than `limits` allow is not read any further.
std::optional<CatalogEntry> readCatalogEntry(const ConfigMap::DataEntry& entry, const ConfigMap& catalog,
                                             std::string_view key, const base::LimitSettings& limits, std::string& type,
                                             Problems& problems);

}  // namespace sluice::config
