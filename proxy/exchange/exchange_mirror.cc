// An exchange and the copies of its request that RequestMirror filters want: it tells them, and asks nothing of them.
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/exchanges.h"

namespace sluice::exchange {

void Exchange::startMirrors(const std::vector<routing::RequestMirror>& wanted) {
  if (request_.head.body == http::Body::kTunnel) return;  // a conversation has no copy
  for (const routing::RequestMirror& target : wanted) {
    if (!target.takesAll() && !target.takes(owner_.random())) continue;
    Mirror* mirror = owner_.mirrors().create(*listener_, *rule_, target, asked(), {origin_.client, origin_.secure});
    if (mirror == nullptr) continue;
    if (pin_) mirror->pin();
    mirrors_.push_back(mirror->handle());
    mirror->addBody(requestBody_.bytes);
    if (requestBody_.end() == http::PipeEnd::kComplete) mirror->endBody(requestBody_.trailers());
  }
}

void Exchange::startMirrorsOfShare() {
  const auto& wanted = attempt_.backend->mirrors;
  if (!wanted.empty() && !(retries_ && retries_->hasTried(*attempt_.backend))) startMirrors(wanted);
}

void Exchange::mirrorBody(std::string_view bytes) {
  for (const auto handle : mirrors_) {
    if (Mirror* mirror = owner_.mirrors().find(handle)) mirror->addBody(bytes);
  }
}

void Exchange::mirrorEnd() {
  for (const auto handle : mirrors_) {
    if (Mirror* mirror = owner_.mirrors().find(handle)) mirror->endBody(requestBody_.trailers());
  }
}

void Exchange::dropMirrors() {
  for (const auto handle : mirrors_) {
    if (Mirror* mirror = owner_.mirrors().find(handle)) mirror->cancel();
  }
}

void Exchange::leaveMirrors() {
  for (const auto handle : mirrors_) {
    if (Mirror* mirror = owner_.mirrors().find(handle)) mirror->leave();
  }
}

}  // namespace sluice::exchange
