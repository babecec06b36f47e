#include "proxy/exchange/mirror/mirrors.h"

#include "proxy/exchange/transaction/context.h"

namespace sluice::exchange {

Mirror* Mirrors::create(const MirrorSource& source) {
  Mirror& mirror = table_.create(owner_, static_cast<MirrorTable&>(*this), source);
  if (!mirror.enter(source.sent)) {
    table_.destroy(mirror);
    return nullptr;
  }
  table_.mark(mirror);
  return &mirror;
}

void Mirrors::pin() {
  table_.forEach([](Mirror& mirror) { mirror.pin(); });
}

void Mirrors::onResumed(std::uint64_t token, processing::Ticket ticket, bool dropped) {
  if (Mirror* mirror = find(base::Handle<Mirror>::fromToken(token))) mirror->onStepAnswer(ticket, dropped);
}

}  // namespace sluice::exchange
