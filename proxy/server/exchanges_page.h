// The page /exchanges: what is in flight on all workers, oldest first.
//
// Asks every worker and answers when all have told, or without those that have not told in time: a worker that is stuck
// or has stopped is what an operator wants to see, not to wait for. One round at a time: who asks during one gets the
// next, so that many askers cost the workers no more than one. Main thread; the workers' threads end before it does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "proxy/exchange/exchange_list.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/server/admin_page.h"

namespace sluice::server {

class ExchangesPage final : private net::Timer {
 public:
  /// Listed at most; the oldest of all.
  static constexpr std::size_t kMaxListed = 1000;
  static constexpr base::Duration kPatience = std::chrono::seconds(2);

  /// May be called on any thread, once.
  using Tell = std::function<void(exchange::ExchangeList list)>;
  /// Has a worker tell its `most` oldest exchanges, from wherever it likes, or never.
  using AskWorker = std::function<void(std::size_t most, Tell tell)>;

  /// `main` outlives it.
  explicit ExchangesPage(net::Worker& main) : main_(main) {}

  /// The worker's number is how many were added before it. Before the first ask().
  void addWorker(AskWorker worker) { workers_.push_back(std::move(worker)); }
  void ask(AdminAnswer answer);

 private:
  void onTimer() override { finish(); }
  void beginRound();
  void onTold(std::uint64_t round, std::size_t worker, exchange::ExchangeList list);
  void finish();
  AdminDocument document() const;

  net::Worker& main_;
  std::vector<AskWorker> workers_;
  std::uint64_t round_ = 0;           // how many are over
  std::vector<AdminAnswer> answers_;  // of this round
  std::vector<AdminAnswer> next_;
  std::vector<std::optional<exchange::ExchangeList>> lists_;  // by worker
  std::size_t told_ = 0;
};

}  // namespace sluice::server
