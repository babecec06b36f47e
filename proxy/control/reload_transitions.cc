#include "proxy/control/reload_transitions.h"

namespace sluice::control {
namespace {

using S = ReloadState;
using E = ReloadEvent;
using A = ReloadAction;

/// The states of one occasion, and the events and actions that only it has.
struct Occasion {
  S loading;
  S publishing;
  S accepting;
  A loadAgain;  // when places have turned out to be unusable
  A serve;
};

constexpr Occasion kSource{S::kLoadingSource, S::kPublishingSource, S::kAcceptingSource, A::kRead, A::kServeSource};
constexpr Occasion kRecompiled[] = {
    {S::kLoadingEnvironment, S::kPublishingEnvironment, S::kAcceptingEnvironment, A::kRecompile, A::kServeEnvironment},
    {S::kLoadingServers, S::kPublishingServers, S::kAcceptingServers, A::kRecompile, A::kServeServers},
    {S::kLoadingRefresh, S::kPublishingRefresh, S::kAcceptingRefresh, A::kRecompile, A::kServeRefresh},
};

constexpr base::Transition<S, E, A> kTransitions[] = {
    {S::kRestoring, E::kStart, A::kRestore, S::kRestoring},
    {S::kRestoring, E::kServable, A::kOpen, S::kRestoring},
    {S::kRestoring, E::kUnchanged, A::kSkipRestored, S::kRestoring},
    {S::kRestoring, E::kRefused, A::kSkipRestored, S::kRestoring},
    {S::kRestoring, E::kUnavailable, A::kSkipRestored, S::kRestoring},
    {S::kRestoring, E::kLate, A::kForget, S::kRestoring},
    {S::kRestoring, E::kUnusable, A::kRestore, S::kRestoring},
    {S::kRestoring, E::kOpened, A::kMakeWorkers, S::kRestoring},
    {S::kRestoring, E::kMade, A::kServeRestored, S::kRestoring},
    {S::kRestoring, E::kNoWorkers, A::kWaitClosed, S::kRestoring},
    {S::kRestoring, E::kRestored, A::kSettle, S::kRestoring},
    {S::kRestoring, E::kFirst, A::kReadFirst, S::kStarting},
    {S::kRestoring, E::kGaveUp, A::kNone, S::kWaiting},
    {S::kRestoring, E::kSettled, A::kNone, S::kServing},

    {S::kStarting, E::kServable, A::kAdmitFirst, S::kStarting},
    {S::kStarting, E::kNotYet, A::kRescue, S::kRescuing},
    {S::kStarting, E::kUnchanged, A::kOpenFirst, S::kStarting},
    {S::kStarting, E::kRefused, A::kRescue, S::kRescuing},
    {S::kStarting, E::kUnavailable, A::kOpenFirst, S::kStarting},
    {S::kStarting, E::kLate, A::kForget, S::kStarting},
    {S::kStarting, E::kFirst, A::kReadFirst, S::kStarting},
    {S::kStarting, E::kOpened, A::kMakeWorkers, S::kStarting},
    {S::kStarting, E::kMade, A::kServeFirst, S::kStarting},
    {S::kStarting, E::kHopeless, A::kWait, S::kStarting},
    {S::kStarting, E::kFenced, A::kWaitFenced, S::kStarting},
    {S::kStarting, E::kNoWorkers, A::kWaitClosed, S::kStarting},
    {S::kStarting, E::kGaveUp, A::kNone, S::kWaiting},
    {S::kStarting, E::kSettled, A::kNone, S::kServing},

    {S::kRescuing, E::kServable, A::kOpen, S::kRescuing},
    {S::kRescuing, E::kUnchanged, A::kOpenAfterAll, S::kStarting},
    {S::kRescuing, E::kRefused, A::kOpenAfterAll, S::kStarting},
    {S::kRescuing, E::kUnavailable, A::kOpenMeanwhile, S::kStarting},
    {S::kRescuing, E::kLate, A::kForget, S::kRescuing},
    {S::kRescuing, E::kUnusable, A::kRescueAgain, S::kRescuing},
    {S::kRescuing, E::kOpened, A::kMakeWorkers, S::kRescuing},
    {S::kRescuing, E::kMade, A::kServeRestored, S::kRescuing},
    {S::kRescuing, E::kNoWorkers, A::kWaitClosed, S::kRescuing},
    {S::kRescuing, E::kRestored, A::kSettle, S::kRescuing},
    {S::kRescuing, E::kGaveUp, A::kDiscard, S::kWaiting},
    {S::kRescuing, E::kSettled, A::kDiscard, S::kServing},

    {S::kWaiting, E::kReload, A::kSettle, S::kWaiting},
    {S::kWaiting, E::kDue, A::kReadFirst, S::kStarting},
    {S::kWaiting, E::kRead, A::kReadFirst, S::kStarting},

    {S::kServing, E::kReload, A::kSettle, S::kServing},
    {S::kServing, E::kDue, A::kLook, S::kServing},
    {S::kServing, E::kRead, A::kRead, S::kLoadingSource},
    {S::kServing, E::kEnvironmentChanged, A::kRecompile, S::kLoadingEnvironment},
    {S::kServing, E::kServersMoved, A::kRecompileAsServed, S::kLoadingServers},

    {S::kLoadingSource, E::kServable, A::kAdmit, S::kLoadingSource},
    {S::kLoadingSource, E::kNotYet, A::kHold, S::kLoadingSource},
    {S::kLoadingSource, E::kUnchanged, A::kConfirm, S::kLoadingSource},
    {S::kLoadingSource, E::kRefused, A::kRefuse, S::kLoadingSource},
    {S::kLoadingSource, E::kUnavailable, A::kMissSource, S::kLoadingSource},
    {S::kLoadingSource, E::kRefresh, A::kRefresh, S::kLoadingRefresh},
};

constexpr void addCourse(CourseTable& table, const Occasion& of) {
  table.set(of.loading, E::kLate, A::kSettle, of.loading);
  table.set(of.loading, E::kUnusable, of.loadAgain, of.loading);
  table.set(of.loading, E::kOpened, A::kPublish, of.publishing);
  table.set(of.loading, E::kSettled, A::kDiscard, S::kServing);
  table.set(of.publishing, E::kAdopted, A::kAccept, of.accepting);
  table.set(of.accepting, E::kAccepted, of.serve, of.accepting);
  table.set(of.accepting, E::kSettled, A::kDiscard, S::kServing);
}

constexpr CourseTable makeCourseTable() {
  CourseTable table;
  table.set(kTransitions);
  addCourse(table, kSource);
  for (const Occasion& each : kRecompiled) {
    addCourse(table, each);
    table.set(each.loading, E::kServable, A::kOpen, each.loading);
    for (const E outcome : {E::kUnchanged, E::kRefused, E::kUnavailable}) {
      table.set(each.loading, outcome, A::kKeepServed, each.loading);
    }
  }
  return table;
}

constexpr base::Transition<Then, E, ThenAction> kThenTransitions[] = {
    {Then::kRest, E::kReload, ThenAction::kNone, Then::kReload},
    {Then::kRest, E::kStop, ThenAction::kCancelLook, Then::kStop},
    // The configuration that an earlier process has kept may be old.
    {Then::kRest, E::kRestored, ThenAction::kNone, Then::kReload},
    {Then::kRest, E::kGaveUp, ThenAction::kLookLater, Then::kRest},
    {Then::kRest, E::kSettled, ThenAction::kLookLater, Then::kRest},

    {Then::kReload, E::kStop, ThenAction::kCancelLook, Then::kStop},
    // The source is read now.
    {Then::kReload, E::kFirst, ThenAction::kNone, Then::kRest},
    // However often a reload was requested meanwhile, the source is read once.
    {Then::kReload, E::kGaveUp, ThenAction::kReadNow, Then::kRest},
    {Then::kReload, E::kSettled, ThenAction::kReadNow, Then::kRest},
};

constexpr ThenTable makeThenTable() {
  ThenTable table;
  table.set(kThenTransitions);
  return table;
}

/// Returns true if no state that waits for the Loader ignores one of its outcomes, so that no course hangs.
constexpr bool hearsLoader(const CourseTable& table) {
  for (const S state : {S::kRestoring, S::kStarting, S::kRescuing, S::kLoadingSource, S::kLoadingEnvironment,
                        S::kLoadingServers, S::kLoadingRefresh}) {
    for (const E outcome : {E::kServable, E::kUnchanged, E::kRefused, E::kUnavailable, E::kLate}) {
      if (table.ignores(state, outcome)) return false;
    }
  }
  return true;
}

/// Returns true if every course that has been published to the workers is brought to its end.
constexpr bool endsWhatIsPublished(const CourseTable& table) {
  for (const Occasion& each : {kSource, kRecompiled[0], kRecompiled[1], kRecompiled[2]}) {
    if (table.at(each.publishing, E::kAdopted).next != each.accepting) return false;
    if (table.ignores(each.accepting, E::kAccepted) || table.at(each.accepting, E::kSettled).next != S::kServing) {
      return false;
    }
  }
  return true;
}

static_assert(static_cast<std::size_t>(S::kAcceptingRefresh) + 1 == kReloadStates);
static_assert(static_cast<std::size_t>(Then::kStop) + 1 == kThens);
static_assert(static_cast<std::size_t>(E::kSettled) + 1 == kReloadEvents);
static_assert(hearsLoader(makeCourseTable()));
static_assert(endsWhatIsPublished(makeCourseTable()));

}  // namespace

constinit const CourseTable kCourseTable = makeCourseTable();
constinit const ThenTable kThenTable = makeThenTable();

}  // namespace sluice::control
