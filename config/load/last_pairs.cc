#include "config/load/last_pairs.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace sluice::config {
namespace {

bool hasExpired(const KeyPair& pair, base::WallTime now) { return pair.certificate->notAfter() <= now; }

/// Returns false for Secrets of other content, and for those whose owner has removed both parts.
bool holdsPartOfPair(const SecretObject& secret) {
  return secret.find(std::string(SecretObject::kCertificate)) != nullptr ||
         secret.find(std::string(SecretObject::kPrivateKey)) != nullptr;
}

/// Returns true if the object was deleted in between. Files have no uid.
bool isOther(const SecretObject& now, const SecretObject& before) {
  return !now.meta.uid.empty() && !before.meta.uid.empty() && now.meta.uid != before.meta.uid;
}

/// Returns the pair that serves on for the Secret `now`, if any. `known` is the one that did so until now.
std::optional<KeyPair> lastPairOf(const SecretObject& now, const SecretObject& before, bool isRefused,
                                  const KeyPair* known) {
  const bool isUnchanged = &now == &before && known == nullptr;
  if (isUnchanged || isOther(now, before) || !holdsPartOfPair(now)) return std::nullopt;
  if (!isRefused && now.keyPair().ok()) return std::nullopt;
  if (known != nullptr) return *known;
  auto pair = before.keyPair();
  return pair.ok() ? std::optional(std::move(pair).value()) : std::nullopt;
}

}  // namespace

void keepLastPairs(Model& model, const Model& previous, base::WallTime now) {
  for (const SecretObject& each : model.all<SecretObject>()) {
    const ObjectMeta& meta = each.meta;
    const SecretObject* before = previous.find<SecretObject>(meta.nameSpace, meta.name);
    if (before == nullptr) continue;
    const bool isRefused = model.findKept(meta.group, meta.kind, meta.nameSpace, meta.name) != nullptr;
    auto pair = lastPairOf(each, *before, isRefused, previous.findLastPair(meta.nameSpace, meta.name));
    if (pair && !hasExpired(*pair, now)) {
      model.lastPairs.insert_or_assign({meta.nameSpace, meta.name}, *std::move(pair));
    }
  }
}

bool lastPairHasExpired(const Model& model, base::WallTime now) {
  return std::any_of(model.lastPairs.begin(), model.lastPairs.end(),
                     [now](const auto& each) { return hasExpired(each.second, now); });
}

}  // namespace sluice::config
