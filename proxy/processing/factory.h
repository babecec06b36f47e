// The table of processor types that main passes on, and the arguments with which a type makes a processor for one use.
//
// Used on the loading thread, while a configuration is compiled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/secret.h"
#include "proxy/content/value.h"
#include "proxy/processing/phase.h"
#include "proxy/processing/processor.h"
#include "proxy/processing/shared_states.h"

namespace sluice::processing {

/// The reason why a use is refused, as a condition of the extension reports it.
struct Refusal {
  std::string reason;   // "InsecureCredential", "InvalidSecretRef", ...
  std::string message;  // with the field; never the contents of a Secret
};

/// The Secret that a reference leads to, or the reason why it leads to none.
struct FoundSecret {
  std::optional<base::Secret> bytes;
  /// Set if there are no bytes: InvalidSecretRef names the missing part, RefNotPermitted means that no grant permits
  /// the reference.
  Refusal refusal;
};

/// Finds the Secrets that a use refers to. The control plane, which has the objects and their grants, implements it.
class SecretLookup {
 public:
  virtual ~SecretLookup() = default;
  /// Returns the bytes of `key`, or of the Secret's only key if `key` is empty. An empty `nameSpace` means that of the
  /// owner.
  virtual FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const = 0;
};

/// The Backend or Service that a reference leads to, or the reason why it leads to none.
struct FoundBackend {
  std::shared_ptr<const CalloutTarget> target;
  Refusal refusal;  // set if there is none, with the reasons of a route's backendRef
};

/// Finds the targets of a processor's own requests. The control plane implements it.
class TargetLookup {
 public:
  virtual ~TargetLookup() = default;
  /// Finds the target of a backendRef: a map with name, and maybe group, kind (Service if there is none), namespace
  /// (that of the owner if there is none) and port. The settings' own uses may also name a server by its hostname or
  /// address, with its name in metrics, {fqdn: {hostname, port}} or {ip: {address, port}}, and maybe tls. An equal
  /// reference leads to the same target as long as nothing has changed. With `http2`, requests to it are always of that
  /// version; a target that cannot use it is refused.
  virtual FoundBackend find(const content::Value& backendRef, bool http2) const = 0;
};

/// Bounds the work of patterns and expressions.
struct WorkBounds {
  /// limits.stepWork: the instructions that may look at bytes, of one request.
  std::uint64_t steps = std::uint64_t{8} * 1024 * 1024;
  /// The longest text of a head: limits.headerBytes, or limits.requestLineBytes if that is more, but no more than this:
  /// who allows longer heads does not make every pattern invalid.
  std::uint64_t headBytes = std::uint64_t{64} * 1024;

  friend bool operator==(const WorkBounds&, const WorkBounds&) = default;
};

/// One use of a type. Views and references are valid during the call of make() only.
struct Use {
  std::string_view owner;  // the object that lists the use: "Backend demo/api"
  std::string_view name;   // its name in that list
  Phase phase = Phase::kRequestHeaders;
  /// The set of phases in which it may run: `phase`, or many if it names none and its type spans phases.
  std::uint8_t phases = bitOf(Phase::kRequestHeaders);
  bool preAuth = false;
  /// The config of the use. It satisfies the schema of the type, and the schema's defaults are filled in.
  const content::Value& config;
  const SecretLookup& secrets;
  const TargetLookup& targets;
  SharedStates& states;
  /// True if the use belongs to a Backend outside of the cluster that is reached without TLS.
  bool exposed = false;
  /// The settings of the engine that the catalog's entry for the type has; null for types that are compiled in.
  const content::Value* engine = nullptr;
  /// limits.processorContext, in bytes.
  std::uint64_t mostContext = std::uint64_t{16} * 1024;
  /// limits.luaScriptBytes.
  std::uint64_t mostScript = std::uint64_t{256} * 1024;
  WorkBounds work = {};
  /// The type of the use, which for an engine is one of a catalog.
  std::string_view type = {};
};

/// Something in the environment that a processor cannot run without, such as a server, or the file of a script or
/// library. As long as it is missing, the use answers or is left out by its failOpen, and everything else is served.
class Awaited {
 public:
  virtual ~Awaited() = default;
  /// Returns true if making the processor again may have another outcome. It is asked again and again, on any thread,
  /// and must not block.
  virtual bool mayHaveCome() const = 0;
};

enum class LoadState : std::uint8_t {
  kPending,   // it is not known yet whether everything that it needs is there
  kActive,    // there is a processor
  kDegraded,  // something that it needs is missing, and is awaited
  kError      // it is refused until the configuration changes
};

struct Made {
  std::shared_ptr<const Processor> processor;  // only if it is active
  /// The reason if it is not active; one that is degraded may leave it to the state.
  Refusal refusal = {};
  std::shared_ptr<const Awaited> awaited = nullptr;  // only if it is pending or degraded
  bool pending = false;

  LoadState state() const {
    if (processor != nullptr) return LoadState::kActive;
    if (awaited == nullptr) return LoadState::kError;
    return pending ? LoadState::kPending : LoadState::kDegraded;
  }
};

/// A processor type that is compiled in, an engine that makes types of catalogs, or both.
struct BuiltinType {
  std::string_view type = {};  // "domain/Kind:version"; empty: none, it is an engine alone
  std::vector<Phase> phases;
  bool preAuth = false;          // its uses may run before authentication, where they are shown no client
  std::string_view schema = {};  // JSON Schema 2020-12 of a use's config
  std::function<Made(const Use& use)> make = nullptr;
  /// True if a use that names no phase runs in all Processor::phases(). `phase` of its Use is then the first of
  /// `phases`.
  bool spans = false;
  /// The engine of the catalog ("ext-proc") whose types it makes too; empty: none. Such a type runs in the phases of
  /// its entry, before authentication too.
  std::string_view engine = {};
  /// True if its steps authorize; see Step::authorizes.
  bool authorizes = false;
};

using BuiltinTypes = std::vector<BuiltinType>;

}  // namespace sluice::processing
