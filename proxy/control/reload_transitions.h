// The two state machines of a Reloader as data: the course by which a configuration is put into service, and the action
// that follows when the course has ended.
//
// Every event is shown to both. A cell has an action and the next state; a cell without action and with the same state
// ignores the event. test/control/reload_transitions_test.cc goes through every cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/state_table.h"

namespace sluice::control {

/// A configuration that is being put into service comes from the source, or is the served one, compiled again because
/// the environment has changed, because servers have other states, or because Secrets or endpoints have changed in a
/// set that was read and is not served (a refresh).
enum class ReloadState : std::uint8_t {
  kRestoring,  // the last good configuration of an earlier process is being loaded
  kStarting,   // the first one is being read from the source
  kRescuing,   // the newest good one that the source keeps is being loaded, because the first one cannot be served yet
  kWaiting,    // at rest; nothing can be served: the source or the environment has to change
  kServing,    // at rest
  kLoadingSource,
  kLoadingEnvironment,
  kLoadingServers,
  kLoadingRefresh,
  kPublishingSource,  // workers adopt it
  kPublishingEnvironment,
  kPublishingServers,
  kPublishingRefresh,
  kAcceptingSource,  // its sockets begin to accept connections
  kAcceptingEnvironment,
  kAcceptingServers,
  kAcceptingRefresh
};
inline constexpr std::size_t kReloadStates = 17;

/// The next operation when no reload is in progress any more.
enum class Then : std::uint8_t { kRest, kReload, kStop };
inline constexpr std::size_t kThens = 3;

enum class ReloadEvent : std::uint8_t {
  kStart,               // start() was called
  kReload,              // reload() was called
  kStop,                // stop() was called
  kDue,                 // it is time to look again
  kRead,                // the source is to be read
  kServersMoved,        // servers have other states than in the served configuration
  kEnvironmentChanged,  // the served configuration may be served more completely, and the source would be refused
  kServable,            // loaded: it can be served
  kUnchanged,           // loaded: the same configuration is served already
  kRefused,             // loaded: its content is at fault
  kUnavailable,         // not loaded: that may work later
  kLate,                // loaded, or not, after stop()
  kNotYet,              // it can be served, but must wait
  kUnusable,            // the process cannot listen at some of its places
  kOpened,              // its sockets are open
  kFirst,               // the first configuration is to be read, or read once more
  kHopeless,            // not even the listeners of the first one are known
  kNoWorkers,           // workers could not be made for the first one
  kFenced,              // the workers that were made refuse every request
  kMade,                // workers were made, and serve the first one
  kRestored,            // the served one is that of an earlier process
  kAdopted,             // all workers have adopted it
  kAccepted,            // connections are accepted for it
  kRefresh,             // the set that was read may have newer Secrets and endpoints than the served one
  kGaveUp,              // nothing can be served
  kSettled              // the course has come to its end
};
inline constexpr std::size_t kReloadEvents = 26;

/// The actions of the course. An action waits for the operation that it has begun, unless its comment states otherwise.
enum class ReloadAction : std::uint8_t {
  kNone,
  kRestore,            // loads the configuration of an earlier process
  kSkipRestored,       // raises kFirst
  kReadFirst,          // reads the source while nothing is served
  kOpen,               // opens sockets: raises kOpened or kUnusable
  kOpenFirst,          // the same for the first one that was read: raises kOpened, kFirst or kHopeless
  kAdmitFirst,         // raises kNotYet, or as kOpenFirst
  kRescue,             // puts the first one that was read aside, and loads a good one that the source keeps
  kRescueAgain,        // loads it without the places that cannot be used
  kOpenAfterAll,       // takes the first one that was read again, because there is no good one: raises as kOpenFirst
  kOpenMeanwhile,      // the same, because the good one cannot be read now, which is tried again
  kMakeWorkers,        // raises kMade, kFenced or kNoWorkers
  kServeRestored,      // raises kRestored
  kServeFirst,         // raises kSettled
  kWait,               // reports why nothing is served: raises kGaveUp
  kWaitFenced,         // the same, with listeners that refuse every request
  kWaitClosed,         // the same, without listeners
  kRead,               // reads the source
  kRecompile,          // compiles the served configuration again
  kRecompileAsServed,  // the same, without the places that it lacks already
  kRefresh,            // the same, with the Secrets and endpoints of the set that was read
  kAdmit,              // raises kNotYet, or as kOpen
  kPublish,            // raises kAdopted if there are no workers
  kAccept,             // raises kAccepted in the same way
  kServeSource,        // takes the accepted configuration over, and notifies observers: raises kSettled
  kServeEnvironment,
  kServeServers,
  kServeRefresh,
  kConfirm,     // the source has the served configuration: raises kSettled
  kRefuse,      // the source is at fault: raises kRefresh or kSettled
  kMissSource,  // the source cannot be read: raises kSettled
  kHold,        // the configuration that was read has to wait: raises kRefresh or kSettled
  kKeepServed,  // keeps the served configuration, as if nothing had been tried: raises kSettled
  kLook,        // checks the environment: raises kServersMoved, kRead or kEnvironmentChanged, or checks again later
  kSettle,      // raises kSettled
  kDiscard,     // drops the loaded configuration that is not served
  kForget       // the same, in a process that has never served
};

/// The actions that follow the course.
enum class ThenAction : std::uint8_t {
  kNone,
  kReadNow,    // raises kRead
  kLookLater,  // if there is something to look for
  kCancelLook
};

using CourseTable = base::StateTable<ReloadState, kReloadStates, ReloadEvent, kReloadEvents, ReloadAction>;
using ThenTable = base::StateTable<Then, kThens, ReloadEvent, kReloadEvents, ThenAction>;

extern const CourseTable kCourseTable;
extern const ThenTable kThenTable;

}  // namespace sluice::control
