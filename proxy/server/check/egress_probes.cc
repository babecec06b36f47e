#include "proxy/server/check/egress_probes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <memory>
#include <utility>

#include "proxy/net/dns/system_lookup.h"
#include "proxy/net/worker.h"

namespace sluice::server {
namespace {

/// All probes of one check. Lives on the stack of probeEgress(), and ends the loop when nothing is open.
class ProbeRun final : private net::ProbeSink {
 public:
  ProbeRun(net::Worker& worker, base::Duration timeout) : worker_(worker), timeout_(timeout) {}

  /// Called inside a Turn for all targets of the check, and then once settle().
  void begin(const CheckTarget& target, std::vector<ProbedAddress>& to) {
    if (target.address) return dial(target, *target.address, &to);
    names_.push_back({target, &to, nullptr});
    names_.back().lookup = std::make_unique<net::SystemLookup>(worker_, target.host, timeout_, [this] { settle(); });
  }

  void settle() {
    names_.remove_if([this](NamedTarget& named) {
      const auto& answer = named.lookup->answer();
      if (!answer) return false;
      if (!answer->ok()) {
        named.to->push_back({named.target, std::nullopt, std::nullopt, answer->error().detail});
      } else {
        for (const net::Address& ip : **answer) dial(named.target, ip.withPort(named.target.port), named.to);
      }
      answered_.push_back(std::move(named.lookup));  // it may be the caller of this function
      return true;
    });
    const auto open = [](const StartedProbe& each) { return !each.probe->outcome(); };
    if (!names_.empty() || std::any_of(probes_.begin(), probes_.end(), open)) return noteTimes();
    noteTimes();
    worker_.stop();
  }

  /// Hands over the outcomes, in the order in which the probes began.
  void finish() {
    for (const StartedProbe& each : probes_) {
      if (each.to == nullptr) continue;
      ProbedAddress found{each.target, each.address, each.probe->outcome(), "", each.took};
      if (const StartedProbe* control = controlOf(each)) found.control = control->probe->outcome()->result;
      each.to->push_back(std::move(found));
    }
  }

 private:
  struct NamedTarget {
    CheckTarget target;
    std::vector<ProbedAddress>* to;
    std::unique_ptr<net::SystemLookup> lookup;
  };
  struct StartedProbe {
    CheckTarget target;
    net::Address address;
    std::vector<ProbedAddress>* to;  // nullptr for a control
    base::MonotonicTime began;
    base::Duration took;
    std::unique_ptr<net::DialProbe> probe;
  };

  void dial(const CheckTarget& target, const net::Address& address, std::vector<ProbedAddress>* to) {
    probes_.push_back({target, address, to, worker_.now(), base::Duration(-1), nullptr});
    StartedProbe& started = probes_.back();
    started.probe = std::make_unique<net::DialProbe>(worker_, target.protocol, address, timeout_,
                                                     static_cast<net::ProbeSink&>(*this));
    if (to == nullptr || address.isLoopback() || controlOf(started) != nullptr) return;
    dial(target, controlAddress(address), nullptr);
  }

  const StartedProbe* controlOf(const StartedProbe& of) const {
    if (of.address.isLoopback()) return nullptr;
    const net::Address wanted = controlAddress(of.address);
    const auto found = std::find_if(probes_.begin(), probes_.end(), [&](const StartedProbe& each) {
      return each.to == nullptr && each.target.protocol == of.target.protocol && each.address == wanted;
    });
    return found == probes_.end() ? nullptr : &*found;
  }

  void noteTimes() {
    for (StartedProbe& each : probes_) {
      if (each.took < base::Duration(0) && each.probe->outcome()) each.took = worker_.now() - each.began;
    }
  }

  void onProbed() override { settle(); }

  net::Worker& worker_;
  const base::Duration timeout_;
  std::list<NamedTarget> names_;
  std::vector<std::unique_ptr<net::SystemLookup>> answered_;
  std::list<StartedProbe> probes_;
};

}  // namespace

net::Address controlAddress(const net::Address& of) {
  return *net::Address::parse(of.isIpv6() ? "2001:db8::1" : "192.0.2.1", of.port());
}

EgressFindings probeEgress(const std::vector<CheckTarget>& targets, const std::optional<CheckTarget>& gateway,
                           base::Duration timeout) {
  EgressFindings findings;
  std::vector<std::vector<ProbedAddress>> found(targets.size());  // in the order of the targets
  const base::SystemClock clock;
  net::Worker worker(clock);
  ProbeRun run(worker, timeout);
  worker.post([&] {
    for (std::size_t i = 0; i < targets.size(); ++i) run.begin(targets[i], found[i]);
    if (gateway) run.begin(*gateway, findings.gateway);
    run.settle();
  });
  worker.run();
  run.finish();
  for (std::vector<ProbedAddress>& each : found) {
    std::move(each.begin(), each.end(), std::back_inserter(findings.targets));
  }
  return findings;
}

}  // namespace sluice::server
