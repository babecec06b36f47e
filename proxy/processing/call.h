// What a processor sees of one exchange while one of its steps runs, and what it may change of it.
//
// Made by the chain for each step, gone with it; views live as long as the exchange. A step before authentication gets
// a Call alone; Peer, which tells who is calling, comes as an argument of its own to those behind it (E-92).
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"
#include "proxy/http/message.h"
#include "proxy/processing/holds.h"
#include "proxy/processing/phase.h"

namespace sluice::processing {

/// The objects that the exchange belongs to, as "namespace/name"; empty where none is decided.
struct Place {
  std::string_view gateway;
  std::string_view route;
  std::string_view backend;
};

/// Who calls, as far as the gateway knows.
struct Peer {
  std::string_view address;
  std::string_view nameSpace;       // of the workload; empty: unknown
  std::string_view serviceAccount;  // likewise
};

struct Call {
  const Phase phase;
  const Place place;
  /// Of the exchange: for all that edits point to.
  base::Arena& arena;
  const base::Clock& clock;
  /// In phases of the request the head that the Backend will get; later the one that it got, which nobody may change
  /// any more. Names of fields are in lower case.
  http::RequestHead& request;
  /// Of the attempt in steps of a Backend, else of the exchange.
  Holds& holds;
  /// Null in phases of the request.
  http::ResponseHead* response = nullptr;
};

}  // namespace sluice::processing
