#include "proxy/control/state/generation.h"

#include <algorithm>
#include <utility>

#include "proxy/routing/policy/client_validation.h"

namespace sluice::control {
namespace {

// Listeners share one value for the demand as long as its contents are the same.
bool sameIdentities(const routing::Bind& a, const routing::Bind& b) {
  return std::equal(a.identities.begin(), a.identities.end(), b.identities.begin(), b.identities.end(),
                    [](const routing::ListenerIdentity& one, const routing::ListenerIdentity& other) {
                      return one.certificate->fingerprint() == other.certificate->fingerprint() &&
                             one.clients == other.clients;
                    });
}

std::shared_ptr<const net::TlsServerContext> contextOf(const Generation* previous, BindId id,
                                                       const routing::Bind& bind) {
  if (previous == nullptr) return nullptr;
  for (std::size_t i = 0; i < previous->binds.size(); ++i) {
    if (previous->binds[i].id == id && sameIdentities(previous->snapshot->binds[i], bind))
      return previous->binds[i].tls;
  }
  return nullptr;
}

// With the insecure fallback, the request's identity is judged later, and never by the handshake.
std::shared_ptr<const net::TlsClientDemand> demandOf(const routing::ClientValidation* clients) {
  if (clients == nullptr) return nullptr;
  const bool refuses = !clients->insecureFallback;
  return std::make_shared<const net::TlsClientDemand>(
      net::TlsClientDemand{.rules = clients->rules, .required = clients->required && refuses, .refuses = refuses});
}

}  // namespace

net::TlsServerSettings tlsServerSettings(const routing::Bind& bind) {
  net::TlsServerSettings settings;
  for (const routing::ListenerIdentity& identity : bind.identities)
    settings.identities.push_back({identity.certificate, identity.key, demandOf(identity.clients.get())});
  settings.alpn = {"h2", "http/1.1"};
  return settings;
}

const ServedBind* Generation::find(BindId id) const {
  const auto found = std::find_if(binds.begin(), binds.end(), [id](const ServedBind& bind) { return bind.id == id; });
  return found != binds.end() ? &*found : nullptr;
}

base::Result<std::shared_ptr<const Generation>> GenerationMaker::make(std::shared_ptr<const routing::Snapshot> snapshot,
                                                                      std::string revision, const Generation* previous,
                                                                      std::unordered_set<std::string> objects) {
  auto generation = std::make_shared<Generation>();
  for (const routing::Bind& bind : snapshot->binds) {
    ServedBind served;
    const auto next = static_cast<BindId>(ids_.size());
    served.id = ids_.try_emplace(Place(bind.address, bind.port, bind.tls, routing::isForwardProxy(bind.service)), next)
                    .first->second;
    served.service = &bind.service;
    if (bind.tls) served.tls = contextOf(previous, served.id, bind);
    if (bind.tls && served.tls == nullptr) {
      auto context = net::TlsServerContext::make(tlsServerSettings(bind));
      if (!context.ok()) return context.error();
      served.tls = std::move(*context);
    }
    generation->binds.push_back(std::move(served));
  }
  generation->snapshot = std::move(snapshot);
  generation->revision = std::move(revision);
  generation->objects = std::move(objects);
  return std::shared_ptr<const Generation>(std::move(generation));
}

}  // namespace sluice::control
