#include "proxy/compile/ground/compile_tls.h"

#include <utility>

namespace sluice::compile {
namespace {

namespace reason = config::reason;

void noteSecret(const config::ObjectRef& ref, const Holder& holder, routing::UpstreamTls& result) {
  if (ref.kind != config::SecretObject::kKind) return;
  result.secrets.emplace(targetNamespace(ref, holder.nameSpace), ref.name);
}

}  // namespace

Resolved<CompiledTls> TlsCompiler::compile(const Holder& holder, const std::string& hostname,
                                           const config::BackendTls& tls) {
  CompiledTls compiled;
  routing::UpstreamTls& result = compiled.tls;
  result.serverName = tls.serverName.empty() ? hostname : tls.serverName;
  result.subjectAltNames = tls.subjectAltNames;
  result.insecureSkipVerify = tls.insecureSkipVerify;
  if (auto wrong = compileTlsOptions(tls, result)) return *std::move(wrong);
  auto trust = trustFor(holder, tls);
  if (!trust) return std::move(trust.fault);
  result.trust = *std::move(trust.value);
  for (const config::ObjectRef& ref : tls.caRefs) noteSecret(ref, holder, result);
  if (auto broken = addClientCertificate(holder, tls, compiled)) return *std::move(broken);
  return compiled;
}

Resolved<CompiledTls> TlsCompiler::complete(const Holder& holder, routing::UpstreamTls ofPolicy,
                                            const config::BackendTls& own) {
  routing::UpstreamTls options;
  if (auto wrong = compileTlsOptions(own, options)) return *std::move(wrong);
  if (ofPolicy.spkiPins.empty()) ofPolicy.spkiPins = std::move(options.spkiPins);
  if (ofPolicy.minVersion.empty()) ofPolicy.minVersion = std::move(options.minVersion);
  if (ofPolicy.cipherSuites.empty()) ofPolicy.cipherSuites = std::move(options.cipherSuites);
  if (!own.caRefs.empty()) {
    if (auto unused = trustFor(holder, own); !unused) return std::move(unused.fault);
  }
  CompiledTls compiled{std::move(ofPolicy)};
  if (auto broken = addClientCertificate(holder, own, compiled)) return *std::move(broken);
  return compiled;
}

std::optional<Fault> TlsCompiler::addClientCertificate(const Holder& holder, const config::BackendTls& tls,
                                                       CompiledTls& result) {
  if (tls.mode != config::TlsMode::kMutual) return std::nullopt;
  if (!tls.clientCertificateRef) {
    return fault(reason::kInvalidClientCertificateRef, tls.path, "mode Mutual needs a clientCertificateRef");
  }
  auto found = resolveKeyPair(model_, *tls.clientCertificateRef, holder, reason::kInvalidClientCertificateRef);
  if (!found) return std::move(found.fault);
  result.tls.clientCertificate = std::move(found.value->pair.certificate);
  result.tls.clientKey = std::move(found.value->pair.key);
  result.outdated = std::move(found.value->outdated);
  noteSecret(*tls.clientCertificateRef, holder, result.tls);
  return std::nullopt;
}

TlsCompiler::TrustResult TlsCompiler::trustFor(const Holder& holder, const config::BackendTls& tls) {
  if (tls.caRefs.empty()) return systemAuthorities(tls);
  Authorities all;
  for (const config::ObjectRef& ref : tls.caRefs) {
    auto bundle = resolveAuthorities(model_, ref, holder);
    if (!bundle) return std::move(bundle.fault);
    all.certificates += bundle.value->certificates + "\n";
    if (!bundle.value->revocations.empty()) all.revocations += bundle.value->revocations + "\n";
  }
  auto store = pki::TrustStore::parse(all.certificates, all.revocations);
  if (!store) return fault(reason::kInvalidCaCertificateRef, tls.path, store.error().detail);
  return std::make_shared<const pki::TrustStore>(std::move(store).value());
}

TlsCompiler::TrustResult TlsCompiler::systemAuthorities(const config::BackendTls& tls) {
  if (!system_) {
    auto store = systemTrust_();
    if (store) {
      system_.emplace(std::move(store).value());
    } else {
      system_.emplace(fault(reason::kInvalidCaCertificateRef, store.error().detail));
    }
  }
  if (*system_) return *system_;
  return fault(system_->fault.reason, tls.path, "the authorities of the system: " + system_->fault.message);
}

}  // namespace sluice::compile
