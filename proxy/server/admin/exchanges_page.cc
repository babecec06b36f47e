#include "proxy/server/admin/exchanges_page.h"

#include <algorithm>
#include <utility>

#include "proxy/base/json_writer.h"

namespace sluice::server {

void ExchangesPage::removeWorkers() {
  if (workers_.empty()) return;
  workers_.clear();
  if (!answers_.empty()) finish();
}

void ExchangesPage::ask(AdminAnswer answer) {
  next_.push_back(std::move(answer));
  if (answers_.empty()) beginRound();
}

void ExchangesPage::beginRound() {
  answers_ = std::exchange(next_, {});
  lists_.assign(workers_.size(), std::nullopt);
  told_ = 0;
  main_.timers().set(*this, main_.now() + kPatience);
  if (workers_.empty()) return finish();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    workers_[i](kMaxListed, [this, round = round_, i](exchange::ExchangeList list) {
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
  const AdminDocument made = document();
  for (AdminAnswer& answer : std::exchange(answers_, {})) answer.give(made);
  if (!next_.empty()) beginRound();
}

AdminDocument ExchangesPage::document() const {
  std::size_t total = 0;
  std::vector<const exchange::ListedExchange*> listed;
  for (const auto& list : lists_) {
    if (!list) continue;
    total += list->total;
    for (const exchange::ListedExchange& each : list->oldest) listed.push_back(&each);
  }
  std::sort(listed.begin(), listed.end(), [](const auto* a, const auto* b) { return a->started < b->started; });
  if (listed.size() > kMaxListed) listed.resize(kMaxListed);

  base::JsonWriter json;
  json.beginObject().key("exchanges").beginList();
  for (const exchange::ListedExchange* each : listed) json.json(each->json);
  json.endList().member("total", static_cast<std::int64_t>(total));
  json.key("truncated").json(listed.size() < total ? "true" : "false");
  json.key("silentWorkers").beginList();
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    if (!lists_[i]) json.number(static_cast<std::int64_t>(i));
  }
  json.endList().endObject();
  return {200, "application/json", json.take()};
}

}  // namespace sluice::server
