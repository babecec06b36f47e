#include "proxy/net/resolver.h"

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "proxy/net/dns_channel.h"

namespace sluice::net {
namespace {

// Names remembered at a time; the oldest answer makes room.
constexpr std::size_t kMaxNames = 4096;
constexpr std::size_t kMaxNameLength = 253;  // RFC 1035 section 2.3.4, as text

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
};
template <typename T>
using NameMap = std::unordered_map<std::string, T, NameHash, std::equal_to<>>;

/// A name in the one form that is looked up: lower case, without the root's dot. Lives on the stack of a call.
class HostName {
 public:
  explicit HostName(std::string_view text) {
    if (text.ends_with('.')) text.remove_suffix(1);
    if (text.empty() || text.size() > kMaxNameLength) return;
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    std::transform(text.begin(), text.end(), bytes_.begin(), lower);
    length_ = text.size();
  }

  std::string_view text() const { return {bytes_.data(), length_}; }
  /// What may stand in a question and in a log. Underscores are no host names, but are in use.
  bool isValid() const {
    return length_ > 0 && std::all_of(bytes_.begin(), bytes_.begin() + length_, [](char c) {
             return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
           });
  }

 private:
  std::array<char, kMaxNameLength> bytes_;
  std::size_t length_ = 0;
};

class CaresResolver final : public Resolver, private DnsChannelSink, private Timer {
 public:
  CaresResolver(Worker& worker, const DnsSettings& settings)
      : worker_(worker),
        minTtl_(settings.minTtl),
        maxTtl_(std::max(settings.minTtl, settings.maxTtl)),
        negativeTtl_(settings.negativeTtl),
        maxAddresses_(std::max<std::size_t>(settings.maxAddresses, 1)) {}

  std::optional<base::Error> init(const DnsSettings& settings);

  const base::Result<Addresses>* cached(std::string_view name) override;
  void resolve(std::string_view name, std::function<void()> done) override;

 private:
  struct Entry {
    std::string name;
    base::Result<Addresses> addresses;
    base::MonotonicTime expires;
  };
  using Entries = std::list<Entry>;

  void onAnswer(DnsAnswer answer) override { answers_.push_back(std::move(answer)); }
  void onProcessed() override { deliver(); }
  void onTimer() override { deliver(); }

  std::optional<base::Error> addHost(const std::string& name, const std::vector<std::string>& texts);
  const base::Result<Addresses>* answerWithoutAsking(const HostName& host, std::string_view name);
  const base::Result<Addresses>* keepForThisTurn(base::Result<Addresses> result);
  void deliver();
  void remember(DnsAnswer& answer);
  void forget(Entries::iterator entry);

  Worker& worker_;
  const base::Duration minTtl_;
  const base::Duration maxTtl_;
  const base::Duration negativeTtl_;
  const std::size_t maxAddresses_;

  NameMap<base::Result<Addresses>> hosts_;
  Entries entries_;  // oldest first
  NameMap<Entries::iterator> index_;
  // What cached() has pointed to and nobody remembers: it lives until a later turn.
  Entries passing_;
  base::MonotonicTime passingSince_{};

  NameMap<std::vector<std::function<void()>>> asked_;
  std::vector<DnsAnswer> answers_;                // not yet delivered
  std::vector<std::function<void()>> needNoAsk_;  // not yet told
  std::unique_ptr<DnsChannel> channel_;           // the first to go: it calls us
};

std::optional<base::Error> CaresResolver::init(const DnsSettings& settings) {
  for (const auto& [name, texts] : settings.hosts) {
    if (auto error = addHost(name, texts)) return error;
  }
  auto channel = DnsChannel::open(worker_, settings, *this);
  if (!channel) return std::move(channel).error();
  channel_ = std::move(channel).value();
  return std::nullopt;
}

std::optional<base::Error> CaresResolver::addHost(const std::string& name, const std::vector<std::string>& texts) {
  const HostName host(name);
  if (!host.isValid()) return base::Error::config("dns.hosts: '" + name + "' is not a host name");
  if (texts.empty()) return base::Error::config("dns.hosts: '" + name + "' has no address");
  Addresses addresses;
  for (const std::string& text : texts) {
    const auto address = Address::parse(text, 0);
    if (!address) return base::Error::config("dns.hosts: '" + name + "': '" + text + "' is not an address");
    if (addresses.size() < maxAddresses_) addresses.push_back(*address);
  }
  hosts_.insert_or_assign(std::string(host.text()), std::move(addresses));
  return std::nullopt;
}

const base::Result<Addresses>* CaresResolver::cached(std::string_view name) {
  const HostName host(name);
  if (const auto it = hosts_.find(host.text()); it != hosts_.end()) return &it->second;
  if (const auto it = index_.find(host.text()); it != index_.end()) {
    // An answer that may not be kept at all still counts in the turn that brought it.
    if (worker_.now() <= it->second->expires) return &it->second->addresses;
    return nullptr;
  }
  return answerWithoutAsking(host, name);
}

const base::Result<Addresses>* CaresResolver::answerWithoutAsking(const HostName& host, std::string_view name) {
  if (const auto literal = Address::parse(name, 0)) return keepForThisTurn(Addresses{*literal});
  if (host.isValid()) return nullptr;
  return keepForThisTurn(base::Error::upstream(base::ErrorType::kDnsError, "not a host name"));
}

const base::Result<Addresses>* CaresResolver::keepForThisTurn(base::Result<Addresses> result) {
  if (passingSince_ != worker_.now()) passing_.clear();
  passingSince_ = worker_.now();
  return &passing_.emplace_back(Entry{{}, std::move(result), {}}).addresses;
}

void CaresResolver::resolve(std::string_view name, std::function<void()> done) {
  if (cached(name) != nullptr) {
    needNoAsk_.push_back(std::move(done));
  } else {
    const HostName host(name);
    const auto [asked, isFirst] = asked_.try_emplace(std::string(host.text()));
    asked->second.push_back(std::move(done));
    if (isFirst) channel_->ask(host.text());
  }
  // Never from within this call: not even what is known at once.
  if (!needNoAsk_.empty() || !answers_.empty()) worker_.timers().set(*this, worker_.now());
}

void CaresResolver::deliver() {
  std::vector<std::function<void()>> told = std::exchange(needNoAsk_, {});
  for (DnsAnswer& answer : std::exchange(answers_, {})) {
    const auto asked = asked_.find(answer.name);
    std::move(asked->second.begin(), asked->second.end(), std::back_inserter(told));
    asked_.erase(asked);
    remember(answer);
  }
  // Last, because whoever is told may ask again.
  for (const auto& done : told) done();
}

void CaresResolver::remember(DnsAnswer& answer) {
  const base::Duration ttl = answer.addresses.ok() ? std::clamp(answer.ttl, minTtl_, maxTtl_) : negativeTtl_;
  if (const auto it = index_.find(answer.name); it != index_.end()) forget(it->second);
  if (entries_.size() >= kMaxNames) forget(entries_.begin());
  entries_.push_back({answer.name, std::move(answer.addresses), worker_.now() + ttl});
  index_.emplace(std::move(answer.name), std::prev(entries_.end()));
}

void CaresResolver::forget(Entries::iterator entry) {
  index_.erase(entry->name);
  if (passingSince_ != worker_.now()) passing_.clear();
  passingSince_ = worker_.now();
  passing_.splice(passing_.end(), entries_, entry);
}

}  // namespace

base::Result<std::unique_ptr<Resolver>> makeResolver(Worker& worker, const DnsSettings& settings) {
  auto resolver = std::make_unique<CaresResolver>(worker, settings);
  if (auto error = resolver->init(settings)) return std::move(*error);
  return std::unique_ptr<Resolver>(std::move(resolver));
}

}  // namespace sluice::net
