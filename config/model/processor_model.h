// Uses of payload processors, and the objects and filters that attach them, in any spelling. Plain values; see model.h.
//
// One use means the same wherever it is attached: to a Backend (`spec.extensions`), to a rule or one of its weighted
// backends (a filter), or to a Gateway, a listener, a route or a rule (a PayloadProcessor).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/ground/document.h"
#include "config/ground/object_meta.h"
#include "config/model/policy_model.h"
#include "proxy/base/settings.h"

namespace sluice::config {

/// Types that stand for other spellings of a use.
namespace processor_type {
inline constexpr std::string_view kHeaderModifier = "sluice.dev/HeaderModifier:v1";
/// A server that speaks Envoy's external-processing protocol. Its `config` has `backendRefs` ({group, kind, name,
/// namespace, port}; a Service if no kind is given) or `service` (see extension_manager.h), and maybe `context`.
inline constexpr std::string_view kExtProc = "sluice.dev/ExtProc:v1";
/// GEP-5091's expressions where kHeaderModifier cannot express them. Its `config` is `inProcess` as it was written.
/// Its `config` is the filter's `externalAuth`.
inline constexpr std::string_view kExternalAuthType = "sluice.dev/ExternalAuth:v1";
inline constexpr std::string_view kInProcess = "sluice.dev/InProcess:v1";
}  // namespace processor_type

/// Settings of a use. One that is not given comes from its type's entry in the catalog, else from the API's default.
struct ProcessorSettings {
  std::optional<std::int32_t> priority = std::nullopt;   // 0
  std::optional<bool> failOpen = std::nullopt;           // false
  std::optional<bool> preAuth = std::nullopt;            // false
  std::optional<base::Duration> timeout = std::nullopt;  // timeouts.processor
};

struct ProcessorUse : ProcessorSettings {
  std::string name;
  std::string type;                         // "domain/Kind:version"
  std::string phase;                        // one of the seven; empty: the catalog's
  std::optional<Value> config;              // `config` or `rawConfig`
  std::string_view configField = "config";  // the field that messages name for it; empty: the use itself
  std::vector<UnsupportedField>
      unsupported;  // reasons why it cannot run as written, whatever the catalog says of its type
  std::string path;
  Position position;

  /// Returns the path that messages name for the config.
  std::string configPath() const { return configField.empty() ? path : path + "." + std::string(configField); }
};

/// Says when a PayloadProcessor runs (GEP-5091): before a route is matched, which is possible in request-headers and
/// request-body alone, or after.
enum class RoutingPhase : std::uint8_t { kPreRouting, kPostRouting };

/// Attaches uses to objects of its own namespace, or to sections of them: Gateways, routes and Backends. A ListenerSet
/// is in `unsupported`. It has no selectors.
struct PayloadProcessor : PolicyTargets {
  static constexpr std::string_view kKind = "PayloadProcessor";
  static constexpr bool kSeveralKinds = true;  // one in each of three groups
  ObjectMeta meta;
  std::optional<RoutingPhase> phase;  // kPreRouting with Gateways alone; none: each use's own phase decides
  std::vector<ProcessorUse> processors;
  std::vector<UnsupportedField> unsupported;
};

/// A named list of uses, for the filters of any number of rules. An XPayloadProcessor of kPrototypeGroup is one with a
/// single use, which has the name of the object.
struct PayloadProcessingPipeline {
  static constexpr std::string_view kKind = "PayloadProcessingPipeline";
  static constexpr std::string_view kRemoteKind = "XPayloadProcessor";
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  std::vector<ProcessorUse> processors;
};

/// Attaches uses to rules. For each rule two policies count, each the most specific one of its owner: that for the rule
/// by its name or else for its route, and that for the listener or else for the Gateway; of two for the same object,
/// the older one.
struct ExtensionPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "EnvoyExtensionPolicy";
  ObjectMeta meta;
  std::vector<ProcessorUse> processors;
  std::vector<UnsupportedField> unsupported;
};

/// A filter that attaches processors: a reference to a pipeline of the route's namespace, or uses in the route itself.
using ProcessorFilter = std::variant<ObjectRef, std::vector<ProcessorUse>>;

}  // namespace sluice::config
