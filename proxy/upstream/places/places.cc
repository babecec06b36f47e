#include "proxy/upstream/places/places.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "proxy/base/error.h"

namespace sluice::upstream {

Places::Places(net::Worker& worker, CircuitBreakers& breakers, WaiterSink& requests, observe::MetricShard& metrics,
               CloseIdle closeIdle)
    : worker_(worker), breakers_(breakers), requests_(requests), metrics_(metrics), closeIdle_(std::move(closeIdle)) {
  breakers_.enroll(*this);
}

Places::~Places() {
  breakers_.withdraw(*this);
  while (!seekers_.empty()) remove(seekers_.begin());
}

// --- requests without a place ----------------------------------------------------------------------------------------

bool Places::seek(const JoinedBreaker& joined, http::Token request, net::ClientNetwork client, std::string_view limit) {
  CircuitBreaker& breaker = *joined.get();
  const std::uint64_t own = seekersOf(breaker, client);
  if (!maySeek(client, own) || !maySurvey(breaker, client)) return false;
  const PlaceSurvey& survey = surveyOf(breaker, client);
  const std::uint64_t held = survey.heldBy(client) + own;
  if (!survey.favours(client, held, now())) return false;
  seekers_.push_back({request, &joined, client, now() + kPatience, limit});
  breaker.seeking.fetch_add(1, std::memory_order_relaxed);
  makeWay(breaker, limit, client, held);
  startTimer();
  return true;
}

// A client that finds the endpoints of many Backends full leaves room for the requests of others.
bool Places::maySeek(net::ClientNetwork client, std::uint64_t own) const {
  if (seekers_.size() >= kMostSeekers || own >= kMostOfClient) return false;
  const auto inAll =
      std::count_if(seekers_.begin(), seekers_.end(), [client](const Seeker& each) { return each.client == client; });
  return static_cast<std::size_t>(inAll) < kMostOfClientInAll;
}

// Only a request that was notified may take a place, because it would else take the place of one that was.
bool Places::take(CircuitBreaker& breaker, http::Token request) {
  const auto seeker = find(request);
  if (seeker == seekers_.end() || !std::exchange(seeker->told, false) || !breaker.requests.tryAdd()) return false;
  remove(seeker);
  return true;
}

void Places::forget(http::Token request) {
  const auto seeker = find(request);
  if (seeker == seekers_.end()) return;
  const CircuitBreaker& breaker = *seeker->joined->get();
  remove(seeker);
  tell(breaker);
}

std::uint64_t Places::seekersOf(const CircuitBreaker& breaker, net::ClientNetwork client) const {
  const auto isOne = [&](const Seeker& each) { return each.client == client && each.joined->get() == &breaker; };
  return static_cast<std::uint64_t>(std::count_if(seekers_.begin(), seekers_.end(), isOne));
}

std::vector<Places::Seeker>::iterator Places::find(http::Token request) {
  return std::find_if(seekers_.begin(), seekers_.end(),
                      [request](const Seeker& each) { return each.request == request; });
}

void Places::remove(std::vector<Seeker>::iterator seeker) {
  seeker->joined->get()->seeking.fetch_sub(1, std::memory_order_relaxed);
  seekers_.erase(seeker);
}

/// Notifies as many requests as there are places, including those that were notified before.
void Places::tell(const CircuitBreaker& breaker) {
  std::uint64_t room = breaker.requests.room();
  for (Seeker& each : seekers_) {
    if (room == 0) return;
    if (each.joined->get() != &breaker) continue;
    if (!each.told) each.told = requests_.onPoolReady(each.request);
    if (each.told) --room;
  }
}

/// Refuses a request whose time is up, or that would get no place.
void Places::refuse(const Seeker& seeker) {
  const Seeker refused = seeker;
  remove(find(refused.request));
  onLimit(refused.limit);
  requests_.onPoolFailed(refused.request, tooManyRequests(refused.limit));
}

// --- requests that hold one ------------------------------------------------------------------------------------------

// Each survey looks at all requests of the worker.
bool Places::maySurvey(const CircuitBreaker& breaker, std::optional<net::ClientNetwork> cause) const {
  if (surveys_.contains(breaker.number)) return true;
  if (surveys_.size() >= kMostSurveys) return false;
  const auto ofCause =
      std::count_if(surveys_.begin(), surveys_.end(), [cause](const auto& each) { return each.second.cause == cause; });
  return !cause || static_cast<std::size_t>(ofCause) < kMostSurveysOfClient;
}

PlaceSurvey& Places::surveyOf(const CircuitBreaker& breaker, std::optional<net::ClientNetwork> cause) {
  const auto [found, added] = surveys_.try_emplace(breaker.number, CausedSurvey{PlaceSurvey(now()), cause});
  PlaceSurvey& survey = found->second.survey;
  if (!added && now() - survey.made() < kInterval) return survey;
  survey = PlaceSurvey(now());
  requests_.surveyPlaces(breaker.number, survey);
  ClientTotals totals = survey.totals();
  breaker.reports.put(*this, totals, now());
  const std::size_t others = breaker.reports.addOthers(*this, now(), totals);
  survey.weigh(totals, others + 1 >= breakers_.parties());
  startTimer();
  return survey;
}

bool Places::makeWay(const CircuitBreaker& breaker, std::string_view limit, net::ClientNetwork client,
                     std::uint64_t held) {
  PlaceSurvey& survey = surveyOf(breaker, client);
  while (const std::optional<StalledRequest> stalled = survey.choose(client, held, now())) {
    if (!requests_.giveWay(*stalled, {breaker.number, limit})) continue;
    onLimit(limit);
    return true;
  }
  return false;
}

// --- time, and other workers -----------------------------------------------------------------------------------------

void Places::startTimer() {
  if (!isSet()) worker_.timers().set(*this, now() + kInterval);
}

void Places::onTimer() {
  std::set<const JoinedBreaker*> sought;
  for (const Seeker& each : seekers_) sought.insert(each.joined);
  for (const JoinedBreaker* each : sought) serve(*each);
  std::erase_if(surveys_, [this](const auto& each) { return now() - each.second.survey.made() >= kInterval; });
  if (!seekers_.empty() || !surveys_.empty()) startTimer();
}

/// Makes requests give way for those that have not been notified of a place, and asks the other workers for the
/// remaining places.
void Places::serve(const JoinedBreaker& joined) {
  const CircuitBreaker& breaker = *joined.get();
  tell(breaker);
  std::unique_ptr<PlaceAsk> ask;
  for (const Seeker& each : std::vector<Seeker>(seekers_)) {
    if (each.joined != &joined || each.told) continue;
    const PlaceSurvey& survey = surveyOf(breaker, each.client);
    const std::uint64_t held = survey.heldBy(each.client) + seekersOf(breaker, each.client) - 1;
    if (each.until <= now() || !survey.favours(each.client, held, now())) {
      refuse(each);
    } else if (!makeWay(breaker, each.limit, each.client, held)) {
      if (ask == nullptr) ask = std::make_unique<PlaceAsk>(joined.identity(), each.limit);
      ask->add(each.client, held);
    }
  }
  if (ask != nullptr) breakers_.ask(*this, std::move(ask));
}

void Places::onAsked(std::shared_ptr<const PlaceAsk> ask) {
  worker_.post([this, asked = std::move(ask)] {
    const JoinedBreaker joined(breakers_, asked->boundedAs());
    if (joined.get() == nullptr || !maySurvey(*joined.get(), std::nullopt)) return;
    surveyOf(*joined.get(), std::nullopt);
    for (const PlaceAsk::Wish& wish : asked->wishes()) {
      if (!wish.met) wish.met = makeWay(*joined.get(), asked->limit(), wish.client, wish.held);
    }
  });
}

void Places::onConnectionWanted(const routing::BackendIdentity& boundedAs) {
  worker_.post([this, boundedAs] { closeIdle_(boundedAs); });
}

}  // namespace sluice::upstream
