// Defines uses of payload processors, and the objects and filters that attach them, in any spelling. These are plain
// values; see model.h.
//
// A use has the same meaning wherever it is attached: to a Backend (`spec.extensions`), to a rule or one of its
// weighted backends (a filter), or to a Gateway, a listener, a route or a rule (a PayloadProcessor).
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

/// The types for other spellings of a use, and those whose config refers to other objects.
namespace processor_type {
inline constexpr std::string_view kHeaderModifier = "sluice.dev/HeaderModifier:v1";
inline constexpr std::string_view kCredentialInjector = "gateway.networking.k8s.io/CredentialInjector:v1";
/// A server that implements Envoy's external-processing protocol. Its `config` has either `backendRefs` ({group, kind,
/// name, namespace, port}; without a kind, a Service) or `service` (see extension_manager.h). It may have `context`
/// too.
inline constexpr std::string_view kExtProc = "sluice.dev/ExtProc:v1";
/// An ExternalAuth filter. Its `config` is the filter's `externalAuth`.
inline constexpr std::string_view kExternalAuthType = "sluice.dev/ExternalAuth:v1";
/// The expressions of GEP-5091 that kHeaderModifier cannot express. Its `config` is `inProcess` as it was written.
inline constexpr std::string_view kInProcess = "sluice.dev/InProcess:v1";
}  // namespace processor_type

/// The settings of a use. An absent setting comes from the type's entry in the catalog, or else from the API's default.
struct ProcessorSettings {
  std::optional<std::int32_t> priority = std::nullopt;   // default 0
  std::optional<bool> failOpen = std::nullopt;           // default false
  std::optional<bool> preAuth = std::nullopt;            // default false
  std::optional<base::Duration> timeout = std::nullopt;  // default timeouts.processor
};

/// Replaces failOpen if a use fails: another use runs, or the client gets this answer.
struct FallbackModel {
  std::string use;  // the name of another use of the list, which runs for no other reason; empty: the answer
  std::uint16_t status = 503;
  std::string detail = "a processor of this request failed";
  std::string path;
  Position position;
};

struct ProcessorUse : ProcessorSettings {
  std::string name;
  std::string type;                   // "domain/Kind:version"
  std::string phase;                  // one of the seven phases; empty for that of the catalog
  std::optional<PackedValue> config;  // `config` or `rawConfig`; it is unpacked where it is used, and not kept so
  std::optional<FallbackModel> fallback;
  std::string_view configField = "config";    // the field that messages name for `config`; empty for the use itself
  std::vector<UnsupportedField> unsupported;  // the reasons why the use cannot run as written, whatever the catalog has
  std::string path;
  Position position;

  /// Returns the path that messages name for the config.
  std::string configPath() const { return configField.empty() ? path : path + "." + std::string(configField); }
};

/// Selects when a PayloadProcessor runs (GEP-5091): before or after a route is matched. Before a route is matched, only
/// request-headers and request-body are possible.
enum class RoutingPhase : std::uint8_t { kPreRouting, kPostRouting };

/// Attaches uses to objects in its own namespace, or to sections of them: Gateways, routes and Backends. It has no
/// selectors. A ListenerSet as a target is stored in `unsupported`.
struct PayloadProcessor : PolicyTargets {
  static constexpr std::string_view kKind = "PayloadProcessor";
  static constexpr bool kSeveralKinds = true;  // one in each of three groups
  ObjectMeta meta;
  std::optional<RoutingPhase> phase;  // kPreRouting only with Gateways; nullopt if the phase of each use decides
  std::vector<ProcessorUse> processors;
  std::vector<UnsupportedField> unsupported;
};

/// A named list of uses for the filters of any number of rules. An XPayloadProcessor of kPrototypeGroup becomes a
/// pipeline with a single use, which has the name of the object.
struct PayloadProcessingPipeline {
  static constexpr std::string_view kKind = "PayloadProcessingPipeline";
  static constexpr std::string_view kRemoteKind = "XPayloadProcessor";
  static constexpr bool kSeveralKinds = true;
  ObjectMeta meta;
  std::vector<ProcessorUse> processors;
};

/// Attaches uses to rules. Two policies take effect for each rule. One is the policy for the rule by name, or else for
/// its route. The other is the policy for the listener, or else for the Gateway. If two policies target the same
/// object, the older one takes effect.
struct ExtensionPolicy : PolicyTargets {
  static constexpr std::string_view kKind = "EnvoyExtensionPolicy";
  ObjectMeta meta;
  std::vector<ProcessorUse> processors;
  std::vector<UnsupportedField> unsupported;
};

/// A filter that attaches processors. It is a reference to a pipeline in the route's namespace, or a list of uses in
/// the route itself.
using ProcessorFilter = std::variant<ObjectRef, std::vector<ProcessorUse>>;

}  // namespace sluice::config
