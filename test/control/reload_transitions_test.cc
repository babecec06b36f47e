#include "proxy/control/reload_transitions.h"

#include <gtest/gtest.h>

#include <queue>
#include <set>
#include <utility>

#include "test/support/expected_cells.h"

namespace sluice::control {
namespace {

using S = ReloadState;
using E = ReloadEvent;
using A = ReloadAction;

// The tables are written out a second time, row by row, so a change of a table has to be made here too.
const sluice::test::ExpectedCells<S, E, A> kCourse{
    {{S::kRestoring, E::kStart}, {A::kRestore, S::kRestoring}},
    {{S::kRestoring, E::kServable}, {A::kOpen, S::kRestoring}},
    {{S::kRestoring, E::kUnchanged}, {A::kSkipRestored, S::kRestoring}},
    {{S::kRestoring, E::kRefused}, {A::kSkipRestored, S::kRestoring}},
    {{S::kRestoring, E::kUnavailable}, {A::kSkipRestored, S::kRestoring}},
    {{S::kRestoring, E::kLate}, {A::kForget, S::kRestoring}},
    {{S::kRestoring, E::kUnusable}, {A::kRestore, S::kRestoring}},
    {{S::kRestoring, E::kOpened}, {A::kMakeWorkers, S::kRestoring}},
    {{S::kRestoring, E::kMade}, {A::kServeRestored, S::kRestoring}},
    {{S::kRestoring, E::kNoWorkers}, {A::kWaitClosed, S::kRestoring}},
    {{S::kRestoring, E::kRestored}, {A::kSettle, S::kRestoring}},
    {{S::kRestoring, E::kFirst}, {A::kReadFirst, S::kStarting}},
    {{S::kRestoring, E::kGaveUp}, {A::kNone, S::kWaiting}},
    {{S::kRestoring, E::kSettled}, {A::kNone, S::kServing}},

    {{S::kStarting, E::kServable}, {A::kAdmitFirst, S::kStarting}},
    {{S::kStarting, E::kNotYet}, {A::kRescue, S::kRescuing}},
    {{S::kStarting, E::kUnchanged}, {A::kOpenFirst, S::kStarting}},
    {{S::kStarting, E::kRefused}, {A::kRescue, S::kRescuing}},
    {{S::kStarting, E::kUnavailable}, {A::kOpenFirst, S::kStarting}},
    {{S::kStarting, E::kLate}, {A::kForget, S::kStarting}},
    {{S::kStarting, E::kFirst}, {A::kReadFirst, S::kStarting}},
    {{S::kStarting, E::kOpened}, {A::kMakeWorkers, S::kStarting}},
    {{S::kStarting, E::kMade}, {A::kServeFirst, S::kStarting}},
    {{S::kStarting, E::kHopeless}, {A::kWait, S::kStarting}},
    {{S::kStarting, E::kFenced}, {A::kWaitFenced, S::kStarting}},
    {{S::kStarting, E::kNoWorkers}, {A::kWaitClosed, S::kStarting}},
    {{S::kStarting, E::kGaveUp}, {A::kNone, S::kWaiting}},
    {{S::kStarting, E::kSettled}, {A::kNone, S::kServing}},

    {{S::kRescuing, E::kServable}, {A::kOpen, S::kRescuing}},
    {{S::kRescuing, E::kUnchanged}, {A::kOpenAfterAll, S::kStarting}},
    {{S::kRescuing, E::kRefused}, {A::kOpenAfterAll, S::kStarting}},
    {{S::kRescuing, E::kUnavailable}, {A::kOpenMeanwhile, S::kStarting}},
    {{S::kRescuing, E::kLate}, {A::kForget, S::kRescuing}},
    {{S::kRescuing, E::kUnusable}, {A::kRescueAgain, S::kRescuing}},
    {{S::kRescuing, E::kOpened}, {A::kMakeWorkers, S::kRescuing}},
    {{S::kRescuing, E::kMade}, {A::kServeRestored, S::kRescuing}},
    {{S::kRescuing, E::kNoWorkers}, {A::kWaitClosed, S::kRescuing}},
    {{S::kRescuing, E::kRestored}, {A::kSettle, S::kRescuing}},
    {{S::kRescuing, E::kGaveUp}, {A::kDiscard, S::kWaiting}},
    {{S::kRescuing, E::kSettled}, {A::kDiscard, S::kServing}},

    {{S::kWaiting, E::kReload}, {A::kSettle, S::kWaiting}},
    {{S::kWaiting, E::kDue}, {A::kReadFirst, S::kStarting}},
    {{S::kWaiting, E::kRead}, {A::kReadFirst, S::kStarting}},

    {{S::kServing, E::kReload}, {A::kSettle, S::kServing}},
    {{S::kServing, E::kDue}, {A::kLook, S::kServing}},
    {{S::kServing, E::kRead}, {A::kRead, S::kLoadingSource}},
    {{S::kServing, E::kEnvironmentChanged}, {A::kRecompile, S::kLoadingEnvironment}},
    {{S::kServing, E::kServersMoved}, {A::kRecompileAsServed, S::kLoadingServers}},

    {{S::kLoadingSource, E::kServable}, {A::kAdmit, S::kLoadingSource}},
    {{S::kLoadingSource, E::kNotYet}, {A::kHold, S::kLoadingSource}},
    {{S::kLoadingSource, E::kUnchanged}, {A::kConfirm, S::kLoadingSource}},
    {{S::kLoadingSource, E::kRefused}, {A::kRefuse, S::kLoadingSource}},
    {{S::kLoadingSource, E::kUnavailable}, {A::kMissSource, S::kLoadingSource}},
    {{S::kLoadingSource, E::kLate}, {A::kSettle, S::kLoadingSource}},
    {{S::kLoadingSource, E::kUnusable}, {A::kRead, S::kLoadingSource}},
    {{S::kLoadingSource, E::kOpened}, {A::kPublish, S::kPublishingSource}},
    {{S::kLoadingSource, E::kRefresh}, {A::kRefresh, S::kLoadingRefresh}},
    {{S::kLoadingSource, E::kSettled}, {A::kDiscard, S::kServing}},
    {{S::kPublishingSource, E::kAdopted}, {A::kAccept, S::kAcceptingSource}},
    {{S::kAcceptingSource, E::kAccepted}, {A::kServeSource, S::kAcceptingSource}},
    {{S::kAcceptingSource, E::kSettled}, {A::kDiscard, S::kServing}},

    {{S::kLoadingEnvironment, E::kServable}, {A::kOpen, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kUnchanged}, {A::kKeepServed, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kRefused}, {A::kKeepServed, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kUnavailable}, {A::kKeepServed, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kLate}, {A::kSettle, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kUnusable}, {A::kRecompile, S::kLoadingEnvironment}},
    {{S::kLoadingEnvironment, E::kOpened}, {A::kPublish, S::kPublishingEnvironment}},
    {{S::kLoadingEnvironment, E::kSettled}, {A::kDiscard, S::kServing}},
    {{S::kPublishingEnvironment, E::kAdopted}, {A::kAccept, S::kAcceptingEnvironment}},
    {{S::kAcceptingEnvironment, E::kAccepted}, {A::kServeEnvironment, S::kAcceptingEnvironment}},
    {{S::kAcceptingEnvironment, E::kSettled}, {A::kDiscard, S::kServing}},

    {{S::kLoadingServers, E::kServable}, {A::kOpen, S::kLoadingServers}},
    {{S::kLoadingServers, E::kUnchanged}, {A::kKeepServed, S::kLoadingServers}},
    {{S::kLoadingServers, E::kRefused}, {A::kKeepServed, S::kLoadingServers}},
    {{S::kLoadingServers, E::kUnavailable}, {A::kKeepServed, S::kLoadingServers}},
    {{S::kLoadingServers, E::kLate}, {A::kSettle, S::kLoadingServers}},
    {{S::kLoadingServers, E::kUnusable}, {A::kRecompile, S::kLoadingServers}},
    {{S::kLoadingServers, E::kOpened}, {A::kPublish, S::kPublishingServers}},
    {{S::kLoadingServers, E::kSettled}, {A::kDiscard, S::kServing}},
    {{S::kPublishingServers, E::kAdopted}, {A::kAccept, S::kAcceptingServers}},
    {{S::kAcceptingServers, E::kAccepted}, {A::kServeServers, S::kAcceptingServers}},
    {{S::kAcceptingServers, E::kSettled}, {A::kDiscard, S::kServing}},

    {{S::kLoadingRefresh, E::kServable}, {A::kOpen, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kUnchanged}, {A::kKeepServed, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kRefused}, {A::kKeepServed, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kUnavailable}, {A::kKeepServed, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kLate}, {A::kSettle, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kUnusable}, {A::kRecompile, S::kLoadingRefresh}},
    {{S::kLoadingRefresh, E::kOpened}, {A::kPublish, S::kPublishingRefresh}},
    {{S::kLoadingRefresh, E::kSettled}, {A::kDiscard, S::kServing}},
    {{S::kPublishingRefresh, E::kAdopted}, {A::kAccept, S::kAcceptingRefresh}},
    {{S::kAcceptingRefresh, E::kAccepted}, {A::kServeRefresh, S::kAcceptingRefresh}},
    {{S::kAcceptingRefresh, E::kSettled}, {A::kDiscard, S::kServing}},
};

const sluice::test::ExpectedCells<Then, E, ThenAction> kFollowing{
    {{Then::kRest, E::kReload}, {ThenAction::kNone, Then::kReload}},
    {{Then::kRest, E::kStop}, {ThenAction::kCancelLook, Then::kStop}},
    {{Then::kRest, E::kRestored}, {ThenAction::kNone, Then::kReload}},
    {{Then::kRest, E::kGaveUp}, {ThenAction::kLookLater, Then::kRest}},
    {{Then::kRest, E::kSettled}, {ThenAction::kLookLater, Then::kRest}},
    {{Then::kReload, E::kStop}, {ThenAction::kCancelLook, Then::kStop}},
    {{Then::kReload, E::kFirst}, {ThenAction::kNone, Then::kRest}},
    {{Then::kReload, E::kGaveUp}, {ThenAction::kReadNow, Then::kRest}},
    {{Then::kReload, E::kSettled}, {ThenAction::kReadNow, Then::kRest}},
};

TEST(ReloadTransitions, EveryCellOfTheCourseIsAsWritten) { sluice::test::expectCells(kCourseTable, kCourse); }

TEST(ReloadTransitions, EveryCellOfWhatFollowsIsAsWritten) { sluice::test::expectCells(kThenTable, kFollowing); }

TEST(ReloadTransitions, NothingFollowsAStop) {
  for (std::size_t e = 0; e < kReloadEvents; ++e) EXPECT_TRUE(kThenTable.ignores(Then::kStop, static_cast<E>(e)));
}

TEST(ReloadTransitions, EveryStateIsReachedAndLeadsToRest) {
  const auto reachedFrom = [](S start) {
    std::set<S> seen{start};
    std::queue<S> todo;
    todo.push(start);
    while (!todo.empty()) {
      for (std::size_t e = 0; e < kReloadEvents; ++e) {
        const S next = kCourseTable.at(todo.front(), static_cast<E>(e)).next;
        if (seen.insert(next).second) todo.push(next);
      }
      todo.pop();
    }
    return seen;
  };
  EXPECT_EQ(reachedFrom(S::kRestoring).size(), kReloadStates);
  for (std::size_t s = 0; s < kReloadStates; ++s)
    EXPECT_TRUE(reachedFrom(static_cast<S>(s)).contains(S::kServing)) << s;
}

}  // namespace
}  // namespace sluice::control
