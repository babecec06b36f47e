// A Publisher brings a generation to the sockets and workers. It is the part of the server that a reload needs.
//
// The server implements it, and so do tests of the Reloader, which is its one user. All of it belongs to the main
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "proxy/compile/ground/unusable_place.h"
#include "proxy/control/state/generation.h"

namespace sluice::control {

class Publisher {
 public:
  virtual ~Publisher() = default;
  /// Opens the sockets that `next` listens on, besides those that are open already. Returns the places where that is
  /// not possible. They may be free in the next attempt.
  virtual compile::UnusablePlaces open(const Generation& next) = 0;
  /// Tries to listen at places that could not be used. Returns true if one of them can be used now; its socket stays
  /// open for the next generation.
  virtual bool openAny(const compile::UnusablePlaces& places) = 0;
  /// kDone: the request is complete, and the callback is not called. kUnderWay: the callback is called later.
  enum class Handover : std::uint8_t { kDone, kUnderWay };
  /// Gives `next` to every worker and calls `adopted` in a later Turn, when all of them serve it. Neither this nor
  /// accept() can fail; `adopted` is never called if the workers have stopped.
  virtual Handover publish(const std::shared_ptr<const Generation>& next, std::function<void()> adopted) = 0;
  /// Accepts connections on the sockets of `next`, which all workers serve, and on no others; then calls `accepted` in
  /// a later Turn.
  virtual Handover accept(const Generation& next, std::function<void()> accepted) = 0;
  /// Closes the sockets that `served` does not listen on. No connections are accepted there any more.
  virtual void closeOthers(const Generation& served) = 0;
};

}  // namespace sluice::control
