#include "proxy/exchange/mirrors.h"

#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

Mirror* Mirrors::create(const routing::ServedListener& listener, const routing::Rule& rule,
                        const routing::RequestMirror& target, const http::RequestHead& request, const Client& client) {
  upstream::Cluster& cluster = owner_.upstreams().cluster(target.backend);
  if (!cluster.tryEnter()) {
    owner_.onLimit("backendRequests");
    return nullptr;
  }
  Mirror& mirror = table_.create(*this, listener, rule, target, cluster, request, client);
  table_.mark(mirror);
  return &mirror;
}

void Mirrors::pin() {
  table_.forEach([](Mirror& mirror) { mirror.pin(); });
}

}  // namespace sluice::exchange
