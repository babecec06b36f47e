#include "proxy/server/serving/listen_sockets.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::server {
namespace {

/// The first one must be open; the others are optional: a host without IPv6 still has all of its addresses covered.
std::vector<net::Address> addressesOf(const std::string& address, std::uint16_t port) {
  if (!address.empty()) return {*net::Address::parse(address, port)};
  return {*net::Address::parse("0.0.0.0", port), *net::Address::parse("::", port)};
}

template <typename Visit>
void forEachWanted(const control::Generation& generation, Visit&& visit) {
  for (std::size_t i = 0; i < generation.binds.size(); ++i) {
    const routing::Bind& bind = generation.snapshot->binds[i];
    for (const net::Address& address : addressesOf(bind.address, bind.port)) visit(address, generation.binds[i]);
  }
}

}  // namespace

compile::UnusablePlaces ListenSockets::open(const control::Generation& generation) {
  compile::UnusablePlaces unusable;
  for (const routing::Bind& bind : generation.snapshot->binds) {
    const std::vector<net::Address> addresses = addressesOf(bind.address, bind.port);
    if (std::string why = openOne(addresses.front()); !why.empty()) {
      unusable.push_back({bind.address, bind.port, std::move(why)});
      continue;
    }
    for (std::size_t i = 1; i < addresses.size(); ++i) openOne(addresses[i]);
  }
  return unusable;
}

compile::UnusablePlaces ListenSockets::unusable(const routing::Snapshot& snapshot) const {
  compile::UnusablePlaces unusable;
  for (const routing::Bind& bind : snapshot.binds) {
    const net::Address address = addressesOf(bind.address, bind.port).front();
    if (sockets_.contains(address.toString())) continue;
    const auto tried = net::ListenSocket::open(address, ofPort(bind.port));
    if (!tried.ok()) unusable.push_back({bind.address, bind.port, tried.error().detail});
  }
  return unusable;
}

bool ListenSockets::openAny(const compile::UnusablePlaces& places) {
  return std::any_of(places.begin(), places.end(), [this](const compile::UnusablePlace& place) {
    return openOne(addressesOf(place.address, place.port).front()).empty();
  });
}

std::string ListenSockets::openOne(const net::Address& address) {
  std::string key = address.toString();
  if (sockets_.contains(key)) return {};
  auto socket = net::ListenSocket::open(address, ofPort(address.port()));
  if (!socket.ok()) return socket.error().detail;
  sockets_.emplace(std::move(key), std::move(*socket));
  return {};
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
  forEachWanted(generation, [&](const net::Address& address, const control::ServedBind& bind) {
    const auto found = sockets_.find(address.toString());
    if (found != sockets_.end()) bound.push_back({bind.id, bind.tls != nullptr, &found->second});
  });
  return bound;
}

void ListenSockets::closeOthers(const control::Generation& generation) {
  std::set<std::string> wanted;
  forEachWanted(generation,
                [&](const net::Address& address, const control::ServedBind&) { wanted.insert(address.toString()); });
  std::erase_if(sockets_, [&](const auto& entry) { return !wanted.contains(entry.first); });
}

}  // namespace sluice::server
