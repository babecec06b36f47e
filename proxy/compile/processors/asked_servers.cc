#include "proxy/compile/processors/asked_servers.h"

#include <algorithm>
#include <utility>

namespace sluice::compile {

std::string_view effectOf(ServerLoss loss) {
  switch (loss) {
    case ServerLoss::kRefused:
      break;
    case ServerLoss::kSkipped:
      return "go on without it";
    case ServerLoss::kReplaced:
      return "have the fallback of the use";
  }
  return "are refused";
}

void AskedServers::note(AskedServer server) {
  const bool known = std::any_of(all_.begin(), all_.end(), [&](const AskedServer& other) {
    return other.health == server.health && other.use == server.use && other.writtenIn == server.writtenIn;
  });
  if (known) return;
  const auto place =
      std::upper_bound(all_.begin(), all_.end(), server.writtenIn,
                       [](const std::string& object, const AskedServer& other) { return object < other.writtenIn; });
  all_.insert(place, std::move(server));
}

std::vector<AskedServer> AskedServers::in(const std::string& object) const {
  std::vector<AskedServer> result;
  for (const AskedServer& each : all_) {
    if (each.writtenIn == object) result.push_back(each);
  }
  return result;
}

}  // namespace sluice::compile
