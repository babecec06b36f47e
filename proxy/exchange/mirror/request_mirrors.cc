#include "proxy/exchange/mirror/request_mirrors.h"

#include <optional>

#include "proxy/exchange/mirror/mirrors.h"

namespace sluice::exchange {

template <typename Visit>
void RequestMirrors::each(Visit&& visit) {
  for (const auto handle : handles_) {
    if (Mirror* mirror = t_.context.mirrors().find(handle)) visit(*mirror);
  }
}

void RequestMirrors::start(const std::vector<routing::RequestMirror>& wanted) {
  if (t_.request.head.body == http::Body::kTunnel) return;  // a tunnel cannot be mirrored
  std::optional<http::RequestHead> head;
  for (const routing::RequestMirror& target : wanted) {
    if (!target.takesAll() && !target.takes(t_.context.random())) continue;
    if (!head) head = processing_.headOfMirrors();
    Mirror* mirror = t_.context.mirrors().create(
        {*t_.route.listener, *t_.route.rule, target, *head, t_.asked != nullptr ? *t_.asked : t_.request.head,
         processing_.ruleFilters(), t_.client.forwarded(t_.request.head.scheme), t_.caller, t_.share});
    if (mirror == nullptr) continue;
    if (t_.route.pinned) mirror->pin();
    handles_.push_back(mirror->handle());
    mirror->beginBody(t_.requestBody.bytes);
    if (t_.requestBody.end() == http::PipeEnd::kComplete) mirror->endBody(t_.requestBody.trailers());
  }
}

void RequestMirrors::addBody(std::string_view bytes) {
  each([bytes](Mirror& mirror) { mirror.addBody(bytes); });
}

void RequestMirrors::endBody() {
  each([this](Mirror& mirror) { mirror.endBody(t_.requestBody.trailers()); });
}

void RequestMirrors::cancel() {
  each([](Mirror& mirror) { mirror.cancel(); });
}

void RequestMirrors::leave() {
  each([](Mirror& mirror) { mirror.leave(); });
}

}  // namespace sluice::exchange
