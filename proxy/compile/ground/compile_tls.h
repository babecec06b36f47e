// Compiles TLS to Backends and Services: resolves and parses authorities, client certificates and options.
//
// The object lives as long as one compilation.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/model/model.h"
#include "proxy/compile/ground/fault.h"
#include "proxy/compile/ground/references.h"
#include "proxy/pki/trust_store.h"
#include "proxy/routing/snapshot.h"

namespace sluice::compile {

/// Loads the system's authorities. This is pki::SystemAuthorities, or a replacement in a test.
using SystemTrust = std::function<base::Result<std::shared_ptr<const pki::TrustStore>>()>;

struct CompiledTls {
  routing::UpstreamTls tls;
  std::optional<Fault> outdated = {};  // as in ResolvedPair, of the client certificate
};

class TlsCompiler {
 public:
  /// Both must outlive it. The system's authorities are loaded at most once, and only if some TLS settings use them.
  TlsCompiler(const config::Model& model, const SystemTrust& systemTrust) : model_(model), systemTrust_(systemTrust) {}

  /// `holder` is the object with the references of `tls`. `hostname` is the name of the server if `tls` does not give
  /// one. `tls` must have a mode that originates TLS. Faults: those of references, and those of compileTlsOptions().
  Resolved<CompiledTls> compile(const Holder& holder, const std::string& hostname, const config::BackendTls& tls);
  /// Returns the TLS of a policy for a Backend, completed with settings that only the Backend's own TLS has: its client
  /// certificate, and options that the policy leaves open. The policy alone decides which authorities are trusted. But
  /// faults are those of compile() in any case, so that a broken reference of the Backend is always reported.
  Resolved<CompiledTls> complete(const Holder& holder, routing::UpstreamTls ofPolicy, const config::BackendTls& own);

 private:
  using TrustResult = Resolved<std::shared_ptr<const pki::TrustStore>>;

  std::optional<Fault> addClientCertificate(const Holder& holder, const config::BackendTls& tls, CompiledTls& result);
  TrustResult trustFor(const Holder& holder, const config::BackendTls& tls);
  TrustResult systemAuthorities(const config::BackendTls& tls);

  const config::Model& model_;
  const SystemTrust& systemTrust_;
  std::optional<TrustResult> system_;
};

/// Stores the options of `tls` in members of `result`. Members without an option keep their values. Returns a fault
/// (Invalid) for a wrong value.
std::optional<Fault> compileTlsOptions(const config::BackendTls& tls, routing::UpstreamTls& result);

}  // namespace sluice::compile
