// AskedServers lists the uses of payload processors that call a server, with the state of that server. They are grouped
// by the object in which each use is written. That object gets the condition, wherever the use is attached.
//
// A compilation fills the list, and its result keeps it so that the states can be watched.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/processing/server_health.h"

namespace sluice::compile {

/// The effect on requests while the server is unreachable.
enum class ServerLoss : std::uint8_t {
  kRefused,
  kSkipped,   // they continue without it
  kReplaced,  // they have the fallback of the use
};

/// Returns the sentence about requests: "are refused", for example.
std::string_view effectOf(ServerLoss loss);

struct AskedServer {
  std::string writtenIn;  // objectName() of the object that the use is written in
  std::string use;        // the name of the use
  std::string path;       // such as "spec.processors[0]"
  ServerLoss loss = ServerLoss::kRefused;
  std::shared_ptr<const processing::ServerHealth> health;
  processing::ServerReport state;  // the state that the conditions report

  friend bool operator==(const AskedServer&, const AskedServer&) = default;
};

class AskedServers {
 public:
  /// Adds a use, unless it is already in the list with this health. The same use may be attached in several places.
  void note(AskedServer server);
  /// Returns all uses, sorted by the objects in which they are written. So the order does not depend on what was kept
  /// of an earlier compilation.
  const std::vector<AskedServer>& all() const { return all_; }
  /// Returns the uses of the object with that objectName().
  std::vector<AskedServer> in(const std::string& object) const;

 private:
  std::vector<AskedServer> all_;
};

}  // namespace sluice::compile
