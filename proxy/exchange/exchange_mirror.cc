// An exchange and the copies of its request that RequestMirror filters want: it tells them, and asks nothing of them.
#include <optional>

#include "proxy/exchange/context.h"
#include "proxy/exchange/exchange.h"
#include "proxy/exchange/mirrors.h"
#include "proxy/exchange/steps/body_framing.h"

namespace sluice::exchange {

/// Returns the head as the filters and steps of the Gateway and the rule have left it, without what steps marked as
/// secret.
http::RequestHead Exchange::headOfMirrors() {
  if (asked_ == nullptr) return request_.head;
  http::RequestHead head = *asked_;
  head.headers = head.headers.copy(request_.arena);
  steps_->editsBeforeRouting.layOnCopy(request_.arena, head);
  applyRuleFilters(request_.arena, head, *rule_, owner_.identity(), {origin_.client, origin_.secure});
  steps_->edits.layOnCopy(request_.arena, head);
  if (steps_->request->alters()) removeDigests(head.headers);
  return head;
}

void Exchange::startMirrors(const std::vector<routing::RequestMirror>& wanted) {
  if (request_.head.body == http::Body::kTunnel) return;  // a conversation has no copy
  std::optional<http::RequestHead> head;
  for (const routing::RequestMirror& target : wanted) {
    if (!target.takesAll() && !target.takes(owner_.random())) continue;
    if (!head) head = headOfMirrors();
    Mirror* mirror =
        owner_.mirrors().create({*listener_, *rule_, target, *head, ruleFilters(), {origin_.client, origin_.secure}});
    if (mirror == nullptr) continue;
    if (pin_) mirror->pin();
    mirrors_.push_back(mirror->handle());
    mirror->beginBody(requestBody_.bytes);
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
