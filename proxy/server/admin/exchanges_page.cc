#include "proxy/server/admin/exchanges_page.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_writer.h"

namespace sluice::server {

JoinedExchanges joinLists(const WorkerLists& lists, std::size_t most) {
  JoinedExchanges joined;
  for (const auto& list : lists) {
    if (!list) continue;
    joined.total += list->total;
    for (const exchange::ListedExchange& each : list->oldest) joined.oldest.push_back(&each);
  }
  std::sort(joined.oldest.begin(), joined.oldest.end(),
            [](const auto* a, const auto* b) { return a->started < b->started; });
  if (joined.oldest.size() > most) joined.oldest.resize(most);
  return joined;
}

void ExchangesPage::removeWorkers() {
  if (workers_.empty()) return;
  workers_.clear();
  if (!asking_.empty()) finish();
}

void ExchangesPage::ask(AdminAnswer answer) {
  next_.answers.push_back(std::move(answer));
  next_.most = kMaxListed;
  if (asking_.empty()) beginRound();
}

void ExchangesPage::gather(std::size_t most, std::function<void(const WorkerLists&)> take) {
  next_.takers.push_back(std::move(take));
  next_.most = std::max(next_.most, most);
  if (asking_.empty()) beginRound();
}

void ExchangesPage::beginRound() {
  asking_ = std::exchange(next_, {});
  lists_.assign(workers_.size(), std::nullopt);
  told_ = 0;
  main_.timers().set(*this, main_.now() + kPatience);
  if (workers_.empty()) return finish();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i](asking_.most, [this, round = round_, i](exchange::ExchangeList list) {
      main_.post([this, round, i, list = std::move(list)]() mutable { onTold(round, i, std::move(list)); });
    });
  }
}

void ExchangesPage::onTold(std::uint64_t round, std::size_t worker, exchange::ExchangeList list) {
  if (round != round_) return;  // too late
  lists_[worker] = std::move(list);
  if (++told_ == workers_.size()) finish();
}

void ExchangesPage::finish() {
  cancel();
  ++round_;
  RoundAskers asked = std::exchange(asking_, {});
  if (!asked.answers.empty()) {
    const AdminDocument made = document();
    for (AdminAnswer& answer : asked.answers) answer.give(made);
  }
  // A taker may ask again, which begins a round with other lists.
  const WorkerLists lists = std::exchange(lists_, {});
  for (const auto& take : asked.takers) take(lists);
  if (asking_.empty() && !next_.empty()) beginRound();
}

AdminDocument ExchangesPage::document() const {
  const JoinedExchanges joined = joinLists(lists_, kMaxListed);
  base::JsonWriter json;
  json.beginObject().key("exchanges").beginList();
  for (const exchange::ListedExchange* each : joined.oldest) json.json(each->json);
  json.endList().member("total", static_cast<std::int64_t>(joined.total));
  json.key("truncated").json(joined.oldest.size() < joined.total ? "true" : "false");
  json.key("silentWorkers").beginList();
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    if (!lists_[i]) json.number(static_cast<std::int64_t>(i));
  }
  json.endList().endObject();
  return {200, "application/json", json.take()};
}

}  // namespace sluice::server
