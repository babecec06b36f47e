#include "proxy/kubernetes/provision/class_keys.h"

#include <map>
#include <string_view>
#include <utility>

#include "config/load/gateway_settings.h"
#include "proxy/base/base64.h"
#include "proxy/pki/derived_key.h"

namespace sluice::kubernetes {
namespace {

/// Derives the keys of one Gateway.
class KeyDerivation {
 public:
  KeyDerivation(const config::Model& model, std::string uid) : model_(model), uid_(std::move(uid)) {}

  /// Keys of one purpose are derived in the same way, whatever the names of their entries.
  void add(std::string_view entry, std::string_view purpose, const std::string& nameSpace, const std::string& name,
           const std::string& key) {
    const auto* secret = model_.find<config::SecretObject>(nameSpace, name);
    const base::Secret* bytes = secret == nullptr ? nullptr : secret->find(key);
    // A key derived from a guessable one would reveal whether a guess is right.
    if (bytes == nullptr || bytes->reveal().size() < pki::kDerivedKeyBytes) return;
    const auto derived = pki::deriveKey(*bytes, "sluice.dev " + std::string(purpose) + " " + uid_);
    if (derived.ok()) keys_.emplace(entry, base::encodeBase64(derived->reveal()));
  }

  const std::map<std::string, std::string>& keys() const { return keys_; }

 private:
  const config::Model& model_;
  const std::string uid_;
  std::map<std::string, std::string> keys_;  // in base64, by entry
};

}  // namespace

std::string nameOfClassKeys(const config::Gateway& gateway) { return nameOfPods(gateway) + "-keys"; }

std::optional<ProvisionedObject> classKeysOf(const GatewayToRun& run, const config::Model& model) {
  const std::optional<base::SessionKeyRef>& session = model.settings.sessionKey;
  const std::optional<base::RevisionKeyRef>& revision = model.settings.revisions.keyRef;
  if (!session && !revision) return std::nullopt;
  KeyDerivation derivation(model, run.uid);
  const auto addSession = [&](std::string_view entry, const std::string& key) {
    if (!key.empty()) derivation.add(entry, "session", session->nameSpace, session->name, key);
  };
  if (session) addSession(config::kSessionEntry, session->key);
  if (session) addSession(config::kPreviousSessionEntry, session->previousKey);
  if (revision) {
    derivation.add(config::kRevisionEntry, "revision", revision->nameSpace, revision->name, revision->key);
  }
  const std::string& nameSpace = run.gateway.meta.nameSpace;
  const std::string name = nameOfClassKeys(run.gateway);
  base::JsonWriter json = beginProvisioned(run, provisioned::kSecret, nameSpace, name);
  json.member("type", "Opaque").key("data");
  writeTextMap(json, derivation.keys());
  return provisionedFor(run, provisioned::kSecret, nameSpace, name, json.endObject().take());
}

}  // namespace sluice::kubernetes
