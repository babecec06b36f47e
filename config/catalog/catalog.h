// The catalog of payload processors lists which types exist, and decides whether a use of a type may run. Its types are
// the built-in ones and those of the ConfigMaps that settings.processorCatalogs names.
//
// A Catalog is immutable, keeps copies of everything it was made from, and belongs to one configuration. Any thread may
// use it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/ground/finding.h"
#include "config/model/catalog_entry.h"
#include "config/model/model.h"
#include "proxy/content/schema/json_schema.h"

namespace sluice::config {

/// A built-in type. Its texts outlive all Catalogs.
struct BuiltinProcessor {
  std::string_view type;
  std::vector<std::string_view> phases;  // a subset of kProcessorPhases
  bool preAuth = false;                  // whether it can run before authentication
  std::string_view schema;
  bool spans = false;  // whether a use that names no phase runs in several
};

/// The types and engines that this program can run. There is one for the life of a process.
struct ProcessorSupport {
  std::vector<BuiltinProcessor> types;
  std::vector<std::string_view> engines;  // besides kBuiltinEngine; types of these engines span phases
};

/// A type, either built in or named by a catalog.
struct ProcessorType {
  CatalogEntry entry;                         // the built-in entry, for a built-in type that no catalog names
  bool preAuth = true;                        // whether it can run before authentication
  bool runnable = true;                       // whether this program has its engine
  bool spans = false;                         // as BuiltinProcessor::spans, or as its engine spans phases
  std::optional<content::JsonSchema> schema;  // nullopt if `fault` is set
  std::string_view builtinSchema;             // the text of a built-in type's schema
  std::string fault;                          // the reason why none of its uses can run; empty if they can

  bool usable() const { return fault.empty() && runnable; }
};

/// The decision whether a use may run, and its settings if it may.
struct Admission {
  enum class Outcome : std::uint8_t {
    kAdmitted,
    kDegraded,  // its type cannot run here, or not yet
    kRejected   // the use is invalid as written
  };
  Outcome outcome = Outcome::kRejected;
  std::string reason;  // the condition's reason; empty if it is admitted
  Finding why;
  /// Decides what happens to requests while the use does not run. It is set whatever the outcome is.
  bool failOpen = false;

  std::string_view phase;  // one of kProcessorPhases; empty if the use names none and spans phases
  bool spans = false;      // the use names no phase, and its processor runs in several
  // The members below are set only if the use is admitted.
  std::shared_ptr<const ProcessorType> type;
  std::int32_t priority = 0;
  bool preAuth = false;
  std::optional<base::Duration> timeout;  // nullopt if timeouts.processor applies
  Value config;                           // a map, with the schema's defaults filled in
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

  /// `limits` bound its config, which is not even unpacked beyond them.
  Admission admit(const ProcessorUse& use, const base::LimitSettings& limits = {}) const;
  /// Returns all types by "domain/Kind:version".
  const Types& types() const { return types_; }

 private:
  friend class CatalogMaker;
  Types types_;
};

}  // namespace sluice::config
