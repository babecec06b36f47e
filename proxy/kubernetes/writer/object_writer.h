// Writes objects to the API server. It has the queue, the places and the pauses of writes, and handles the answers.
//
// Its user requests a write for an object, and the earliest time of it. At the end of that turn, once there is a place,
// the writer asks the user for the request, if one is still needed, sends it, and notifies the user of the outcome. So
// of several changes only the newest is written, and an object has at most one write in progress. Objects of one
// namespace are written in the order in which they were requested, and the namespaces take turns, so that a namespace
// with thousands of objects does not delay another one. Each user has a writer, and places, of its own, so that no
// report of a replica waits behind statuses.
//
// Answers have these consequences:
//
//   403                      The objects of that kind and namespace wait, half a second at first, then twice as long as
//                            before, up to longestPause; others go on.
//   401, 429, 5xx, no answer All objects wait, in the same way, or as long as the server asks for, up to longestAsked.
//   others                   The user decides what to do.
//
// A refused write is tried again only if the user requests it again. For each kind and status, the first failure is
// logged, until the object that had it last has been written; 404 for the object itself and 409 are no failures. Lives
// on the main thread.
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

/// Identifies an object of the API server, and a task of a writer.
struct WriteKey {
  std::string_view group;  // constant texts
  std::string_view kind;
  std::string nameSpace;  // empty: none
  std::string name;       // empty: several objects, which the user treats as one

  auto operator<=>(const WriteKey&) const = default;
};

enum class WriteOutcome : std::uint8_t {
  kDone,
  kConflict,      // 409: it is there already, or has changed meanwhile
  kMissing,       // 404: it is not there
  kRefused,       // any other 4xx: the same request would be refused again
  kForbidden,     // 403
  kUnauthorized,  // 401
  kBusy,          // 429, 5xx
  kNoAnswer
};

class ObjectWriterUser {
 public:
  /// Returns the request that brings an object to its wanted state, or that first reads the data for that; nullopt if
  /// none is needed. It may call want() for this object and others. Called inside a Turn.
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
  /// The number of objects that are handled before other work of the main thread.
  static constexpr std::size_t kLookedAtPerTurn = 50;
  static constexpr std::size_t kMostTold = 100;  // logged failures that have not passed

  struct WriterRules {
    std::size_t most = 1;           // writes in progress at one time
    base::Duration longestPause{};  // zero: the writer makes no pause of its own
    base::Duration longestAsked{};  // the longest pause that the server may ask for; zero: none
    std::string_view trouble{};     // the log's words for it: "a status cannot be written"; empty: nothing is logged
  };
  /// References outlive it.
  ObjectWriter(ApiClient& client, const WriterRules& rules, ObjectWriterUser& user)
      : TurnEnd(client.turnEnds()), client_(client), rules_(rules), user_(user) {}

  /// Requests a write of the object, not before `at`; inside a Turn. If one was requested already, the earlier time is
  /// used. If the object is being written, it is written again afterwards.
  void want(const WriteKey& key, base::MonotonicTime at = base::MonotonicTime::min());
  /// Forgets all requested writes, the writes in progress, whose outcome stays unknown, and the pauses of forbidden
  /// objects. A pause of all writes goes on.
  void clear();
  /// Ends a pause of all writes.
  void endPause();
  bool isWriting() const { return !open_.empty(); }
  /// Returns the number of objects whose write is requested or in progress.
  std::size_t size() const { return wants_.size() + open_.size(); }

 private:
  using WriteScope = std::tuple<std::string_view, std::string_view, std::string>;  // the scope that a Role may permit
  struct OpenWrite {
    std::unique_ptr<ApiExchange> exchange;
    base::MonotonicTime again = base::MonotonicTime::max();  // when it must be written again
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
  std::map<WriteKey, base::MonotonicTime> wants_;             // the earliest time of each write
  std::set<std::pair<base::MonotonicTime, WriteKey>> later_;  // the writes of wants_ that are not due
  std::map<std::string, std::deque<WriteKey>> due_;           // the others, by namespace; none is empty
  base::MonotonicTime looked_ = base::MonotonicTime::min();  // the round of the loop in which objects were handled last
  std::string turn_;                                         // the namespace that had its turn last
  std::map<WriteKey, OpenWrite> open_;
  WritePause pause_;  // the pause of all writes
  std::map<WriteScope, WritePause> forbidden_;
  std::map<std::string, WriteKey> told_;  // by cause, with the object that had it last
};

}  // namespace sluice::kubernetes
