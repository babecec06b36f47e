// Tests many rules of one path: a look-up finds the same rule as trying them one by one.
#include "proxy/routing/table/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "proxy/routing/snapshot.h"
#include "test/routing/request_maker.h"
#include "test/support/table_entry.h"

namespace sluice::routing {
namespace {

using test::RequestMaker;

/// Returns the candidate of the rule at that place of its route, whose name is the place.
Candidate candidateAt(std::uint32_t place, std::shared_ptr<Match> match) {
  match->precedence.rule = place;
  auto rule = std::make_shared<Rule>();
  rule->route = std::to_string(place);
  return {std::move(match), std::move(rule)};
}

class CandidateGenerator {
 public:
  explicit CandidateGenerator(std::uint64_t seed) : random_(seed) {}

  /// Returns the same candidates for the same seed.
  std::vector<Candidate> candidates() {
    std::vector<Candidate> result(random_() % 80);
    for (std::uint32_t i = 0; i < result.size(); ++i) {
      auto match = std::make_shared<Match>();
      match->predicates.method = oneOf({"", "", "GET", "PUT"});
      for (const char* name : {"x-a", "x-b", "host"}) maybe(name, match->predicates.headers);
      for (const char* name : {"q", "r s"}) maybe(name, match->predicates.query);
      result[i] = candidateAt(i, std::move(match));
    }
    std::shuffle(result.begin(), result.end(), random_);
    return result;
  }

  std::unique_ptr<RequestMaker> request() {
    auto made = std::make_unique<RequestMaker>(oneOf({"GET", "PUT", "POST"}), oneOf({"1", "a,b", "c"}), target());
    for (std::uint64_t i = random_() % 4; i > 0; --i) made->add(oneOf({"x-a", "x-b"}), oneOf({"a", "b", "1", ""}));
    return made;
  }

 private:
  std::string oneOf(std::initializer_list<const char*> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random_() % choices.size()));
  }
  void maybe(const char* name, std::vector<Predicate>& predicates) {
    if (random_() % 3 != 0) return;
    if (random_() % 4 == 0) {
      predicates.push_back({name, test::regexOf(oneOf({"a.*", "[0-9]", ".*b"}))});
    } else {
      predicates.push_back({name, oneOf({"a", "b", "1", "2", "a,b", "", "%"})});
    }
  }
  std::string target() {
    std::string text = "/?z";
    for (std::uint64_t i = random_() % 3; i > 0; --i) {
      text += "&" + oneOf({"q", "%71", "r%20s", "r s"}) + oneOf({"", "=", "=1", "=%31", "=a", "=a%2Cb", "=%", "=%25"});
    }
    return text;
  }

  std::mt19937_64 random_;
};

std::string routeNameOf(const Rule* rule) { return rule == nullptr ? "none" : rule->route; }

std::string tryOneByOne(const std::vector<Candidate>& inOrder, const http::RequestHead& head) {
  for (const Candidate& each : inOrder) {
    if (each.match->predicates.hold(head)) return routeNameOf(each.rule.get());
  }
  return routeNameOf(nullptr);
}

TEST(Candidates, AgreeWithTryingThemOneByOne) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Candidates candidates;
    for (Candidate& each : CandidateGenerator(seed).candidates()) candidates.add(std::move(each));
    candidates.sort();
    CandidateGenerator generate(seed);
    std::vector<Candidate> inOrder = generate.candidates();
    std::sort(inOrder.begin(), inOrder.end(), comesBefore);
    for (int i = 0; i < 40; ++i) {
      const std::unique_ptr<RequestMaker> request = generate.request();
      ASSERT_EQ(routeNameOf(candidates.firstHolding(request->head())), tryOneByOne(inOrder, request->head()))
          << "seed " << seed << ": " << request->head().target;
    }
  }
}

Candidate asking(std::uint32_t place, std::string name, std::string value) {
  auto match = std::make_shared<Match>();
  match->predicates.headers.push_back({std::move(name), std::move(value)});
  return candidateAt(place, std::move(match));
}

std::string foundCandidate(const Candidates& candidates, const RequestMaker& request) {
  return routeNameOf(candidates.firstHolding(request.head()));
}

TEST(Candidates, ManyNamesAndValuesOfAnyLengthAreAllFound) {
  Candidates candidates;
  for (std::uint32_t i = 0; i < 50; ++i) candidates.add(asking(i, "x-" + std::to_string(i), "1"));
  for (const std::uint32_t length : {4096U, 4097U, 9000U})
    candidates.add(asking(length, "x-0", std::string(length, 'a')));
  candidates.sort();
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(foundCandidate(candidates, RequestMaker("GET", "a", "/", {{"x-" + std::to_string(i), "1"}})),
              std::to_string(i));
  }
  for (const std::uint32_t length : {4096U, 4097U, 9000U}) {
    EXPECT_EQ(foundCandidate(candidates, RequestMaker("GET", "a", "/", {{"x-0", std::string(length, 'a')}})),
              std::to_string(length));
  }
  EXPECT_EQ(foundCandidate(candidates, RequestMaker("GET", "a", "/", {{"x-0", std::string(4095, 'a')}})), "none");
}

TEST(Candidates, ValuesThatComeInPiecesAreFoundUpToTheLengthOfTheLongest) {
  Candidates candidates;
  for (std::uint32_t i = 0; i < 20; ++i) candidates.add(asking(i, "x", std::to_string(i)));
  const std::string part(2047, 'a');
  candidates.add(asking(100, "x", part + "," + part + "b"));
  candidates.sort();
  EXPECT_EQ(foundCandidate(candidates, RequestMaker("GET", "a", "/", {{"x", part}, {"x", part + "b"}})), "100");
  EXPECT_EQ(foundCandidate(candidates, RequestMaker("GET", "a", "/", {{"x", part}, {"x", part + "bc"}})), "none");
}

}  // namespace
}  // namespace sluice::routing
