// The writer of objects to the API server: the queue, the places and the pauses of writes, and what follows from the
// answers.
//
// Its user says which objects are to be looked at, and when. Once there is a place, at the end of that turn, the writer
// asks the user what is to be written there now, which may be nothing, sends that, and tells the user what came of it.
// So of several changes the newest alone is written, and an object has at most one write under way. Objects of one
// namespace are looked at in the order in which they were wanted, and the namespaces take turns: one with thousands of
// objects does not delay those of another one. Each user has a writer, and places, of its own, so that no report of a
// replica waits behind statuses.
//
// Answers have these consequences:
//
//   403                      The objects of that kind and namespace wait, half a second at first, then twice as long as
//                            before, up to longestPause; others go on.
//   401, 429, 5xx, no answer All wait, in the same way, or for as long as the server asks for, up to longestAsked.
//   others                   The user knows what follows.
//
// A refused write is tried again only if the user wants it again. Of each kind and status, the first trouble is logged,
// until the object that had it last has been written; 404 for the object itself and 409 are no trouble. Lives on the
// main thread.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

/// Names an object of the API server. What a writer is asked to do is asked by these.
struct WriteKey {
  std::string_view group;  // constant texts
  std::string_view kind;
  std::string nameSpace;  // empty: none
  std::string name;       // empty: several objects, which the user takes for one

  auto operator<=>(const WriteKey&) const = default;
};

enum class WriteOutcome : std::uint8_t {
  kDone,
  kConflict,      // 409: it is there already, or has changed meanwhile
  kMissing,       // 404: it is not there
  kRefused,       // any other 4xx: the same would be refused again
  kForbidden,     // 403
  kUnauthorized,  // 401
  kBusy,          // 429, 5xx
  kNoAnswer
};

class ObjectWriterUser {
 public:
  /// Returns the request that makes an object as it should be at this moment, or that reads what there is to be known
  /// before; nullopt: there is nothing to be done. It may want this object and others to be looked at later. Called
  /// inside a Turn.
  virtual std::optional<ApiRequest> requestFor(const WriteKey& key) = 0;
  /// Called inside a Turn for each item of a list (ApiRequest::listed) while it arrives. It only records.
  virtual void onItem(const content::Value& /*item*/) {}
  /// Called inside a Turn once for each request. The writer must not be destroyed in it.
  virtual void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) = 0;

 protected:
  ~ObjectWriterUser() = default;
};

class ObjectWriter final : private TurnEnd, private net::Timer {
 public:
  static constexpr base::Duration kShortestPause = std::chrono::milliseconds(500);
  /// Objects that are looked at before the main thread is free for something else.
  static constexpr std::size_t kLookedAtPerTurn = 50;
  static constexpr std::size_t kMostTold = 100;  // troubles in the log that have not passed

  struct WriterRules {
    std::size_t most = 1;           // writes that are under way at one time
    base::Duration longestPause{};  // zero: none of its own
    base::Duration longestAsked{};  // the longest pause that the server may ask for; zero: none
    std::string_view trouble{};     // the log's words for it: "a status cannot be written"; empty: nothing is logged
  };
  /// References outlive it.
  ObjectWriter(ApiClient& client, const WriterRules& rules, ObjectWriterUser& user)
      : TurnEnd(client.turnEnds()), client_(client), rules_(rules), user_(user) {}

  /// Has an object looked at, not before `at`; inside a Turn. If it was wanted already, the earlier time counts. If it
  /// is being written, it is looked at again afterwards.
  void want(const WriteKey& key, base::MonotonicTime at = base::MonotonicTime::min());
  /// Forgets what is wanted and what is under way, whose outcome stays unknown, and what is forbidden. A pause of all
  /// goes on.
  void clear();
  /// Ends a pause of all.
  void endPause();
  bool isWriting() const { return !open_.empty(); }
  /// Returns how many objects are wanted or being written.
  std::size_t size() const { return wants_.size() + open_.size(); }

 private:
  using WriteScope = std::tuple<std::string_view, std::string_view, std::string>;  // what a Role may permit
  struct OpenWrite {
    std::unique_ptr<ApiExchange> exchange;
    base::MonotonicTime again = base::MonotonicTime::max();  // when it is to be looked at again
  };
  struct WritePause {
    base::MonotonicTime until = base::MonotonicTime::min();
    unsigned times = 0;  // in a row
  };

  void onTurnEnd() override { lookAtDue(); }
  void onTimer() override { lookAtDue(); }
  void lookAtDue();
  void wake();
  void makeDue(const WriteKey& key);
  WriteKey takeNext();
  void look(const WriteKey& key);
  void ended(const WriteKey& key, const base::Result<ApiAnswer>& answer);
  void succeeded(const WriteKey& key);
  void failed(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer);
  void prolong(WritePause& pause, base::Duration asked) const;
  void tell(const WriteKey& key, const std::string& cause, const std::string& reason);

  ApiClient& client_;
  const WriterRules rules_;
  ObjectWriterUser& user_;
  std::map<WriteKey, base::MonotonicTime> wants_;             // when they are to be looked at
  std::set<std::pair<base::MonotonicTime, WriteKey>> later_;  // those of wants_ that are not due
  std::map<std::string, std::deque<WriteKey>> due_;           // the others, by namespace; none is empty
  base::MonotonicTime looked_ = base::MonotonicTime::min();   // in which round of the loop
  std::string turn_;                                          // the namespace that had its turn last
  std::map<WriteKey, OpenWrite> open_;
  WritePause pause_;  // of all
  std::map<WriteScope, WritePause> forbidden_;
  std::map<std::string, WriteKey> told_;  // by cause, with the object that had it last
};

}  // namespace sluice::kubernetes
