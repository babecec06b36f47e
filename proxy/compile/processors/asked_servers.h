// The uses of payload processors that ask a server, with the state of that server, grouped by the object that each use
// is written in. That object gets the condition, wherever the use is attached.
//
// A compilation fills it, and its result keeps the list, because the states are to be watched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/processing/server_health.h"

namespace sluice::compile {

struct AskedServer {
  std::string writtenIn;  // objectName() of the object that the use is written in
  std::string use;        // its name
  std::string path;       // "spec.processors[0]"
  bool open = false;      // requests go on while the server is away; false: they are refused
  std::shared_ptr<const processing::ServerHealth> health;
  processing::ServerReport state;  // the announced one

  friend bool operator==(const AskedServer&, const AskedServer&) = default;
};

class AskedServers {
 public:
  /// Adds a use, unless it is known with this health: it may be attached in several places.
  void note(AskedServer server);
  /// Returns all uses, by the objects that they are written in. So the order does not depend on what was kept of an
  /// earlier compilation.
  const std::vector<AskedServer>& all() const { return all_; }
  /// Returns the uses of the object with that objectName().
  std::vector<AskedServer> in(const std::string& object) const;

 private:
  std::vector<AskedServer> all_;
};

}  // namespace sluice::compile
