#include "proxy/upstream/dial_race.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/upstream/dial/dial_room.h"

namespace sluice::upstream {
namespace {

// The bytes that may follow the handshake at once, before the codec sets the budget.
constexpr std::size_t kFirstRead = 64 * 1024;

bool isRefusal(const base::Error& error) {
  return error.type == base::ErrorType::kConnectionRefused || error.type == base::ErrorType::kConnectionTerminated;
}

/// Returns true if another address may be better. One whose TLS fails has answered, and what is wrong with it concerns
/// the whole name.
bool passesOn(const base::Error& error) {
  return isRefusal(error) || error.type == base::ErrorType::kConnectionTimeout ||
         error.type == base::ErrorType::kDestinationIpProhibited;
}

base::Error noAnswer() {
  return base::Error::upstream(base::ErrorType::kConnectionTimeout, "backend did not accept the connection in time");
}

/// Returns the name that TLS asks for; empty without TLS.
std::string_view tlsNameOf(const routing::BackendPlan& plan) {
  return plan.tls ? std::string_view(plan.tls->serverName) : std::string_view();
}

/// Returns true if the pool has only one of the addresses of a name, and requests go to them in their order.
bool isOneOfName(const ConnectionOwner& pool, const routing::BackendPlan& plan) {
  return pool.endpoint() != nullptr && !plan.endpoints && !plan.connection.choosesAddress();
}

}  // namespace

base::Error prohibited(const net::Address& address) {
  base::Error error(base::ErrorType::kDestinationIpProhibited, base::ErrorOrigin::kUpstream,
                    "the backend's address is not allowed");
  error.address = address.toString();
  error.note = error.address + " is " + std::string(routing::addressClassName(routing::classify(address.bytes()))) +
               ", and addressGuard.allow does not name it";
  return error;
}

net::Addresses dialOrder(UpstreamContext& owner, const routing::BackendPlan& plan, net::Addresses known) {
  for (net::Address& address : known) address = address.withPort(plan.port);
  owner.failedAddresses().putLast(known, tlsNameOf(plan), owner.worker().now());
  return net::chooseAddresses(plan.connection.logicalDns ? net::DnsStrategy::kLogical : net::DnsStrategy::kStrict,
                              known);
}

void countHandshake(UpstreamContext& owner, PoolOwner& cluster, std::string_view result, bool resumed) {
  if (cluster.tlsContext() == nullptr) return;
  owner.metrics()
      .at<observe::Metric::kUpstreamTlsHandshakes>(result, resumed ? "true" : "false", cluster.plan().name)
      .add();
}

/// One address that was dialled. Its events only record, but for the first one that opens.
class DialRace::Contender final : public net::TransportSink {
 public:
  Contender(DialRace& race, const net::Address& to, base::MonotonicTime now) : address(to), started(now), race_(race) {}

  /// Starts to connect. If `brief`, others should be tried soon.
  void dial(bool brief) {
    PoolOwner& cluster = race_.pool_.cluster();
    patience = brief ? kDelay : kPatience;
    transport = race_.owner_.dialer().dial(address, cluster.tlsContext(), *this);
    if (const auto& keepalive = cluster.plan().connection.keepalive) transport->setKeepalive(*keepalive);
    transport->setReadBudget(kFirstRead);
  }
  /// Returns true if it was reached over TCP, and its TLS handshake has begun.
  bool isReached() const { return transport != nullptr && transport->hasShakenHands(); }

  const net::Address address;
  const base::MonotonicTime started;
  base::Duration patience{};
  std::unique_ptr<net::Transport> transport;  // null once it has won
  std::optional<base::Error> error;

 private:
  void onOpen() override {
    if (!error) race_.onOpen(*this);
  }
  void onBytes(std::string_view /*bytes*/) override {}
  void onEnd(bool /*clean*/) override {
    onFailed(base::Error::upstream(base::ErrorType::kConnectionTerminated,
                                   "backend closed the connection before it was ready"));
  }
  void onFailed(const base::Error& why) override {
    if (!error) error = why;
    race_.events_.touch();
  }
  void onWritable() override {}

  DialRace& race_;
};

DialRace::DialRace(DialEvents events, UpstreamContext& owner, ConnectionOwner& pool, net::Addresses addresses,
                   base::MonotonicTime end)
    : events_(std::move(events)),
      owner_(owner),
      pool_(pool),
      addresses_(std::move(addresses)),
      ofName_(!pool.cluster().plan().endpoints),
      end_(end),
      address_(addresses_.front()),
      started_(owner.worker().now()) {}

DialRace::~DialRace() {
  attempts_.clear();
  giveBackPlaces();
}

std::optional<base::Error> DialRace::proceed() {
  if (over_) return std::nullopt;
  std::erase_if(attempts_, [this](const auto& each) {
    if (!each->error && !pool_.permits(each->address)) {
      owner_.onDenied(each->address);
      each->error = prohibited(each->address);
    }
    if (each->error) lose(*each, *each->error);
    return each->error.has_value();
  });
  while (hasNext() && isDue() && begin()) {
  }
  giveBackPlaces();
  if (!attempts_.empty()) return std::nullopt;
  over_ = true;
  return told(loss_ ? *loss_ : *refusal_);
}

bool DialRace::isDue() {
  if (attempts_.empty()) return !loss_ || passesOn(*loss_);
  const base::MonotonicTime now = owner_.worker().now();
  if (now < nextAt_) return false;
  for (const auto& each : attempts_) {
    if (each->isReached()) nextAt_ = std::max(nextAt_, afterPatience(each->started, kPatience));
  }
  return now >= nextAt_;
}

// The address guard checks the very address that is dialled, in the same step, each time: no second look-up lies in
// between.
bool DialRace::begin() {
  const net::Address& next = addresses_[next_];
  if (!pool_.permits(next)) {
    owner_.onDenied(next);
    refusal_ = prohibited(next);
    if (attempts_.empty() && !loss_) address_ = next;
    ++next_;
    return true;
  }
  if (!attempts_.empty() && !takePlace()) return false;
  ++next_;
  address_ = next;
  started_ = owner_.worker().now();
  nextAt_ = afterPatience(started_, kDelay);
  toldSlow_ = false;
  const bool brief = isOneOfName(pool_, pool_.cluster().plan()) ||
                     (ofName_ && owner_.failedAddresses().holds(next, tlsNameOf(pool_.cluster().plan()), started_));
  attempts_.push_back(std::make_unique<Contender>(*this, next, started_));
  attempts_.back()->dial(brief);
  return true;
}

bool DialRace::takePlace() {
  if (pool_.cluster().dialRoom().tryTakeMore()) {
    ++places_;
    return true;
  }
  const base::MonotonicTime end = attempts_.back()->started + kPatience;
  if (owner_.worker().now() < end) {
    nextAt_ = end;
    return false;
  }
  lose(*attempts_.front(), noAnswer());
  attempts_.erase(attempts_.begin());
  return true;
}

void DialRace::giveBackPlaces() {
  // One attempt has the room of the connection itself.
  const std::size_t used = attempts_.empty() ? 0 : attempts_.size() - 1;
  for (; places_ > used; --places_) pool_.cluster().dialRoom().giveBackMore();
}

void DialRace::onOpen(Contender& winner) {
  if (over_) return;
  over_ = true;
  address_ = winner.address;
  started_ = winner.started;
  owner_.failedAddresses().remove(winner.address, tlsNameOf(pool_.cluster().plan()));
  for (const auto& each : attempts_) {
    if (each.get() != &winner) note(*each);
  }
  events_.dialled(std::move(winner.transport));
}

void DialRace::lose(const Contender& attempt, const base::Error& error) {
  note(attempt);
  if (attempt.isReached()) countHandshake(owner_, pool_.cluster(), base::errorTypeName(error.type), false);
  // The process has no descriptor left for the connection.
  if (error.type == base::ErrorType::kConnectionLimitReached) owner_.onLimit("backendConnections");
  ++losses_;
  loss_ = error;
  address_ = attempt.address;
}

// A handshake that fails may be a matter of the settings of this Backend, and says nothing to others. The endpoints of
// a Service have no order. Requests that name their destination could fill the table for others.
void DialRace::note(const Contender& attempt) {
  if (!ofName_ || pool_.cluster().plan().requestedOf != nullptr) return;
  const base::MonotonicTime now = owner_.worker().now();
  const bool reached = attempt.isReached();
  const bool failed =
      attempt.error ? isRefusal(*attempt.error) && !reached : now - attempt.started >= (reached ? kPatience : kDelay);
  if (failed) owner_.failedAddresses().add(attempt.address, tlsNameOf(pool_.cluster().plan()), now);
}

base::MonotonicTime DialRace::due() const {
  if (hasNext()) return nextAt_;
  return toldSlow_ ? base::MonotonicTime::max() : slowAt();
}

base::MonotonicTime DialRace::slowAt() const {
  if (attempts_.empty()) return base::MonotonicTime::max();
  const Contender& last = *attempts_.back();
  return last.started + (last.isReached() ? kPatience : last.patience);
}

bool DialRace::takeSlow() {
  if (hasNext() || toldSlow_ || owner_.worker().now() < slowAt()) return false;
  toldSlow_ = true;
  for (const auto& each : attempts_) note(*each);
  PoolOwner& cluster = pool_.cluster();
  return cluster.hasChoice() || isOneOfName(pool_, cluster.plan());
}

base::Error DialRace::expire() {
  over_ = true;
  for (const auto& each : attempts_) lose(*each, each->error ? *each->error : noAnswer());
  return told(noAnswer().ofLimit("connect"));
}

base::Error DialRace::told(base::Error error) const {
  if (losses_ < 2) return error;
  error.note += (error.note.empty() ? "" : "; ") + std::to_string(losses_) + " addresses have failed, this one last";
  return error;
}

bool DialRace::shakesHands() const {
  return std::any_of(attempts_.begin(), attempts_.end(), [](const auto& each) { return each->isReached(); });
}

}  // namespace sluice::upstream
