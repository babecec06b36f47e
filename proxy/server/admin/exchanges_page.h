// The page /exchanges: the exchanges in flight on all workers, oldest first; the live page has them, too.
//
// Asks every worker and answers when all have answered, or without those that have not answered in time: an operator
// wants to see that a worker is stuck or has stopped, not to wait for it. One round at a time: a request during a
// round is answered by the next one, so that many requests cost the workers no more than one. Main thread; the
// workers' threads end before the page is destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "proxy/exchange/exchange_list.h"
#include "proxy/net/timers.h"
#include "proxy/net/worker.h"
#include "proxy/server/admin/admin_page.h"

namespace sluice::server {

/// The answers of the workers, by their numbers; none of a worker that is silent.
using WorkerLists = std::vector<std::optional<exchange::ExchangeList>>;

/// The exchanges of all workers. Views of the lists that it was made of.
struct JoinedExchanges {
  std::vector<const exchange::ListedExchange*> oldest;  // oldest first
  std::size_t total = 0;                                // listed or not
};

JoinedExchanges joinLists(const WorkerLists& lists, std::size_t most);

class ExchangesPage final : private net::Timer {
 public:
  /// The number of exchanges that are listed at most; the oldest of all.
  static constexpr std::size_t kMaxListed = 1000;
  static constexpr base::Duration kPatience = std::chrono::seconds(2);

  /// May be called on any thread, once.
  using Tell = std::function<void(exchange::ExchangeList list)>;
  /// Asks a worker to list its `most` oldest exchanges; it answers on any thread, or never.
  using AskWorker = std::function<void(std::size_t most, Tell tell)>;

  /// `main` outlives the page.
  explicit ExchangesPage(net::Worker& main) : main_(main) {}

  /// Adds a worker. Its number is the number of workers added before it.
  void addWorker(AskWorker worker) { workers_.push_back(std::move(worker)); }
  /// Removes all workers, and gives the answers that wait for them.
  void removeWorkers();
  void ask(AdminAnswer answer);
  /// Calls `take` with the lists of the next round, of `most` exchanges each or more.
  void gather(std::size_t most, std::function<void(const WorkerLists&)> take);

 private:
  /// The requests and callers that one round answers.
  struct RoundAskers {
    std::vector<AdminAnswer> answers;
    std::vector<std::function<void(const WorkerLists&)>> takers;
    std::size_t most = 0;  // the longest list that one of them asks for

    bool empty() const { return answers.empty() && takers.empty(); }
  };
  void onTimer() override { finish(); }
  void beginRound();
  void onTold(std::uint64_t round, std::size_t worker, exchange::ExchangeList list);
  void finish();
  AdminDocument document() const;

  net::Worker& main_;
  std::vector<AskWorker> workers_;
  std::uint64_t round_ = 0;  // the number of rounds that are over
  RoundAskers asking_;       // those of this round
  RoundAskers next_;
  WorkerLists lists_;
  std::size_t told_ = 0;
};

}  // namespace sluice::server
