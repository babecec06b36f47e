#include "proxy/exchange/mirrors.h"

#include "proxy/exchange/context.h"

namespace sluice::exchange {

Mirror* Mirrors::create(const MirrorSource& source) {
  upstream::Cluster& cluster = owner_.upstreams().cluster(source.target.backend);
  if (!cluster.tryEnter()) {
    owner_.onLimit("backendRequests");
    return nullptr;
  }
  Mirror& mirror = table_.create(owner_, static_cast<MirrorTable&>(*this), cluster, source);
  table_.mark(mirror);
  return &mirror;
}

void Mirrors::pin() {
  table_.forEach([](Mirror& mirror) { mirror.pin(); });
}

}  // namespace sluice::exchange
