#include "proxy/server/commands/validate_action.h"

#include <utility>

namespace sluice::server {
namespace {

AdminDocument refusal(std::uint16_t status, const char* why) { return {status, "text/plain; charset=utf-8", why}; }

}  // namespace

void ValidateAction::ask(AdminPost post, AdminAnswer answer) {
  if (posted_) return answer.give(refusal(503, "another configuration is being judged: ask again\n"));
  const bool live = post.query == "live=true";
  if (!live && !post.query.empty()) return answer.give(refusal(400, "the one query is live=true\n"));
  posted_.emplace(Posted{std::move(post.body), std::move(answer), live});
  const control::CompiledConfiguration* served = reloader_.configuration().get();
  judge(live || served == nullptr ? compile::UnusablePlaces() : served->unusable);
}

void ValidateAction::judge(compile::UnusablePlaces unusable) {
  loader_.judge(reloader_.served(), posted_->text, std::move(unusable),
                [this](control::LoadingThread::Judgement judgement) { take(std::move(judgement)); });
}

void ValidateAction::take(control::LoadingThread::Judgement&& judgement) {
  if (std::exchange(posted_->live, false) && judgement.snapshot != nullptr) {
    compile::UnusablePlaces unusable = serving_.unusable(*judgement.snapshot);
    if (!unusable.empty()) return judge(std::move(unusable));
  }
  AdminAnswer answer = std::move(posted_->answer);
  posted_.reset();
  answer.give({200, "application/json", std::move(judgement.document)});
}

}  // namespace sluice::server
