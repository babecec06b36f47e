#include "proxy/compile/gateways/address_pool.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "config/ground/patterns.h"
#include "proxy/base/text.h"
#include "proxy/compile/gateways/listen_address.h"
#include "proxy/pki/digest.h"

namespace sluice::compile {
namespace {

constexpr unsigned kShortestV4 = 8;   // 16 million addresses
constexpr unsigned kShortestV6 = 64;  // the size of one link's network

unsigned bitsOf(int family) { return family == AF_INET ? 32 : 128; }

std::string writtenIp(int family, const std::uint8_t* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, bytes, text.data(), text.size());
}

/// Sets the last `count` bits, at most 64, of an address of `size` bytes to the last bits of `value`.
void setLowBits(std::uint8_t* bytes, std::size_t size, unsigned count, std::uint64_t value) {
  for (unsigned bit = 0; bit < count; ++bit) {
    std::uint8_t& byte = bytes[size - 1 - bit / 8];
    const auto mask = static_cast<std::uint8_t>(1U << (bit % 8));
    byte = static_cast<std::uint8_t>((value >> bit & 1) != 0 ? byte | mask : byte & ~mask);
  }
}

/// Returns a number that depends only on the name. It is the same in every process and version.
std::uint64_t numberOf(const std::string& name) {
  const pki::Sha256Digest digest = pki::sha256(name);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8 | digest[i];
  return number;
}

}  // namespace

base::Result<AddressPool> AddressPool::parse(std::string_view text) {
  const auto wrong = [&](const std::string& why) { return base::Error::config(base::quote(text) + why); };
  if (!config::isCidr(text)) return wrong(" is not a CIDR, as 127.8.0.0/24 or fd00:8::/64");
  const std::size_t slash = text.find('/');
  const std::string ip(text.substr(0, slash));
  unsigned prefix = 0;
  std::from_chars(text.data() + slash + 1, text.data() + text.size(), prefix);
  AddressPool pool;
  pool.family_ = ip.find(':') == std::string::npos ? AF_INET : AF_INET6;
  const unsigned shortest = pool.family_ == AF_INET ? kShortestV4 : kShortestV6;
  if (prefix < shortest) {
    return wrong(" has too many addresses; a pool of this family is a /" + std::to_string(shortest) +
                 " or a part of one");
  }
  ::inet_pton(pool.family_, ip.c_str(), pool.network_.data());
  const Bytes given = pool.network_;
  const unsigned bits = bitsOf(pool.family_);
  setLowBits(pool.network_.data(), bits / 8, bits - prefix, 0);
  pool.text_ = writtenIp(pool.family_, pool.network_.data()) + "/" + std::to_string(prefix);
  if (given != pool.network_) return wrong(" has bits after its prefix; did you mean " + pool.text_ + "?");
  pool.bound(bits - prefix);
  for (const std::string& each : {pool.at(0), pool.at(pool.size_ - 1)}) {
    if (isAnyAddress(each) || (pool.family_ == AF_INET && pool.network_[0] == 0)) {
      return wrong(": " + each + " is no address of a machine");
    }
    if (const char* why = whyUnusable(each)) return wrong(": " + each + ": " + why);
  }
  return pool;
}

/// Sets the bounds of the addresses that the pool gives out of a network with 2^hostBits addresses.
void AddressPool::bound(unsigned hostBits) {
  first_ = lowBits(network_);
  const std::uint64_t last = hostBits == 64 ? ~std::uint64_t{0} : first_ + ((std::uint64_t{1} << hostBits) - 1);
  std::uint64_t end = last;
  if (hostBits > 1) {
    const bool v4 = family_ == AF_INET;
    const bool loopback = v4 && network_[0] == 127;
    if (!loopback || first_ == 0x7F000000) ++first_;
    if (v4 && (!loopback || last == 0x7FFFFFFF)) --end;
  }
  size_ = end - first_ + 1;
}

std::uint64_t AddressPool::lowBits(const Bytes& address) const {
  std::uint64_t number = 0;
  const std::size_t size = bitsOf(family_) / 8;
  for (std::size_t i = size == 4 ? 0 : 8; i < size; ++i) number = number << 8 | address[i];
  return number;
}

std::string AddressPool::at(std::uint64_t index) const {
  Bytes address = network_;
  const unsigned bits = bitsOf(family_);
  setLowBits(address.data(), bits / 8, std::min(bits, 64U), first_ + index);
  return writtenIp(family_, address.data());
}

bool AddressPool::gives(std::string_view address) const {
  Bytes bytes{};
  if (::inet_pton(family_, std::string(address).c_str(), bytes.data()) != 1) return false;
  if (family_ == AF_INET6 && !std::equal(bytes.begin(), bytes.begin() + 8, network_.begin())) return false;
  const std::uint64_t low = lowBits(bytes);
  return low >= first_ && low - first_ < size_;
}

namespace {

class PoolAssigner {
 public:
  PoolAssigner(const AddressPool& pool, const GatewayAddresses& before) : pool_(pool), before_(before) {}

  PoolAssignment run(const std::vector<PoolMember>& members) {
    for (const PoolMember& each : members) reserveAgain(each);
    for (const PoolMember& each : members) {
      if (each.wantsOne) keep(each);
    }
    for (const PoolMember& each : members) {
      for (const std::string& address : each.addresses) reserve(address);
      if (each.wantsOne && !assignment_.addresses.contains(each.gateway)) choose(each);
    }
    return std::move(assignment_);
  }

 private:
  /// Reserves the addresses that the Gateway asks for and has had.
  void reserveAgain(const PoolMember& member) {
    for (const std::string& address : member.addresses) {
      if (before_.contains({member.gateway, address})) reserve(address);
    }
  }

  void reserve(const std::string& address) {
    if (!assignment_.holders.contains(address)) reserved_.insert(address);
  }

  void keep(const PoolMember& member) {
    for (auto had = before_.lower_bound({member.gateway, {}}); had != before_.end(); ++had) {
      if (had->first != member.gateway) return;
      if (pool_.gives(had->second) && give(member, had->second)) return;
    }
  }

  void choose(const PoolMember& member) {
    std::uint64_t index = numberOf(member.gateway) % pool_.size();
    // Each reserved or assigned address can be in the way at most once.
    const std::uint64_t inTheWay = reserved_.size() + assignment_.holders.size();
    for (std::uint64_t tries = std::min(pool_.size(), inTheWay + 1); tries > 0; --tries) {
      if (give(member, pool_.at(index))) return;
      index = (index + 1) % pool_.size();
    }
  }

  bool give(const PoolMember& member, const std::string& address) {
    if (reserved_.contains(address) || !assignment_.holders.emplace(address, member.gateway).second) return false;
    assignment_.addresses.emplace(member.gateway, address);
    return true;
  }

  const AddressPool& pool_;
  const GatewayAddresses& before_;
  PoolAssignment assignment_;
  std::set<std::string> reserved_;  // addresses that Gateways ask for
};

}  // namespace

PoolAssignment assignFromPool(const AddressPool& pool, std::vector<PoolMember> members,
                              const GatewayAddresses& before) {
  std::sort(members.begin(), members.end(), [](const PoolMember& a, const PoolMember& b) {
    return std::tie(a.created, a.gateway) < std::tie(b.created, b.gateway);
  });
  return PoolAssigner(pool, before).run(members);
}

}  // namespace sluice::compile
