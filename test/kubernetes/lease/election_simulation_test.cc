// Candidates, a server and a bad network on one true time line, step by step: two never lead at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/lease/leader_election.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using namespace std::chrono_literals;

constexpr base::Duration kTick = 100ms;

enum class Outcome { kRead, kAbsent, kWritten, kConflict };

struct ServerReply {
  Outcome outcome = Outcome::kAbsent;
  LeaseRecord record;
};

/// Keeps one Lease as an API server does.
class LeaseServer {
 public:
  ServerReply execute(const LeaderElection::Action& action) {
    if (action.step == LeaderElection::Step::kRead)
      return {held_ ? Outcome::kRead : Outcome::kAbsent, held_.value_or(LeaseRecord())};
    LeaseRecord next = readLeaseRecord(*content::parseJson(action.body));
    if (action.step == LeaderElection::Step::kCreate && held_) return {Outcome::kConflict, {}};
    if (action.step == LeaderElection::Step::kUpdate && !held_) return {};
    if (action.step == LeaderElection::Step::kUpdate && held_->resourceVersion != next.resourceVersion)
      return {Outcome::kConflict, {}};
    next.resourceVersion = std::to_string(++version_);
    held_ = next;
    return {Outcome::kWritten, next};
  }

 private:
  std::optional<LeaseRecord> held_;
  int version_ = 0;
};

/// Decides the outcome of a candidate's requests.
struct Weather {
  base::Duration requestDelay = 100ms;  // at most
  base::Duration answerDelay = 100ms;
  int lostInHundred = 0;  // of each way
  bool cut = false;
};

class SimulatedCandidate {
 public:
  /// Its monotonic clock has an origin of its own, and its wall clock is wrong by `skew` or does not move.
  SimulatedCandidate(std::string identity, std::uint64_t seed, base::Duration skew, bool frozen)
      : election_({"n", "l", std::move(identity)}, seed), random_(seed), skew_(skew), frozen_(frozen) {}

  bool leads(base::Duration now) const { return election_.isLeader(mine(now)); }
  bool isDone() const { return done_; }
  void release(base::Duration now) { election_.release(mine(now)); }

  void tick(base::Duration now, LeaseServer& server, const Weather& weather) {
    executeArrivals(now, server, weather);
    if (answerAt_ && now >= *answerAt_) {
      answerAt_.reset();
      waitsUntil_.reset();
      report(reply_, mine(now));
    } else if (waitsUntil_ && now >= *waitsUntil_) {
      answerAt_.reset();
      waitsUntil_.reset();
      current_ = -1;
      election_.failed(mine(now));
    }
    if (waitsUntil_) return;
    LeaderElection::Action action = election_.next(mine(now), base::someTime(frozen_ ? skew_ : now + skew_));
    done_ = action.step == LeaderElection::Step::kDone;
    if (done_ || action.step == LeaderElection::Step::kWait) return;
    waitsUntil_ = now + LeaderElection::kRequestTimeout;
    current_ = ++sent_;
    if (!isLost(weather)) underWay_.push_back({std::move(action), now + delay(weather.requestDelay), current_});
  }

 private:
  struct Travelling {
    LeaderElection::Action action;
    base::Duration arrives{};
    int number = 0;
  };

  base::MonotonicTime mine(base::Duration now) const { return base::MonotonicTime(now + std::chrono::abs(skew_)); }
  base::Duration delay(base::Duration most) {
    return base::Duration(random_.next() % static_cast<std::uint64_t>(most.count()));
  }
  bool isLost(const Weather& weather) {
    return weather.cut || static_cast<int>(random_.next() % 100) < weather.lostInHundred;
  }

  /// Requests that were abandoned are executed all the same when they arrive.
  void executeArrivals(base::Duration now, LeaseServer& server, const Weather& weather) {
    for (const Travelling& each : underWay_) {
      if (now < each.arrives) continue;
      ServerReply reply = server.execute(each.action);
      if (each.number != current_ || isLost(weather)) continue;
      reply_ = std::move(reply);
      answerAt_ = now + delay(weather.answerDelay);
    }
    std::erase_if(underWay_, [&](const Travelling& each) { return now >= each.arrives; });
  }

  void report(const ServerReply& reply, base::MonotonicTime now) {
    switch (reply.outcome) {
      case Outcome::kRead:
        election_.read(reply.record, now);
        return;
      case Outcome::kAbsent:
        election_.absent(now);
        return;
      case Outcome::kWritten:
        election_.written(reply.record, now);
        return;
      case Outcome::kConflict:
        election_.conflicted(now);
        return;
    }
  }

  LeaderElection election_;
  base::Random random_;
  const base::Duration skew_;
  const bool frozen_;
  std::vector<Travelling> underWay_;
  int sent_ = 0;
  int current_ = -1;  // the request whose outcome is awaited
  ServerReply reply_;
  std::optional<base::Duration> answerAt_;
  std::optional<base::Duration> waitsUntil_;
  bool done_ = false;
};

class ElectionWorld {
 public:
  ElectionWorld(std::uint64_t seed, int candidates) : random_(seed) {
    for (int i = 0; i < candidates; ++i) candidates_.push_back(candidate());
    clear();
  }

  /// Lets the time pass. Returns how many ticks had a leader.
  int run(base::Duration time) {
    int led = 0;
    for (const base::Duration end = now_ + time; now_ < end; now_ += kTick) {
      for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i]->tick(now_, server_, weathers_[i]);
      led += leaders();
      EXPECT_LE(leaders(), 1) << "at " << now_ / 1ms << " ms";
    }
    return led;
  }

  /// Gives each candidate a network of its own kind, and sometimes ends a process.
  void stir() {
    for (Weather& each : weathers_) {
      each = {choose({100ms, 2s, 20s}), choose({100ms, 5s, 20s}), random_.next() % 2 == 0 ? 0 : 30,
              random_.next() % 3 == 0};
    }
    const std::size_t ended = random_.next() % candidates_.size();
    const std::uint64_t how = random_.next() % 6;
    if (how == 0) candidates_[ended]->release(now_);
    if (how == 1) candidates_[ended] = candidate();  // it is killed, and another one is started
  }
  void clear() { weathers_.assign(candidates_.size(), {}); }
  void cutOff(std::size_t index) { weathers_[index].cut = true; }
  void replaceTheReleased() {
    for (auto& each : candidates_) {
      if (each->isDone()) each = candidate();
    }
  }

  int leaders() const {
    return static_cast<int>(
        std::count_if(candidates_.begin(), candidates_.end(), [&](const auto& each) { return each->leads(now_); }));
  }
  std::vector<std::unique_ptr<SimulatedCandidate>>& candidates() { return candidates_; }
  base::Duration now() const { return now_; }

 private:
  std::unique_ptr<SimulatedCandidate> candidate() {
    const auto hours = static_cast<std::int64_t>(random_.next() % 2001) - 1000;
    const bool frozen = random_.next() % 4 == 0;
    return std::make_unique<SimulatedCandidate>("c" + std::to_string(++names_), random_.next() | 1, hours * 1h, frozen);
  }
  base::Duration choose(const std::vector<base::Duration>& among) { return among[random_.next() % among.size()]; }

  base::Random random_;
  LeaseServer server_;
  std::vector<std::unique_ptr<SimulatedCandidate>> candidates_;
  base::Duration now_{};
  std::vector<Weather> weathers_;  // of the candidates
  int names_ = 0;
};

TEST(ElectionSimulation, OneLeadsAllTheTimeOnAGoodNetwork) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ElectionWorld world(seed, 2);
    world.run(2s);
    EXPECT_EQ(world.run(60s), 60s / kTick);
  }
}

TEST(ElectionSimulation, NeverHasTwoLeadersOnABadNetwork) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    ElectionWorld world(seed, seed % 3 == 0 ? 3 : 2);
    int led = world.run(20s);
    for (int round = 0; round < 30; ++round) {
      world.stir();
      led += world.run(base::Duration(1s) * (2 + round * 7 % 23));
      world.replaceTheReleased();
    }
    EXPECT_GT(led, 0) << "seed " << seed;
    world.clear();
    world.run(40s);
    EXPECT_EQ(world.leaders(), 1) << "seed " << seed;
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

TEST(ElectionSimulation, ALeaderThatIsCutOffEndsBeforeTheNextBegins) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ElectionWorld world(seed, 2);
    world.run(10s);
    const auto& candidates = world.candidates();
    const std::size_t first = candidates[0]->leads(world.now()) ? 0 : 1;
    ASSERT_TRUE(candidates[first]->leads(world.now()));
    world.cutOff(first);
    const int led = world.run(30s);
    EXPECT_FALSE(candidates[first]->leads(world.now()));
    EXPECT_TRUE(candidates[1 - first]->leads(world.now()));
    EXPECT_GT(led, 15s / kTick);
    EXPECT_LT(led, 30s / kTick) << "there is a time without a leader";
  }
}

TEST(ElectionSimulation, AReleasedLeaseIsTakenWithinAFewSeconds) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ElectionWorld world(seed, 2);
    world.run(10s);
    auto& candidates = world.candidates();
    const bool first = candidates[0]->leads(world.now());
    candidates[first ? 0 : 1]->release(world.now());
    EXPECT_EQ(world.leaders(), 0);
    world.run(5s);
    EXPECT_TRUE(candidates[first ? 1 : 0]->leads(world.now()));
    EXPECT_TRUE(candidates[first ? 0 : 1]->isDone());
  }
}

}  // namespace
}  // namespace sluice::kubernetes
