// What a request that has no connection yet waits for, as operators are shown it.
//
// It is derived from the pool where the request waits at the moment of the question; nothing is kept for it.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::upstream {

struct ConnectionWait {
  enum class Stage : std::uint8_t {
    kNone,      // it does not wait, or was just told to ask again
    kResolver,  // name servers, for the addresses of the name `where`
    kQueue,     // a connection that other requests have, or that may not be opened yet
    kDial,      // a connection that is being made to the address `where`
    kHandshake  // the TLS handshake with the address `where`
  };

  Stage stage = Stage::kNone;
  std::string where = {};
};

}  // namespace sluice::upstream
