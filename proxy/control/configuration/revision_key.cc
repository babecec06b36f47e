#include "proxy/control/configuration/revision_key.h"

#include <random>
#include <string>
#include <utility>

namespace sluice::control {

namespace {

constexpr std::size_t kBytes = 32;  // as long as the digests that it protects

}  // namespace

std::optional<base::Secret> givenRevisionKey(const config::Model& model, config::Problems& problems) {
  const std::optional<base::RevisionKeyRef>& ref = model.settings.revisions.keyRef;
  if (!ref) return std::nullopt;
  const auto* secret = model.find<config::SecretObject>(ref->nameSpace, ref->name);
  const base::Secret* key = secret == nullptr ? nullptr : secret->find(ref->key);
  if (key != nullptr && key->reveal().size() >= kBytes) return *key;
  config::Problem problem;
  problem.object = "GatewayClass " + model.gatewayClassName;
  problem.field = "settings.yaml: revisions.keyRef";
  problem.message = "Secret " + ref->nameSpace + "/" + ref->name +
                    (secret == nullptr ? " does not exist"
                     : key == nullptr  ? " has no key " + ref->key
                                       : ": " + ref->key + " has less than 32 bytes") +
                    "; this process has a key of its own until then";
  problems.push_back(std::move(problem));
  return std::nullopt;
}

base::Secret newRevisionKey() {
  std::random_device random;
  std::string bytes;
  while (bytes.size() < kBytes) bytes += static_cast<char>(random() & 0xff);
  return base::Secret(std::move(bytes));
}

}  // namespace sluice::control
