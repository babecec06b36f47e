// TLS towards Backends: authorities, client certificates and options, resolved and parsed.
//
// Lives as long as one compilation.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "config/model/model.h"
#include "proxy/control/compile/fault.h"
#include "proxy/control/compile/references.h"
#include "proxy/pki/trust_store.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Where the system's authorities come from: pki::SystemAuthorities, or a test's own.
using SystemTrust = std::function<base::Result<std::shared_ptr<const pki::TrustStore>>()>;

class TlsCompiler {
 public:
  /// Both must outlive it. The system's authorities are loaded once at most, and only if a Backend relies on them.
  TlsCompiler(const config::Model& model, const SystemTrust& systemTrust) : model_(model), systemTrust_(systemTrust) {}

  /// `tls` has a mode that originates TLS, and options that compileTlsOptions() took. Faults are of references.
  Resolved<routing::UpstreamTls> compile(const config::Backend& backend, const config::BackendTls& tls);

 private:
  using TrustResult = Resolved<std::shared_ptr<const pki::TrustStore>>;

  TrustResult trustFor(const Holder& holder, const config::BackendTls& tls);
  TrustResult systemAuthorities(const config::BackendTls& tls);

  const config::Model& model_;
  const SystemTrust& systemTrust_;
  std::optional<TrustResult> system_;
};

/// `tls.options` (E-57) into the members of `result` that they set; a fault (Invalid) for a value that is none.
std::optional<Fault> compileTlsOptions(const config::BackendTls& tls, routing::UpstreamTls& result);

}  // namespace sluice::control
