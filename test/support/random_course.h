// A course of events that bytes choose: clients send requests and bodies, stall, break the protocol and leave; backends
// connect, fail, answer, reset and send GOAWAY; names resolve late; other configurations are adopted; time passes. In
// half of the courses the rule retries, and a mirror gets copies. The invariants are checked after every step, and at
// the end every exchange must end.
//
// The fuzzer and the test of fixed seeds run this class.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "test/support/exchange_rig.h"

namespace sluice::test {

class RandomCourse {
 public:
  explicit RandomCourse(std::string_view bytes) : bytes_(bytes), rig_(options()) {}

  /// Returns an empty text, or the invariant that did not hold.
  std::string run() {
    if (next() % 4 == 0) rig_.resolver.forget(Rig::kHost);
    rig_.resolver.know("mirror.test", {kMirrorIp});
    while (!bytes_.empty() && violation_.empty()) {
      step();
      check();
    }
    finish();
    return violation_;
  }

 private:
  struct CourseRequest {
    http::Method method = http::Method::kGet;
    std::size_t clientIndex = 0;
    std::size_t stream = 0;
    std::size_t sent = 0;      // body bytes given to the client's codec
    bool complete = false;     // the end of the body was given too
    bool checked = false;      // its answer was checked
    std::size_t arrivals = 0;  // at backends that did not refuse it
  };
  struct CourseResponse {
    bool responded = false;
    bool finished = false;
    bool refused = false;  // states that it did not act
    std::size_t sent = 0;
  };
  struct CourseBackend {
    BackendPeer* peer;
    std::vector<CourseResponse> served;
    bool tainted = false;  // sent invalid bytes
    bool mirror = false;
  };

  static constexpr std::size_t kMostClients = 3;
  static constexpr std::size_t kMostRequests = 24;
  static constexpr std::size_t kMostWires = 40;
  static constexpr std::uint32_t kRetries = 2;
  static constexpr const char* kMirrorIp = "192.0.2.9";

  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  std::size_t size() { return std::size_t{next()} * (next() % 8 == 0 ? 400 : 8); }
  void require(bool holds, std::string what) {
    if (!holds && violation_.empty()) violation_ = std::move(what);
  }
  /// Returns the body of the exchange with this number; every peer computes the same, so a mix-up shows.
  static std::string pattern(std::size_t number, std::size_t from, std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i)
      text[i] = static_cast<char>('a' + (number * 5 + (from + i) * 7 + (from + i) / 1021) % 26);
    return text;
  }

  RigOptions options() {
    RigOptions made;
    const std::uint8_t choice = next();
    constexpr routing::UpstreamProtocol kProtocols[] = {
        routing::UpstreamProtocol::kHttp11, routing::UpstreamProtocol::kHttp2, routing::UpstreamProtocol::kAuto,
        routing::UpstreamProtocol::kAuto};
    made.protocol = kProtocols[choice % 4];
    made.tls = choice % 4 >= 2;
    if ((choice & 4) != 0) made.limits.streamWindow = 4 * 1024;
    if ((choice & 8) != 0) made.maxConnections = 2;
    if ((choice & 16) != 0) made.pendingBound = 2;
    if ((choice & 32) != 0) made.maxRequests = 3;
    if ((choice & 64) != 0) made.timeouts.request = std::chrono::seconds(20);
    retrying_ = (choice & 128) != 0;
    if (retrying_) made.rule = retryAndMirror;
    return made;
  }

  static void retryAndMirror(routing::Rule& rule) {
    rule.retry.emplace();
    rule.retry->cover(503);
    rule.retry->attempts = kRetries;
    rule.retry->backoff = std::chrono::milliseconds(100);
    rule.backendRequestTimeout = std::chrono::seconds(90);
    routing::BackendPlan copy = *rule.backends[0].backend;
    copy.name = "demo/mirror";
    copy.identity = "mirror";
    copy.hostname = "mirror.test";
    rule.mirrors.push_back({std::make_shared<routing::BackendPlan>(std::move(copy)), 1, 1});
  }

  void step() {
    const std::uint8_t action = next();
    switch (action % 16) {
      case 0:
      case 1:
        return ask();
      case 2:
        return sendBody();
      case 3:
        return clientEvent();
      case 4:
      case 5:
        return accept();
      case 6:
        return wireEvent();
      case 7:
      case 8:
        return respond();
      case 9:
        return respondMore();
      case 10:
        return backendEvent();
      case 11:
        return stall();
      case 12:
        return resolve();
      case 13:
        return pass();
      case 14:
        return adopt();
      default:
        return pump(next());
    }
  }

  ClientPeer* someClient() {
    if (rig_.clients.size() < kMostClients && (rig_.clients.empty() || next() % 4 == 0)) {
      rig_.connect(next() % 2 == 0 ? http::Version::kHttp11 : http::Version::kHttp2);
    }
    clientIndex_ = next() % rig_.clients.size();
    return rig_.clients[clientIndex_].get();
  }
  bool tainted(std::size_t client) const { return taintedClients_.contains(client); }

  void ask() {
    ClientPeer* client = someClient();
    if (!client->idle() || asked_.size() == kMostRequests || client->wire().over()) return;
    const std::uint8_t kind = next();
    constexpr http::Method kMethods[] = {http::Method::kGet, http::Method::kPost, http::Method::kPut,
                                         http::Method::kHead};
    CourseRequest asked;
    asked.method = kMethods[kind % 4];
    asked.clientIndex = clientIndex_;
    HeadSpec spec;
    spec.method = asked.method;
    spec.target = (kind & 64) != 0 ? "/nowhere" : "/ok/" + std::to_string(asked_.size());
    const bool withBody = asked.method == http::Method::kPost || asked.method == http::Method::kPut;
    asked.complete = !withBody || (kind & 4) != 0;
    spec.body = asked.complete ? http::Body::kNone : http::Body::kUntilEnd;
    spec.expectContinue = !asked.complete && (kind & 8) != 0;
    if ((kind & 16) != 0) spec.fields.emplace_back("content-type", "application/grpc");
    asked.stream = client->ask(spec);
    asked_.push_back(asked);
  }

  void sendBody() {
    if (asked_.empty()) return;
    const std::size_t number = next() % asked_.size();
    CourseRequest& asked = asked_[number];
    if (asked.complete) return;
    ClientPeer& client = *rig_.clients[asked.clientIndex];
    const std::size_t count = size();
    client.body(asked.stream, pattern(number, asked.sent, count));
    asked.sent += count;
    if (next() % 3 != 0) return;
    asked.complete = true;
    client.finish(asked.stream);
  }

  void clientEvent() {
    ClientPeer* client = someClient();
    switch (next() % 8) {
      case 0:
        client->wire().reset();
        break;
      case 1:
        client->wire().end();
        break;
      case 2:
        if (client->codec->version() == http::Version::kHttp11 && !client->codec->activeStreams()) break;
        if (!asked_.empty() && asked_.back().clientIndex == clientIndex_) client->cancel(asked_.back().stream);
        break;
      case 3:
        taintedClients_.insert(clientIndex_);
        client->wire().deliver("garbage \x01\r\n\r\n");
        break;
      case 4:
        taintedClients_.insert(clientIndex_);
        client->wire().deliver(
            "GET /ok HTTP/1.1\r\nHost: a\r\n\r\nPOST /ok HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
            "chunked\r\n\r\n5\r\nab");
        break;
      default:
        client->grants = !client->grants;
        break;
    }
  }

  void accept() {
    if (rig_.dialled() == 0) return;
    const std::size_t index = next() % rig_.dialled();
    if (accepted_.contains(index) || rig_.wire(index).over()) return;
    accepted_.insert(index);
    http::Limits limits;
    if (next() % 4 == 0) limits.concurrentStreams = 1;
    const bool plainH1 = !rig_.wire(index).isTls() && rig_.plan->protocol == routing::UpstreamProtocol::kHttp11;
    const bool plainH2 = rig_.plan->protocol == routing::UpstreamProtocol::kHttp2;
    const bool h2 = plainH2 || (!plainH1 && next() % 2 == 0);
    const http::Version version = h2 ? http::Version::kHttp2 : http::Version::kHttp11;
    rig_.backends.push_back(std::make_unique<BackendPeer>(rig_.dialer.wires[index], version, rig_.clock, limits));
    backends_.push_back({rig_.backends.back().get(), {}, false, rig_.wire(index).address().ip() == kMirrorIp});
    rig_.wire(index).accept(h2 ? "h2" : "http/1.1");
  }

  void wireEvent() {
    if (rig_.dialled() == 0) return;
    Wire& wire = rig_.wire(next() % rig_.dialled());
    switch (next() % 4) {
      case 0:
        wire.reset();
        break;
      case 1:
        wire.refuse();
        break;
      case 2:
        if (wire.isOpen()) wire.end(next() % 2 == 0 ? Wire::End::kClean : Wire::End::kUnclean);
        break;
      default:
        if (wire.isOpen()) wire.pump();
        break;
    }
  }

  /// Picks a request at a backend that has not been answered yet.
  CourseBackend* someBackend(std::size_t& index) {
    if (backends_.empty()) return nullptr;
    CourseBackend& backend = backends_[next() % backends_.size()];
    backend.served.resize(backend.peer->requests());
    if (backend.served.empty()) return nullptr;
    index = next() % backend.served.size();
    return &backend;
  }
  std::size_t numberOf(BackendPeer& peer, std::size_t index) {
    const std::string target(peer.request(index).message.head.target);
    if (!target.starts_with("/ok/")) return kMostRequests;
    return std::stoul(target.substr(4));
  }

  void respond() {
    std::size_t index = 0;
    CourseBackend* backend = someBackend(index);
    if (backend == nullptr || backend->served[index].responded) return;
    CourseResponse& served = backend->served[index];
    const std::uint8_t kind = next();
    if (kind % 8 == 7) return backend->peer->interim(index, kind >= 128 ? 100 : 103);
    served.responded = true;
    HeadSpec spec;
    spec.fields.emplace_back("x-from", "backend");
    if (kind % 8 == 6) {
      spec.status = 204;
      served.finished = true;
      backend->peer->finish(index);
      return backend->peer->head(index, spec);
    }
    spec.body = http::Body::kUntilEnd;
    if (retrying_ && kind % 8 == 5) {
      spec.status = 503;
      served.refused = true;
    }
    backend->peer->head(index, spec);
    if (kind % 2 == 0) addBody(*backend, index);
  }

  void addBody(CourseBackend& backend, std::size_t index) {
    CourseResponse& served = backend.served[index];
    const std::size_t number = numberOf(*backend.peer, index);
    const std::size_t count = size();
    backend.peer->body(index, pattern(number + (backend.mirror ? 1001 : 1000), served.sent, count));
    served.sent += count;
    if (next() % 3 == 0) return;
    served.finished = true;
    if (!backend.mirror) lengths_[number].insert(served.sent);
    backend.peer->finish(index);
  }

  void respondMore() {
    std::size_t index = 0;
    CourseBackend* backend = someBackend(index);
    if (backend == nullptr || !backend->served[index].responded || backend->served[index].finished) return;
    addBody(*backend, index);
  }

  void backendEvent() {
    std::size_t index = 0;
    CourseBackend* backend = someBackend(index);
    if (backend == nullptr) return;
    CourseResponse& served = backend->served[index];
    switch (next() % 8) {
      case 0:
      case 1:
        served.refused = true;
        served.responded = served.finished = true;
        backend->peer->reset(index, http::ResetReason::kRefused);
        break;
      case 2:
        served.responded = served.finished = true;
        backend->peer->reset(index, http::ResetReason::kFailed);
        break;
      case 3:
        backend->peer->codec->drain();
        break;
      case 4:
        backend->tainted = true;
        backend->peer->wire().deliver("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n");
        break;
      case 5:
        backend->tainted = true;
        backend->peer->wire().deliver("\xff\xff\xff garbage");
        break;
      default:
        backend->peer->grants = !backend->peer->grants;
        break;
    }
  }

  void stall() {
    Wire& wire = next() % 2 == 0 || rig_.dialled() == 0 ? someClient()->wire() : rig_.wire(next() % rig_.dialled());
    const std::uint8_t how = next();
    how % 3 == 0 ? wire.allowAll() : wire.allow(how % 3 == 1 ? 0 : std::size_t{how} * 50);
  }

  void resolve() {
    const std::uint8_t how = next();
    if (how % 4 == 0) rig_.resolver.know(Rig::kHost, base::Error::upstream(base::ErrorType::kDnsError, "no such name"));
    if (how % 4 == 1) rig_.resolver.know(Rig::kHost, {"192.0.2.1"});
    if (how % 4 == 2) rig_.resolver.know(Rig::kHost, {"192.0.2.1", "192.0.2.2"});
    if (how % 4 == 3) rig_.resolver.forget(Rig::kHost);
    rig_.resolver.answer();
  }

  void pass() {
    constexpr int kSeconds[] = {0, 1, 4, 6, 30, 61, 100, 301};
    rig_.clock.advance(std::chrono::seconds(kSeconds[next() % 8]) + std::chrono::milliseconds(next()));
    const net::Worker::Turn turn(rig_.worker);
  }

  /// Adopts other rules for the same Backend, another Backend in its place, or addresses that are no longer allowed.
  void adopt() {
    const std::uint8_t how = next();
    const std::string identity = how % 4 == 0 ? "another backend" : "backend";
    const bool narrow = how % 8 == 1;
    rig_.adopt(std::to_string(how), identity,
               narrow ? std::vector<std::string>{"192.0.2.2/32"} : std::vector<std::string>{"192.0.2.0/24"});
  }

  void pump(std::uint8_t how) {
    if (how % 4 == 0) return require(rig_.settle(), "bytes come to rest");
    if (how % 4 == 1) {
      someClient()->pump();
    } else if (how % 4 == 2 && !rig_.backends.empty()) {
      rig_.backends[next() % rig_.backends.size()]->pump();
    } else {
      for (std::size_t i = 0; i < rig_.dialled(); ++i) rig_.wire(i).pump();
    }
  }

  void check() {
    require(rig_.quiet(), "the worker is quiet between turns");
    require(!rig_.toldTwice, "an exchange is told of once");
    require(rig_.budget().requests.count() <= rig_.exchanges.size(),
            "a request's place is given back with the exchange");
    require(rig_.dialled() < kMostWires + asked_.size() * (retrying_ ? 4 * (kRetries + 2) : 4),
            "connections are not dialled in a circle");
    for (std::size_t i = 0; i < asked_.size(); ++i) checkAnswer(i);
    checkArrivals();
  }

  // Checks that a response which the client got whole has its whole body.
  void checkAnswer(std::size_t number) {
    CourseRequest& asked = asked_[number];
    if (asked.checked || tainted(asked.clientIndex)) return;
    const RecordingClientSink::RecordedResponse& answer = rig_.clients[asked.clientIndex]->answer(asked.stream);
    require(!(answer.ended && answer.reset), "one end of a response");
    if (!answer.answered) return;
    const bool fromBackend = answer.message.head.headers.find("x-from") != nullptr;
    if (fromBackend && asked.method != http::Method::kHead) {
      require(answer.body == pattern(number + 1000, 0, answer.body.size()), "a response's body is the backend's");
      if (answer.ended && !answer.reset && answer.message.head.status == 200) {
        require(lengths_[number].contains(answer.body.size()) || anyTainted(), "a whole response is all of it");
      }
    }
    asked.checked = answer.ended;
  }
  bool anyTainted() const {
    for (const CourseBackend& backend : backends_) {
      if (backend.tainted) return true;
    }
    return false;
  }

  void checkArrivals() {
    for (CourseRequest& asked : asked_) asked.arrivals = 0;
    for (CourseBackend& backend : backends_) {
      backend.served.resize(backend.peer->requests());
      for (std::size_t i = 0; i < backend.served.size(); ++i) {
        const std::size_t number = numberOf(*backend.peer, i);
        if (number >= asked_.size()) continue;
        CourseRequest& asked = asked_[number];
        if (!backend.served[i].refused && !backend.mirror) ++asked.arrivals;
        if (tainted(asked.clientIndex)) continue;
        const RecordingServerSink::RecordedRequest& request = backend.peer->request(i);
        require(request.body == pattern(number, 0, request.body.size()) && request.body.size() <= asked.sent,
                "a request's body is the client's");
        if (request.ended && !request.reset)
          require(asked.complete && request.body.size() == asked.sent, "a whole request is all of it");
      }
    }
    for (const CourseRequest& asked : asked_) {
      const bool idempotent = http::isIdempotent(asked.method);
      const std::size_t most = retrying_ ? 2 + kRetries : 2;
      require(asked.arrivals <= (idempotent ? most : 1U), "nothing is done twice that may not be");
    }
  }

  // The remaining peers do nothing any more, so time alone ends every exchange.
  void finish() {
    if (!violation_.empty()) return;
    for (const auto& client : rig_.clients) client->wire().allowAll();
    for (std::size_t i = 0; i < rig_.dialled(); ++i) rig_.wire(i).allowAll();
    rig_.resolver.know(Rig::kHost, {"192.0.2.1"});
    rig_.resolver.answer();
    for (int i = 0; i < 30; ++i) rig_.advance(std::chrono::seconds(100));
    check();
    require(rig_.exchanges.size() == 0, "every exchange ends");
    require(rig_.exchanges.mirrors().size() == 0, "every mirror ends");
    require(rig_.budget().requests.count() == 0, "requests are counted down");
    require(rig_.budget().connections.count() == 0, "idle connections end, and are counted down");
    rig_.close();
    require(rig_.worker.chunks().inUse() == 0, "all memory came back");
  }

  std::string_view bytes_;
  std::string violation_;
  bool retrying_ = false;
  Rig rig_;
  std::vector<CourseRequest> asked_;
  std::vector<CourseBackend> backends_;
  std::set<std::size_t> accepted_;
  std::set<std::size_t> taintedClients_;
  std::map<std::size_t, std::set<std::size_t>> lengths_;  // of the bodies that a backend finished, by request
  std::size_t clientIndex_ = 0;
};

}  // namespace sluice::test
