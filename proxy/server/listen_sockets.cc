#include "proxy/server/listen_sockets.h"

#include <set>
#include <utility>

namespace sluice::server {
namespace {

struct Wanted {
  net::Address address;
  control::BindId bind;
  /// True where a host without IPv6 still has all of its addresses covered.
  bool optional;
};

std::vector<Wanted> wantedBy(const control::Generation& generation) {
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < generation.binds.size(); ++i) {
    const routing::Bind& bind = generation.snapshot->binds[i];
    const control::BindId id = generation.binds[i].id;
    if (!bind.address.empty()) {
      wanted.push_back({*net::Address::parse(bind.address, bind.port), id, false});
    } else {
      wanted.push_back({*net::Address::parse("0.0.0.0", bind.port), id, false});
      wanted.push_back({*net::Address::parse("::", bind.port), id, true});
    }
  }
  return wanted;
}

}  // namespace

base::Status ListenSockets::open(const control::Generation& generation) {
  std::map<std::string, net::ListenSocket> fresh;
  for (const Wanted& each : wantedBy(generation)) {
    std::string key = each.address.toString();
    if (sockets_.contains(key)) continue;
    auto socket = net::ListenSocket::open(each.address, ofPort(each.address.port()));
    if (!socket.ok() && each.optional) continue;
    if (!socket.ok()) return socket.error();
    fresh.emplace(std::move(key), std::move(*socket));
  }
  sockets_.merge(fresh);
  return base::Done{};
}

std::vector<const net::ListenSocket*> ListenSockets::ofPort(std::uint16_t port) const {
  std::vector<const net::ListenSocket*> found;
  for (const auto& [key, socket] : sockets_) {
    if (socket.address().port() == port) found.push_back(&socket);
  }
  return found;
}

std::vector<BoundSocket> ListenSockets::of(const control::Generation& generation) const {
  std::vector<BoundSocket> bound;
  for (const Wanted& each : wantedBy(generation)) {
    const auto found = sockets_.find(each.address.toString());
    if (found != sockets_.end()) bound.push_back({each.bind, &found->second});
  }
  return bound;
}

void ListenSockets::closeOthers(const control::Generation& generation) {
  std::set<std::string> wanted;
  for (const Wanted& each : wantedBy(generation)) wanted.insert(each.address.toString());
  std::erase_if(sockets_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

}  // namespace sluice::server
