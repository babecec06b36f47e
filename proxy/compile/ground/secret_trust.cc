#include "proxy/compile/ground/secret_trust.h"

#include <algorithm>
#include <string>

#include "proxy/compile/ground/grants.h"

namespace sluice::compile {
namespace {

config::ObjectRef secretNamed(const base::ObjectNames::value_type& secret) {
  config::ObjectRef ref;
  ref.kind = config::SecretObject::kKind;
  ref.nameSpace = secret.first;
  ref.name = secret.second;
  return ref;
}

}  // namespace

bool isTrusted(const config::Model& model, std::string_view nameSpace) {
  if (model.controllerNamespace.empty()) return true;
  const auto& trusted = model.settings.provisioning.trustedNamespaces;
  if (!trusted) return nameSpace == model.controllerNamespace;
  return std::find(trusted->begin(), trusted->end(), nameSpace) != trusted->end();
}

bool SecretTrust::permits(const base::ObjectNames::value_type& secret) const {
  return trusted_ || isPermitted(model_, secretNamed(secret), holderOf(gateway_.meta));
}

bool SecretTrust::permitsAll(const base::ObjectNames& secrets) const {
  return std::all_of(secrets.begin(), secrets.end(), [this](const auto& each) { return permits(each); });
}

std::optional<Fault> SecretTrust::faultOf(const base::ObjectNames& secrets, const ToldObject& object) const {
  const auto refused =
      std::find_if(secrets.begin(), secrets.end(), [this](const auto& each) { return !permits(each); });
  if (refused == secrets.end()) return std::nullopt;
  const config::ObjectMeta& gateway = gateway_.meta;
  const auto& [nameSpace, name] = *refused;
  const bool known = nameSpace == object.nameSpace || nameSpace == object.named;
  const std::string there = known ? "namespace " + nameSpace : "the namespace of the Secret";
  const std::string named = nameSpace == object.nameSpace ? ", name: " + name : std::string();
  return fault(config::reason::kRefNotPermitted,
               "it uses a Secret" + (known ? " of " + there : " of another namespace") + ", which the Pods of a " +
                   std::string(gateway.kind) + " of namespace " + gateway.nameSpace +
                   " may not read: a ReferenceGrant in " + there + " permits it with from: [{group: " +
                   std::string(gateway.group) + ", kind: " + std::string(gateway.kind) +
                   ", namespace: " + gateway.nameSpace + "}], to: [{group: \"\", kind: Secret" + named +
                   "}], and provisioning.trustedNamespaces of settings.yaml all of that namespace's Gateways");
}

base::ObjectNames SecretTrust::permitted(const base::ObjectNames& secrets) const {
  base::ObjectNames result;
  std::copy_if(secrets.begin(), secrets.end(), std::inserter(result, result.end()),
               [this](const auto& each) { return permits(each); });
  return result;
}

}  // namespace sluice::compile
