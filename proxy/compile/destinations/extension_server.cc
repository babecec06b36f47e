#include "proxy/compile/destinations/extension_server.h"

#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/catalog/catalog.h"
#include "proxy/compile/ground/backend_plan.h"

namespace sluice::compile {
namespace {

namespace reason = config::reason;

constexpr std::string_view kClientCertificate = "service.tls.clientCertificateRef";

std::string serviceText(const content::Value& map, std::string_view key) {
  const content::Value* found = map.find(key);
  return found == nullptr ? std::string() : found->text;
}

config::ObjectRef secretOf(const content::Value& ref, std::string path) {
  config::ObjectRef secret;
  secret.kind = config::SecretObject::kKind;
  secret.nameSpace = serviceText(ref, "namespace");
  secret.name = serviceText(ref, "name");
  secret.path = std::move(path);
  return secret;
}

/// Returns the holder for a Secret that the author of the settings names. It may be in any namespace.
Holder ofItsNamespace(const Holder& settings, const config::ObjectRef& secret) {
  return {settings.group, settings.kind, secret.nameSpace};
}

/// Reads the authorities from tls.crt, as Envoy Gateway does, or else from ca.crt.
Resolved<std::shared_ptr<const pki::TrustStore>> authoritiesIn(const config::Model& model, const config::ObjectRef& ref,
                                                               const Holder& holder) {
  const auto refused = [&](const std::string& why) {
    return fault(reason::kInvalidCaCertificateRef, ref.path, describe(ref, ref.nameSpace) + ": " + why);
  };
  const auto* secret = model.find<config::SecretObject>(ref.nameSpace, ref.name);
  if (secret == nullptr) return absenceFault(reason::kInvalidCaCertificateRef, model, ref, holder);
  const char* const key = secret->find("tls.crt") != nullptr ? "tls.crt" : "ca.crt";
  const base::Secret* text = secret->find(key);
  if (text == nullptr) return refused("it has neither tls.crt nor ca.crt");
  auto store = pki::TrustStore::parse(text->reveal());
  if (!store) return refused(std::string(key) + ": " + store.error().detail);
  return std::make_shared<const pki::TrustStore>(std::move(store).value());
}

Resolved<routing::UpstreamTls> tlsTo(const config::Model& model, const content::Value& tls, const std::string& hostname,
                                     const Holder& holder) {
  routing::UpstreamTls result;
  result.serverName = hostname;
  if (const content::Value* ref = tls.find("certificateRef")) {
    const config::ObjectRef secret = secretOf(*ref, "service.tls.certificateRef");
    auto trust = authoritiesIn(model, secret, ofItsNamespace(holder, secret));
    if (!trust) return std::move(trust.fault);
    result.trust = *std::move(trust.value);
    result.secrets.emplace(secret.nameSpace, secret.name);
  }
  if (const content::Value* ref = tls.find("clientCertificateRef")) {
    const config::ObjectRef secret = secretOf(*ref, std::string(kClientCertificate));
    auto found = resolveKeyPair(model, secret, ofItsNamespace(holder, secret), reason::kInvalidClientCertificateRef);
    if (!found) return std::move(found.fault);
    result.clientCertificate = std::move(found.value->pair.certificate);
    result.clientKey = std::move(found.value->pair.key);
    result.secrets.emplace(secret.nameSpace, secret.name);
  }
  return result;
}

}  // namespace

bool namesExtensionServer(const content::Value& reference) {
  return reference.find("fqdn") != nullptr || reference.find("ip") != nullptr;
}

BackendResult extensionServer(const config::Model& model, const content::Value& service, const Holder& holder) {
  if (holder.kind != config::GatewayClass::kKind) {
    return fault(config::processor_reason::kInvalidConfig, "service",
                 "only the settings may name a server without an object: write a Backend for it, and name that "
                 "in backendRefs");
  }
  const content::Value* const byName = service.find("fqdn");
  const content::Value& place = byName != nullptr ? *byName : *service.find("ip");
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = serviceText(service, "name");
  plan->object = std::string(holder.kind) + "." + std::string(holder.group) + "/" + plan->name;
  plan->hostname = serviceText(place, byName != nullptr ? "hostname" : "address");
  const std::string port = serviceText(place, "port");
  std::from_chars(port.data(), port.data() + port.size(), plan->port);
  plan->protocol = routing::UpstreamProtocol::kHttp2;
  plan->ofSettings = true;
  if (const content::Value* tls = service.find("tls")) {
    auto compiled = tlsTo(model, *tls, plan->hostname, holder);
    if (!compiled) return std::move(compiled.fault);
    plan->tls = *std::move(compiled.value);
  }
  plan->authority = authorityOf(*plan);
  plan->identity = identityOf(*plan);
  return std::shared_ptr<const routing::BackendPlan>(std::move(plan));
}

std::optional<Fault> outdatedServerPairs(const config::Model& model, const Holder& settings) {
  std::vector<Fault> outdated;
  for (const base::ExtensionManager& each : model.settings.extensionManagers) {
    if (!each.tls || !each.tls->client) continue;
    config::ObjectRef secret;
    secret.kind = config::SecretObject::kKind;
    secret.nameSpace = each.tls->client->nameSpace;
    secret.name = each.tls->client->name;
    secret.path = kClientCertificate;
    auto found = resolveKeyPair(model, secret, ofItsNamespace(settings, secret), reason::kInvalidClientCertificateRef);
    if (found && found.value->outdated) outdated.push_back(summarized(*std::move(found.value->outdated)));
  }
  return joined(outdated);
}

}  // namespace sluice::compile
