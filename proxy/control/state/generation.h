// One configuration as the workers serve it: the snapshot, and the TLS contexts of its sockets.
//
// The loading thread makes it, and all threads share it as const. A worker adopts another one between two beats.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/net/tls/tls.h"
#include "proxy/routing/snapshot.h"

namespace sluice::control {

/// Identifies a bind across generations, although its position in the snapshot may change.
using BindId = std::uint32_t;

struct ServedBind {
  BindId id = 0;
  const routing::ListenerService* service = nullptr;  // the snapshot's
  std::shared_ptr<const net::TlsServerContext> tls;   // null for plaintext
};

struct Generation {
  std::shared_ptr<const routing::Snapshot> snapshot;
  std::string revision;
  std::vector<ServedBind> binds;                 // same order as in the snapshot
  std::unordered_set<std::string> objects = {};  // existing objects, by "namespace/name"

  /// Returns nullptr if the bind is not listened on any more.
  const ServedBind* find(BindId id) const;
};

/// Returns the TLS settings of the bind: the certificates, what each of them demands of clients, and
/// the protocols that a client may negotiate.
net::TlsServerSettings tlsServerSettings(const routing::Bind& bind);

/// Assigns the ids of binds and makes their TLS contexts. It belongs to one thread.
class GenerationMaker {
 public:
  /// A bind whose certificates and demands are equal to those of `previous` keeps its context, and thus the session
  /// tickets of clients stay valid. Errors are those of the configuration: a certificate that OpenSSL does not accept.
  base::Result<std::shared_ptr<const Generation>> make(std::shared_ptr<const routing::Snapshot> snapshot,
                                                       std::string revision, const Generation* previous,
                                                       std::unordered_set<std::string> objects = {});

 private:
  using Place = std::tuple<std::string, std::uint16_t, bool, bool>;  // with TLS, forward proxy
  std::map<Place, BindId> ids_;
};

}  // namespace sluice::control
