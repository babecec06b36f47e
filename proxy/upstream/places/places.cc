#include "proxy/upstream/places/places.h"

#include <algorithm>
#include <set>
#include <utility>

#include "proxy/base/error.h"

namespace sluice::upstream {

Places::Places(net::Worker& worker, CircuitBreakers& breakers, WaiterSink& requests, observe::MetricShard& metrics)
    : worker_(worker), breakers_(breakers), requests_(requests), metrics_(metrics) {
  breakers_.enroll(*this);
}

Places::~Places() {
  breakers_.withdraw(*this);
  while (!seekers_.empty()) remove(seekers_.begin());
}

bool Places::seek(const JoinedBreaker& joined, http::Token request, net::ClientNetwork client, std::string_view limit) {
  CircuitBreaker& breaker = *joined.get();
  const std::uint64_t held = breaker.heldBy(client);
  const bool mayWait =
      seekers_.size() < kMostSeekers && surveyOf(breaker).favours(client, held, breaker.requests.count(), now());
  if (!mayWait) return false;
  seekers_.push_back({request, &joined, client, now() + kPatience, limit});
  breaker.seeking.fetch_add(1, std::memory_order_relaxed);
  makeWay(breaker, client, held);
  startTimer();
  return true;
}

bool Places::take(CircuitBreaker& breaker, http::Token request) {
  const auto seeker = find(request);
  if (!breaker.requests.tryAdd()) {
    if (seeker != seekers_.end()) seeker->told = false;
    return false;
  }
  if (seeker != seekers_.end()) remove(seeker);
  return true;
}

void Places::forget(http::Token request) {
  const auto seeker = find(request);
  if (seeker == seekers_.end()) return;
  const CircuitBreaker& breaker = *seeker->joined->get();
  remove(seeker);
  tell(breaker);
}

std::vector<Places::Seeker>::iterator Places::find(http::Token request) {
  return std::find_if(seekers_.begin(), seekers_.end(),
                      [request](const Seeker& each) { return each.request == request; });
}

void Places::remove(std::vector<Seeker>::iterator seeker) {
  seeker->joined->get()->seeking.fetch_sub(1, std::memory_order_relaxed);
  seekers_.erase(seeker);
}

/// Tells as many requests as there are places, but for those that were told already.
void Places::tell(const CircuitBreaker& breaker) {
  std::uint64_t room = breaker.requests.room();
  for (std::size_t i = 0; i < seekers_.size() && room > 0;) {
    Seeker& seeker = seekers_[i];
    if (seeker.joined->get() != &breaker) {
      ++i;
      continue;
    }
    const bool waits = std::exchange(seeker.told, true) || requests_.onPoolReady(seeker.request);
    if (!waits) {
      remove(seekers_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    --room;
    ++i;
  }
}

PlaceSurvey& Places::surveyOf(const CircuitBreaker& breaker) {
  const auto [found, added] = surveys_.try_emplace(breaker.number, now());
  PlaceSurvey& survey = found->second;
  if (!added && now() - survey.made() < kInterval) return survey;
  survey = PlaceSurvey(now());
  requests_.surveyPlaces(breaker.number, survey);
  survey.weigh([&breaker](net::ClientNetwork client) { return breaker.heldBy(client); });
  startTimer();
  return survey;
}

bool Places::makeWay(const CircuitBreaker& breaker, net::ClientNetwork client, std::uint64_t held) {
  PlaceSurvey& survey = surveyOf(breaker);
  while (const std::optional<http::Token> holder = survey.choose(client, held, now())) {
    if (requests_.giveWay(*holder)) return true;
  }
  return false;
}

void Places::startTimer() {
  if (!isSet()) worker_.timers().set(*this, now() + kInterval);
}

void Places::onTimer() {
  refuseLate();
  std::set<const JoinedBreaker*> sought;
  for (const Seeker& each : seekers_) sought.insert(each.joined);
  for (const JoinedBreaker* each : sought) serve(*each);
  std::erase_if(surveys_, [this](const auto& each) { return now() - each.second.made() >= kInterval; });
  if (!seekers_.empty() || !surveys_.empty()) startTimer();
}

void Places::refuseLate() {
  std::vector<Seeker> late;
  for (std::size_t i = 0; i < seekers_.size();) {
    if (seekers_[i].until > now() || seekers_[i].told) {
      ++i;
      continue;
    }
    late.push_back(seekers_[i]);
    remove(seekers_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  for (const Seeker& each : late) {
    onLimit(each.limit);
    requests_.onPoolFailed(each.request, tooManyRequests(each.limit));
  }
}

/// Has requests give way for those that have not been told of a place, and asks the other workers for the rest.
void Places::serve(const JoinedBreaker& joined) {
  const CircuitBreaker& breaker = *joined.get();
  tell(breaker);
  auto ask = std::make_shared<PlaceAsk>(joined.identity());
  for (const Seeker& each : std::vector<Seeker>(seekers_)) {
    if (each.joined != &joined || each.told) continue;
    // Those that seek count too, but this one does not take a place from the others.
    const std::uint64_t held = breaker.heldBy(each.client) - 1;
    if (!makeWay(breaker, each.client, held)) ask->add(each.client, held);
  }
  if (!ask->wishes().empty()) breakers_.ask(*this, std::move(ask));
}

void Places::onAsked(std::shared_ptr<const PlaceAsk> ask) {
  worker_.post([this, asked = std::move(ask)] {
    const JoinedBreaker joined(breakers_, asked->boundedAs());
    if (joined.get() == nullptr) return;
    for (const PlaceAsk::Wish& wish : asked->wishes()) {
      if (!wish.met) wish.met = makeWay(*joined.get(), wish.client, wish.held);
    }
  });
}

}  // namespace sluice::upstream
