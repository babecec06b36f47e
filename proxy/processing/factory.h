// How processors come to be: the table of types that main hands down, and what a type gets of one use.
//
// Loading thread, while a configuration is compiled.
#pragma once

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

/// A refusal, as the extension's own condition tells it.
struct Refusal {
  std::string reason;   // "InsecureCredential", "InvalidSecretRef", ...
  std::string message;  // with the field; never what a Secret holds
};

/// What a reference to a Secret leads to.
struct FoundSecret {
  std::optional<base::Secret> bytes;
  Refusal
      refusal;  // if there are none: InvalidSecretRef says what is missing, RefNotPermitted that no grant permits it
};

/// The Secrets that a use may refer to. Implemented above, where the objects and their grants are.
class SecretLookup {
 public:
  virtual ~SecretLookup() = default;
  /// The bytes of `key`, or of the Secret's only key if `key` is empty. `nameSpace` empty: the owner's.
  virtual FoundSecret find(std::string_view nameSpace, std::string_view name, std::string_view key) const = 0;
};

/// One use of a type. Everything outlives the call alone.
struct Use {
  std::string_view owner;  // "Backend demo/api": what holds it
  std::string_view name;   // its own name there
  Phase phase = Phase::kRequestHeaders;
  bool preAuth = false;
  /// Satisfies the type's schema, whose defaults are filled in.
  const content::Value& config;
  const SecretLookup& secrets;
  SharedStates& states;
  /// What it guards is a Backend outside of the cluster that is spoken to without TLS.
  bool exposed = false;
};

struct Made {
  std::shared_ptr<const Processor> processor;  // null if it is refused
  Refusal refusal;
};

/// A type that is compiled in.
struct BuiltinType {
  std::string_view type;  // "domain/Kind:version"
  std::vector<Phase> phases;
  bool preAuth = false;     // its processors are PreAuthProcessors
  std::string_view schema;  // JSON Schema 2020-12 of a use's config
  Made (*make)(const Use& use);
};

using BuiltinTypes = std::vector<BuiltinType>;

}  // namespace sluice::processing
