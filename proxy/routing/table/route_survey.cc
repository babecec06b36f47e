#include "proxy/routing/table/route_survey.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "proxy/http/hygiene.h"
#include "proxy/routing/table/route_index.h"

namespace sluice::routing {
namespace {

// The survey is made on the main thread, which must not work for long.
constexpr std::size_t kMostLookedAt = 20'000;

EntryFit fitOf(const Unmet& unmet) {
  if (!unmet.exists) return EntryFit::kHolds;
  switch (unmet.kind) {
    case PredicateKind::kMethod:
      return EntryFit::kMethod;
    case PredicateKind::kHeader:
      return EntryFit::kHeader;
    case PredicateKind::kQuery:
      return EntryFit::kQuery;
  }
  return EntryFit::kHolds;
}

/// Takes Candidates one by one from a table that shows some of them together.
template <typename Take>
struct OneByOne {
  Take take;

  bool operator()(const Candidates& candidates) {
    return std::any_of(candidates.all().begin(), candidates.all().end(), take);
  }
  bool operator()(const Candidate& candidate) { return take(candidate); }
};
template <typename Take>
OneByOne(Take) -> OneByOne<Take>;

/// Returns how many characters both texts begin with.
std::size_t commonStart(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}
/// Returns how many characters both texts end with.
std::size_t commonEnd(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin());
}

std::string_view pathOf(const Match& match) {
  return match.rpc ? std::string_view(match.rpc->service) : std::string_view(match.path);
}

class SurveyMaker {
 public:
  SurveyMaker(const RouteIndex& index, const http::RequestHead& head, std::size_t most)
      : index_(index), head_(head), host_(http::hostOf(head.authority)), most_(most) {}

  RouteSurvey make() {
    index_.listeners.visit(host_, [this](const ListenerRoutes& listener) {
      path_ = listener.matchedPath(head_.path(), room_);
      owner_ == nullptr ? addOwner(listener) : addOther(listener);
      return false;
    });
    return std::move(survey_);
  }

 private:
  bool full() const { return survey_.entries.size() > most_; }

  void addOwner(const ListenerRoutes& listener) {
    owner_ = &listener;
    survey_.listener = listener.name.get();
    index_.listeners.forEach([&](const std::string& hostname, const ListenerRoutes& each) {
      if (&each == &listener) survey_.listenerHostname = hostname;
    });
    std::vector<std::pair<const HostRules*, std::string>> named;
    listener.hosts.visit(host_, [&](const std::shared_ptr<const HostRules>& rules) {
      // A less specific hostname with the same rules adds nothing.
      const bool known =
          std::any_of(named.begin(), named.end(), [&](const auto& each) { return each.first == rules.get(); });
      if (!known) named.emplace_back(rules.get(), hostnameOf(listener, *rules));
      return false;
    });
    for (const auto& [rules, hostname] : named) addFitting(listener, *rules, hostname);
    for (const auto& [rules, hostname] : named) addOtherPaths(listener, *rules, hostname);
    addOtherHostnames(listener);
  }

  /// Returns the hostname of the routes, the most specific of those that fit and have these rules. Other hostnames may
  /// share the rules, so it is known by the place of its value.
  std::string hostnameOf(const ListenerRoutes& listener, const HostRules& rules) const {
    const std::shared_ptr<const HostRules>* at = nullptr;
    listener.hosts.visit(host_, [&](const std::shared_ptr<const HostRules>& each) {
      if (each.get() == &rules) at = &each;
      return at != nullptr;
    });
    std::string found;
    listener.hosts.forEach([&](const std::string& hostname, const std::shared_ptr<const HostRules>& each) {
      if (&each == at) found = hostname;
    });
    return found;
  }

  void add(const ListenerRoutes& listener, const Candidate& candidate, std::string hostname, EntryFit fit,
           std::string_view name = {}) {
    survey_.entries.push_back({&candidate, listener.name.get(), std::move(hostname), fit, name});
  }

  /// Adds the entries whose hostname and path fit: as many as there is room for, and the serving one in any case.
  void addFitting(const ListenerRoutes& listener, const HostRules& rules, const std::string& hostname) {
    OneByOne each{[&](const Candidate& candidate) {
      fitting_.insert(&candidate);
      const Unmet unmet = candidate.match->predicates.unmet(head_);
      const bool first = !unmet.exists && !served_;
      served_ = served_ || first;
      if (first || !full()) {
        add(listener, candidate, hostname, fitOf(unmet),
            unmet.predicate != nullptr ? std::string_view(unmet.predicate->name) : std::string_view());
      }
      return served_ && full();
    }};
    rules.visitFitting(path_, each);
  }

  void addOtherPaths(const ListenerRoutes& listener, const HostRules& rules, const std::string& hostname) {
    if (full()) return;
    std::vector<const Candidate*> others;
    OneByOne each{[&](const Candidate& candidate) {
      if (others.size() < kMostLookedAt && !fitting_.contains(&candidate)) others.push_back(&candidate);
      return false;
    }};
    rules.forEach(each);
    const auto closer = [this](const Candidate* a, const Candidate* b) {
      const std::size_t closenessA = commonStart(pathOf(*a->match), path_);
      const std::size_t closenessB = commonStart(pathOf(*b->match), path_);
      return closenessA != closenessB ? closenessA > closenessB : a->match->precedence < b->match->precedence;
    };
    std::sort(others.begin(), others.end(), closer);
    for (const Candidate* candidate : others) {
      if (full()) return;
      add(listener, *candidate, hostname, EntryFit::kPath);
    }
  }

  /// Adds the entries of hostnames that do not fit, those that come closest to the host first.
  void addOtherHostnames(const ListenerRoutes& listener) {
    if (full()) return;
    std::set<const std::shared_ptr<const HostRules>*> known;
    listener.hosts.visit(host_, [&](const std::shared_ptr<const HostRules>& rules) {
      known.insert(&rules);
      return false;
    });
    std::vector<std::pair<std::string, const HostRules*>> others;
    listener.hosts.forEach([&](const std::string& hostname, const std::shared_ptr<const HostRules>& rules) {
      if (others.size() < kMostLookedAt && !known.contains(&rules)) others.emplace_back(hostname, rules.get());
    });
    std::sort(others.begin(), others.end(), [this](const auto& a, const auto& b) {
      const std::size_t closenessA = std::max(commonEnd(a.first, host_), commonStart(a.first, host_));
      const std::size_t closenessB = std::max(commonEnd(b.first, host_), commonStart(b.first, host_));
      return closenessA != closenessB ? closenessA > closenessB : a.first < b.first;
    });
    for (const auto& [hostname, rules] : others) {
      OneByOne each{[&, &name = hostname](const Candidate& candidate) {
        if (!full()) add(listener, candidate, name, EntryFit::kHostname);
        return full();
      }};
      rules->visitFitting(path_, each);
      if (full()) return;
    }
  }

  /// Adds the entry that would serve if this listener owned the host.
  void addOther(const ListenerRoutes& listener) {
    if (full()) return;
    bool found = false;
    listener.hosts.visit(host_, [&](const std::shared_ptr<const HostRules>& rules) {
      OneByOne each{[&](const Candidate& candidate) {
        found = candidate.match->predicates.hold(head_);
        if (found) add(listener, candidate, hostnameOf(listener, *rules), EntryFit::kListener);
        return found;
      }};
      rules->visitFitting(path_, each);
      return found;
    });
  }

  const RouteIndex& index_;
  const http::RequestHead& head_;
  const std::string_view host_;
  const std::size_t most_;
  std::string_view path_;  // of the request, as the listener that is looked at matches it
  std::string room_;
  RouteSurvey survey_;
  const ListenerRoutes* owner_ = nullptr;
  std::set<const Candidate*> fitting_;
  bool served_ = false;
};

}  // namespace

const SurveyedEntry* RouteSurvey::serving() const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [](const SurveyedEntry& entry) { return entry.fit == EntryFit::kHolds; });
  return found != entries.end() ? &*found : nullptr;
}

RouteSurvey surveyRoutes(const RouteTable& routes, const http::RequestHead& head, std::size_t most) {
  return SurveyMaker(routes.index(), head, most).make();
}

std::vector<const Match*> matchesOfRule(const RouteTable& routes, const SurveyedEntry& entry) {
  std::vector<const Match*> matches;
  OneByOne each{[&](const Candidate& candidate) {
    if (candidate.rule == entry.candidate->rule) matches.push_back(candidate.match.get());
    return false;
  }};
  routes.index().listeners.forEach([&](const std::string&, const ListenerRoutes& listener) {
    if (listener.name.get() != entry.listener) return;
    listener.hosts.forEach([&](const std::string& hostname, const std::shared_ptr<const HostRules>& rules) {
      if (hostname == entry.hostname) rules->forEach(each);
    });
  });
  std::sort(matches.begin(), matches.end(),
            [](const Match* a, const Match* b) { return a->precedence < b->precedence; });
  return matches;
}

std::vector<RuleOfTable> rulesOf(const RouteTable& routes) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::uint32_t>;
  std::map<Key, RuleOfTable> rules;
  routes.index().listeners.forEach([&](const std::string&, const ListenerRoutes& listener) {
    OneByOne each{[&](const Candidate& candidate) {
      const Precedence& at = candidate.match->precedence;
      const ServedListener& served = *listener.name;
      rules.try_emplace(Key(served.gateway, served.section, at.route, at.rule),
                        RuleOfTable{&served, candidate.rule.get(), at.rule});
      return false;
    }};
    listener.hosts.forEach([&](const std::string&, const std::shared_ptr<const HostRules>& of) { of->forEach(each); });
  });
  std::vector<RuleOfTable> result;
  for (const auto& [key, rule] : rules) result.push_back(rule);
  return result;
}

std::vector<ListenerOfTable> listenersOf(const RouteTable& routes) {
  std::vector<ListenerOfTable> listeners;
  routes.index().listeners.forEach([&](const std::string& hostname, const ListenerRoutes& each) {
    listeners.push_back({each.name.get(), hostname});
  });
  std::sort(listeners.begin(), listeners.end(),
            [](const ListenerOfTable& a, const ListenerOfTable& b) { return a.hostname < b.hostname; });
  return listeners;
}

}  // namespace sluice::routing
