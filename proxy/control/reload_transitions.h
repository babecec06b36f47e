// The two state machines of a Reloader as data: the course that a configuration takes into service, and what follows
// when it has come to rest.
//
// Every event is shown to both. A cell says what to do and where that leads; a cell without action and with the same
// state ignores the event. test/control/reload_transitions_test.cc goes through every cell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/base/state_table.h"

namespace sluice::control {

/// A configuration on its way comes from the source, or is the served one, compiled again for an environment that has
/// changed, for servers that have other states, or for what changes by itself in what was read and is not served (a
/// refresh).
enum class ReloadState : std::uint8_t {
  kRestoring,  // the last good configuration of an earlier process is being loaded
  kStarting,   // the first one is being read from the source
  kWaiting,    // at rest; nothing can be served: the source or the environment has to change
  kServing,    // at rest
  kLoadingSource,
  kLoadingEnvironment,
  kLoadingServers,
  kLoadingRefresh,
  kPublishingSource,  // workers get to know it
  kPublishingEnvironment,
  kPublishingServers,
  kPublishingRefresh,
  kAcceptingSource,  // its sockets begin to accept connections
  kAcceptingEnvironment,
  kAcceptingServers,
  kAcceptingRefresh
};
inline constexpr std::size_t kReloadStates = 16;

/// The next thing to do when no reload is in progress any more.
enum class Then : std::uint8_t { kRest, kReload, kStop };
inline constexpr std::size_t kThens = 3;

enum class ReloadEvent : std::uint8_t {
  kStart,               // start() was called
  kReload,              // reload() was called
  kStop,                // stop() was called
  kDue,                 // it is time to look again
  kRead,                // the source is to be read
  kServersMoved,        // servers have other states than what is served says
  kEnvironmentChanged,  // what is served may be served more completely, and the source would be refused
  kServable,            // loaded: it can be served
  kUnchanged,           // loaded: it contains nothing that is not served already
  kRefused,             // loaded: its content is at fault
  kUnavailable,         // not loaded: that may work later
  kLate,                // loaded, or not, when nobody wants it any more
  kNotYet,              // it can be served, but must not be yet
  kUnusable,            // the process cannot listen at places of it
  kOpened,              // its sockets are open
  kFirst,               // the first configuration is to be read, or read once more
  kHopeless,            // not even the listeners of the first one are known
  kNoWorkers,           // workers could not be made for the first one
  kFenced,              // the workers that were made refuse every request
  kMade,                // workers were made, and serve the first one
  kRestored,            // that was the one of an earlier process
  kAdopted,             // all workers know it
  kAccepted,            // connections are accepted for it
  kRefresh,             // what changes by itself in what was read is newer than what is served
  kGaveUp,              // nothing can be served
  kSettled              // the course has come to its end
};
inline constexpr std::size_t kReloadEvents = 26;

/// The actions of the course. Each that says nothing else waits for what it has begun.
enum class ReloadAction : std::uint8_t {
  kNone,
  kRestore,            // loads the configuration of an earlier process
  kSkipRestored,       // raises kFirst
  kReadFirst,          // reads the source while nothing is served
  kOpen,               // opens sockets: raises kOpened or kUnusable
  kOpenFirst,          // the same for the first one that was read: raises kOpened, kFirst or kHopeless
  kMakeWorkers,        // raises kMade, kFenced or kNoWorkers
  kServeRestored,      // raises kRestored
  kServeFirst,         // raises kSettled
  kWait,               // says why nothing is served: raises kGaveUp
  kWaitFenced,         // the same, behind listeners that refuse everything
  kWaitClosed,         // the same, without listeners
  kRead,               // reads the source
  kRecompile,          // compiles what is served again
  kRecompileAsServed,  // the same, without the places that it does without
  kRefresh,            // the same, with what changes by itself in what was read
  kAdmit,              // raises kNotYet, or as kOpen
  kPublish,            // raises kAdopted if nobody has to take it
  kAccept,             // raises kAccepted in the same way
  kServeSource,        // takes over what was accepted, and tells of it: raises kSettled
  kServeEnvironment,
  kServeServers,
  kServeRefresh,
  kConfirm,     // the source has what is served: raises kSettled
  kRefuse,      // the source is at fault: raises kRefresh or kSettled
  kMissSource,  // the source cannot be read: raises kSettled
  kHold,        // what was read has to wait: raises kRefresh or kSettled
  kKeepServed,  // serves on, as if nothing had been tried: raises kSettled
  kLook,        // raises kServersMoved, kRead or kEnvironmentChanged, or looks later
  kSettle,      // raises kSettled
  kDiscard,     // drops what was loaded and is not served
  kForget       // the same, in a process that has never served
};

/// The actions of what follows.
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
