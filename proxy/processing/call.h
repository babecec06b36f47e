// What a processor sees of one exchange while one of its steps runs, and what it may change of it.
//
// Made by the chain for each step, gone with it; views live as long as the exchange. A step before authentication gets
// a Call alone; Peer, which tells who is calling, comes as an argument of its own to those behind it (E-92).
#pragma once

#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include "proxy/base/arena.h"
#include "proxy/base/clock.h"
#include "proxy/http/message.h"
#include "proxy/processing/body.h"
#include "proxy/processing/destination.h"
#include "proxy/processing/holds.h"
#include "proxy/processing/phase.h"
#include "proxy/processing/request_edits.h"
#include "proxy/processing/resumer.h"
#include "proxy/processing/services.h"

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

/// What steps of request-headers and request-body of a Gateway or a route say about where the request goes (E-97a).
struct RouteWish {
  /// The route shall be matched again, by the head as it is now and the hints: heeded once.
  bool matchAgain = false;
  /// The step that said so last, or whose fields a client had sent.
  const Step* asking = nullptr;
  /// Fields that only matching sees, in the place of what the client sent by their names.
  http::Headers hints;
};

/// It lets a step do more than decide: wait, and ask others meanwhile.
class StepControl {
 public:
  virtual Resumer suspend() = 0;
  /// The step owns what it returns, until it has decided.
  virtual Callout& callout(const CalloutRequest& request) = 0;

 protected:
  ~StepControl() = default;
};

struct Call {
  const Phase phase;
  const Place& place;
  /// Of the exchange: for all that edits point to.
  base::Arena& arena;
  const base::Clock& clock;
  /// In phases of the request the head that the Backend will get, as the steps before have left it; later the one that
  /// it got. Names of fields are in lower case.
  const http::RequestHead& request;
  /// Changes `request`. What the Backend got nobody changes any more: in phases of the response nobody sees an edit.
  RequestEditor& edit;
  /// Of the attempt in steps of a Backend, else of the exchange.
  Holds& holds;
  /// Null in phases of the request.
  http::ResponseHead* response;
  /// Null unless the processor wants one in this phase. While the bytes of a streamed body come, the heads are gone,
  /// and what is changed in them then has no effect.
  Body* body;
  /// Null in all other steps. A streamed one is heard until it has answered to the head, and what came with it.
  RouteWish* wish;
  /// Null in phases other than connect.
  Destination* destination;
  StepControl& control;
  Services& services;
  /// See state().
  void*& memory;

  /// What the processor remembers of this step, from one time that it is asked to the next: made when first needed,
  /// gone with what the step ran for (see `holds`).
  template <typename State>
  State& state() {
    if (memory == nullptr) {
      memory = new (arena.allocate(sizeof(State), alignof(State))) State();
      if constexpr (!std::is_trivially_destructible_v<State>) {
        holds.add(arena, memory, [](const void* what) { static_cast<const State*>(what)->~State(); });
      }
    }
    return *static_cast<State*>(memory);
  }
  /// A request of the processor's own, to one of its targets(). It is there for as long as the processor may be asked
  /// about this step, so state() may keep the address; once the step has decided, or failed, it is cancelled.
  Callout& callout(const CalloutRequest& wanted) { return control.callout(wanted); }
  /// For a processor that then returns Verdict::wait(). The deadline of the step runs from here.
  Resumer suspend() { return control.suspend(); }
};

}  // namespace sluice::processing
