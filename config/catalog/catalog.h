// Which types of payload processors there are, and whether a use of one may run: the built-in types, and those of the
// ConfigMaps that settings.processorCatalogs names (E-70..E-84).
//
// A Catalog is immutable and keeps what it was made of. It belongs to one configuration; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalog/catalog_entry.h"
#include "config/model/model.h"
#include "proxy/content/json_schema.h"

namespace sluice::config {

/// A type that is compiled in. Texts outlive all Catalogs.
struct BuiltinProcessor {
  std::string_view type;
  std::vector<std::string_view> phases;  // some of kProcessorPhases
  bool preAuth = false;                  // it can run before authentication
  std::string_view schema;
};

/// What this program can run: one for the life of a process.
struct ProcessorSupport {
  std::vector<BuiltinProcessor> types;
  std::vector<ProcessorEngine> engines;  // beside kBuiltin
};

/// A type, however it came to be.
struct ProcessorType {
  CatalogEntry entry;                         // of a built-in one that no catalog names: as it is compiled in
  bool preAuth = true;                        // it can run before authentication
  bool runnable = true;                       // this program has its engine
  std::optional<content::JsonSchema> schema;  // nullopt: `fault` says why
  std::string_view builtinSchema;             // its text, of a built-in type
  std::string fault;                          // what keeps all its uses from running; empty: nothing

  bool usable() const { return fault.empty() && runnable; }
};

/// Whether a use may run, and how.
struct Admission {
  enum class Outcome : std::uint8_t {
    kAdmitted,
    kDegraded,  // its type can not be run here, or not yet (E-77)
    kRejected   // it can not be run as it is written (E-76, E-80)
  };
  Outcome outcome = Outcome::kRejected;
  std::string reason;   // of the condition; empty if it is admitted
  std::string message;  // with the field
  /// What happens while it does not run is up to this, whatever the outcome.
  bool failOpen = false;

  // The rest if it is admitted:
  std::shared_ptr<const ProcessorType> type;
  std::string_view phase;  // of kProcessorPhases
  std::int32_t priority = 0;
  bool preAuth = false;
  std::optional<base::Duration> timeout;  // none: timeouts.processor
  Value config;                           // with the schema's defaults; a map
};

namespace processor_reason {
inline constexpr std::string_view kUnknownType = "UnknownExtensionType";
inline constexpr std::string_view kUnsupportedType = "UnsupportedExtensionType";
inline constexpr std::string_view kUnsupportedPhase = "UnsupportedPhase";
inline constexpr std::string_view kInvalidPreAuthPhase = "InvalidPreAuthPhase";
inline constexpr std::string_view kUnsupportedPreAuth = "UnsupportedPreAuth";
inline constexpr std::string_view kInvalidConfig = "InvalidConfig";
}  // namespace processor_reason

class Catalog {
 public:
  using Types = std::map<std::string, std::shared_ptr<const ProcessorType>, std::less<>>;

  Admission admit(const ProcessorUse& use) const;
  /// By "domain/Kind:version".
  const Types& types() const { return types_; }

 private:
  friend class CatalogMaker;
  Types types_;
};

}  // namespace sluice::config
