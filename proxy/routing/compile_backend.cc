#include "proxy/routing/compile_backend.h"

#include <algorithm>
#include <utility>

#include "proxy/routing/backend_plan.h"
#include "proxy/routing/references.h"

namespace sluice::routing {
namespace {

namespace reason = config::reason;
using TrustResult = Resolved<std::shared_ptr<const pki::TrustStore>>;

Fault fault(std::string_view why, std::string message) { return {std::string(why), std::move(message)}; }

UpstreamProtocol protocolOf(config::BackendProtocol protocol) {
  switch (protocol) {
    case config::BackendProtocol::kAuto:
      return UpstreamProtocol::kAuto;
    case config::BackendProtocol::kHttp11:
      return UpstreamProtocol::kHttp11;
    case config::BackendProtocol::kHttp2:
      return UpstreamProtocol::kHttp2;
  }
  return UpstreamProtocol::kAuto;
}

/// RFC 6761 section 6.3: the gateway itself, which is no external destination.
bool isLocalhost(std::string_view hostname) { return hostname == "localhost" || hostname.ends_with(".localhost"); }

/// What keeps the Backend from being served at all, whatever it refers to.
std::optional<Fault> acceptance(const config::Backend& backend) {
  if (!backend.extensions.empty()) {
    std::string types;
    for (const config::ProcessorUse& use : backend.extensions) types += (types.empty() ? "" : ", ") + use.type;
    return fault(reason::kUnsupportedExtensionType,
                 "spec.extensions: payload processors are not supported yet (" + types + "); its requests answer 500");
  }
  if (isLocalhost(backend.hostname)) {
    return fault(reason::kInvalid, backend.hostname + " names the gateway's own machine, not an external destination");
  }
  if (auto unbuilt = alteringFault(backend.unbuilt)) return unbuilt;
  for (const config::BackendPort& port : backend.ports) {
    const auto& tls = tlsOf(backend, port);
    if (tls && tls->mode == config::TlsMode::kPassthrough) {
      return fault(reason::kUnsupportedProtocol,
                   tls->path + ".mode: Passthrough can not carry HTTP routes; requests from an HTTPRoute answer 500");
    }
  }
  return std::nullopt;
}

bool knownKind(const config::Model& model, const config::ObjectRef& ref) {
  if (ref.group == config::kGatewayGroup && ref.kind == "Backend") return true;
  if (ref.group == config::kExperimentalGroup && ref.kind == "XBackend") return true;
  const auto same = [&](const auto& each) { return each.group == ref.group && each.kind == ref.kind; };
  return std::any_of(model.backends.begin(), model.backends.end(), same);
}

}  // namespace

BackendCatalog::BackendCatalog(const config::Model& model, const SystemTrust& systemTrust)
    : model_(model), systemTrust_(systemTrust) {
  for (const config::Backend& backend : model.backends) entries_.emplace(&backend, compile(backend));
}

BackendCatalog::Entry BackendCatalog::compile(const config::Backend& backend) {
  Entry entry;
  entry.unaccepted = acceptance(backend);
  for (const config::BackendPort& port : backend.ports) {
    auto plan = std::make_shared<BackendPlan>();
    plan->name = backend.meta.qualifiedName();
    plan->hostname = backend.hostname;
    plan->port = port.number;
    plan->protocol = protocolOf(port.protocol);
    const auto& tls = tlsOf(backend, port);
    if (tls && (tls->mode == config::TlsMode::kServerAuth || tls->mode == config::TlsMode::kMutual)) {
      auto compiled = compileTls(backend, *tls);
      if (!compiled) {
        if (!entry.unresolved) entry.unresolved = std::move(compiled.fault);
        continue;
      }
      plan->tls = std::move(compiled.value);
    }
    plan->authority = authorityOf(*plan);
    plan->identity = identityOf(*plan);
    entry.plans.emplace(port.number, std::move(plan));
  }
  return entry;
}

Resolved<UpstreamTls> BackendCatalog::compileTls(const config::Backend& backend, const config::BackendTls& tls) {
  UpstreamTls result;
  result.serverName = tls.serverName.empty() ? backend.hostname : tls.serverName;
  result.subjectAltNames = tls.subjectAltNames;
  result.insecureSkipVerify = tls.insecureSkipVerify;
  auto trust = trustFor(backend, tls);
  if (!trust) return std::move(trust.fault);
  result.trust = *std::move(trust.value);
  if (tls.mode != config::TlsMode::kMutual) return result;
  if (!tls.clientCertificateRef) {
    return fault(reason::kInvalidClientCertificateRef, tls.path + ": mode Mutual needs a clientCertificateRef");
  }
  auto pair =
      resolveKeyPair(model_, *tls.clientCertificateRef, backend.meta.nameSpace, reason::kInvalidClientCertificateRef);
  if (!pair) return std::move(pair.fault);
  result.clientCertificate = std::move(pair.value->certificate);
  result.clientKey = std::move(pair.value->key);
  return result;
}

TrustResult BackendCatalog::trustFor(const config::Backend& backend, const config::BackendTls& tls) {
  if (tls.caRefs.empty()) return systemAuthorities(tls);
  std::string pem;
  for (const config::ObjectRef& ref : tls.caRefs) {
    auto text = resolveAuthorities(model_, ref, backend.meta.nameSpace);
    if (!text) return std::move(text.fault);
    // Parsed one by one, so that the message names the bundle that is bad.
    const auto parsed = pki::TrustStore::parse(*text.value);
    if (!parsed) {
      return fault(reason::kInvalidCaCertificateRef,
                   describe(ref, backend.meta.nameSpace) + ": ca.crt: " + parsed.error().detail);
    }
    pem += *text.value + "\n";
  }
  auto store = pki::TrustStore::parse(pem);
  if (!store) return fault(reason::kInvalidCaCertificateRef, tls.path + ": " + store.error().detail);
  return std::make_shared<const pki::TrustStore>(std::move(store).value());
}

TrustResult BackendCatalog::systemAuthorities(const config::BackendTls& tls) {
  if (!system_) {
    auto store = systemTrust_();
    if (store) {
      system_.emplace(std::make_shared<const pki::TrustStore>(std::move(store).value()));
    } else {
      system_.emplace(fault(reason::kInvalidCaCertificateRef, store.error().detail));
    }
  }
  if (*system_) return *system_;
  return fault(system_->fault.reason, tls.path + ": the authorities of the system: " + system_->fault.message);
}

BackendResult BackendCatalog::resolve(const config::HttpBackendRef& ref, std::string_view holder) const {
  const std::string what = describe(ref.object, holder);
  if (!knownKind(model_, ref.object)) {
    const std::string kind = ref.object.group.empty() ? ref.object.kind : ref.object.kind + "." + ref.object.group;
    return fault(reason::kInvalidKind, what + ": backends of kind " + kind + " are not supported");
  }
  if (auto crossing = crossNamespaceFault(ref.object, holder)) return *std::move(crossing);
  const config::Backend* backend = model_.findBackend(ref.object.group, ref.object.kind, holder, ref.object.name);
  if (backend == nullptr) {
    const auto* rejected = model_.findRejected(ref.object.group, ref.object.kind, holder, ref.object.name);
    const std::string why = rejected == nullptr ? "it does not exist" : "it is not valid: " + rejected->message;
    return fault(reason::kBackendNotFound, what + ": " + why);
  }
  const Entry& entry = entries_.at(backend);
  const std::optional<Fault>& broken = entry.unaccepted ? entry.unaccepted : entry.unresolved;
  if (broken) return fault(broken->reason, what + ": " + broken->message);
  const config::BackendPort* port = backend->findPort(ref.port);
  if (port == nullptr) {
    const std::string which = ref.port == 0 ? "it has several ports, so the reference must name one"
                                            : "it has no port " + std::to_string(ref.port);
    return fault(reason::kBackendNotFound, what + ": " + which);
  }
  return entry.plans.at(port->number);
}

void BackendCatalog::noteUse(const config::HttpBackendRef& ref, std::string_view holder,
                             const config::Gateway& gateway) {
  if (crossNamespaceFault(ref.object, holder)) return;
  const config::Backend* backend = model_.findBackend(ref.object.group, ref.object.kind, holder, ref.object.name);
  if (backend != nullptr) entries_.at(backend).users.emplace(gateway.meta.qualifiedName(), &gateway);
}

}  // namespace sluice::routing
