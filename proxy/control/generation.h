// One configuration as the workers serve it: the snapshot, and what it takes from outside to listen by it.
//
// Made by the loading thread, shared by all threads as const. A worker adopts another one between two beats.
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

/// What a bind is from one generation to the next, although its place in the snapshot may change.
using BindId = std::uint32_t;

struct ServedBind {
  BindId id = 0;
  const routing::RouteTable* routes = nullptr;
  std::shared_ptr<const net::TlsServerContext> tls;  // null for plaintext
};

struct Generation {
  std::shared_ptr<const routing::Snapshot> snapshot;
  std::string revision;
  std::vector<ServedBind> binds;                 // in the order of the snapshot's
  std::unordered_set<std::string> objects = {};  // that there are, by "namespace/name"

  /// nullptr: it is not listened on any more.
  const ServedBind* find(BindId id) const;
};

/// What a client of the bind may agree on, and who the gateway says it is.
net::TlsServerSettings tlsServerSettings(const routing::Bind& bind);

/// Gives binds their names, and makes their TLS contexts. One thread.
class GenerationMaker {
 public:
  /// A bind whose certificates are those of `previous` goes on with its context, and with it the tickets that clients
  /// hold. Errors are config's: a certificate that OpenSSL does not take.
  base::Result<std::shared_ptr<const Generation>> make(std::shared_ptr<const routing::Snapshot> snapshot,
                                                       std::string revision, const Generation* previous,
                                                       std::unordered_set<std::string> objects = {});

 private:
  using Place = std::tuple<std::string, std::uint16_t, bool>;
  std::map<Place, BindId> ids_;
};

}  // namespace sluice::control
