// The cause for which a request without a connection waits, in the form that operators see.
//
// It is derived on request from the pool where the request waits; no state is kept for it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::upstream {

struct ConnectionWait {
  enum class Stage : std::uint8_t {
    kNone,      // it does not wait, or was just notified to ask again
    kResolver,  // name servers, for the addresses of the name `where`
    kQueue,     // a connection: all are in use, or a new one may not be opened yet
    kDial,      // a connection that is being made to the address `where`
    kHandshake  // the TLS handshake with the address `where`
  };

  Stage stage = Stage::kNone;
  std::string where = {};

  /// Returns true if name servers or the Backend are waited for, and no room among the gateway's own limits.
  bool isForBackend() const { return stage == Stage::kResolver || stage == Stage::kDial || stage == Stage::kHandshake; }
};

}  // namespace sluice::upstream
