// A Publisher carries a generation to where it is served: to sockets and workers, as far as a reload has to know of
// them.
//
// The server implements it, and so do tests of the Reloader, which is its one user. All of it is of the main thread.
#pragma once

#include <functional>
#include <memory>

#include "proxy/base/result.h"
#include "proxy/control/generation.h"

namespace sluice::control {

class Publisher {
 public:
  virtual ~Publisher() = default;
  /// Opens what `next` listens on, beside what is open already; all of it, or nothing. An error may be gone in the next
  /// attempt.
  virtual base::Status open(const Generation& next) = 0;
  /// Gives `next` to every worker and calls `adopted` in a later Turn, when all of them serve by it. Neither this nor
  /// accept() can fail; `adopted` never comes if the workers have stopped.
  virtual void publish(const std::shared_ptr<const Generation>& next, std::function<void()> adopted) = 0;
  /// Takes connections by `next`, which all workers serve, and by nothing else; then calls `accepted` in a later Turn.
  virtual void accept(const Generation& next, std::function<void()> accepted) = 0;
  /// Closes what `served` does not listen on; nobody takes connections from there any more.
  virtual void closeOthers(const Generation& served) = 0;
};

}  // namespace sluice::control
