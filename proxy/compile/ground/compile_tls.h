// Compiles TLS towards Backends and Services: resolves and parses authorities, client certificates and options.
//
// It lives as long as one compilation.
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

/// Loads the system's authorities: pki::SystemAuthorities, or a test's own.
using SystemTrust = std::function<base::Result<std::shared_ptr<const pki::TrustStore>>()>;

class TlsCompiler {
 public:
  /// Both must outlive it. The system's authorities are loaded at most once, and only if something relies on them.
  TlsCompiler(const config::Model& model, const SystemTrust& systemTrust) : model_(model), systemTrust_(systemTrust) {}

  /// `holder` has the references of `tls`, and `hostname` is the name of a server that `tls` does not name. `tls` must
  /// have a mode that originates TLS. Faults are those of references, and those of compileTlsOptions().
  Resolved<routing::UpstreamTls> compile(const Holder& holder, const std::string& hostname,
                                         const config::BackendTls& tls);
  /// Returns the TLS of a policy for a Backend with what only the Backend's own TLS says: its client certificate, and
  /// options that the policy leaves open. Whom the gateway believes is the policy's to say, but faults are those of
  /// compile() all the same: a reference that is broken is not passed over.
  Resolved<routing::UpstreamTls> complete(const Holder& holder, routing::UpstreamTls ofPolicy,
                                          const config::BackendTls& own);

 private:
  using TrustResult = Resolved<std::shared_ptr<const pki::TrustStore>>;

  std::optional<Fault> addClientCertificate(const Holder& holder, const config::BackendTls& tls,
                                            routing::UpstreamTls& result);
  TrustResult trustFor(const Holder& holder, const config::BackendTls& tls);
  TrustResult systemAuthorities(const config::BackendTls& tls);

  const config::Model& model_;
  const SystemTrust& systemTrust_;
  std::optional<TrustResult> system_;
};

/// Stores the options of `tls` in the members of `result` that they set. Returns a fault (Invalid) for a wrong value.
std::optional<Fault> compileTlsOptions(const config::BackendTls& tls, routing::UpstreamTls& result);

}  // namespace sluice::compile
