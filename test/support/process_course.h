// A course of events against exchanges with payload processors, chosen by bytes: steps of any phase and any interest in
// bodies go on, edit, hold back, wait, fail and answer; clients and backends send, stall and leave; answers to steps
// come, come late, or never. In every course each exchange ends and leaves nothing behind. A third of the courses have
// steps that do nothing, and bodies are byte-exact. In another third steps fail in every way, and those that edit add
// a number to each byte: then a body arrives as a whole and with one sum added to each of its bytes, or not at all.
//
// The fuzzer and the test of fixed seeds run this class.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/processing/processor.h"
#include "test/support/exchange_rig.h"

namespace sluice::test {

class ProcessCourse {
 public:
  explicit ProcessCourse(std::string_view bytes)
      : bytes_(bytes), random_(1 + next() * 256U + next()), kind_(Kind(next() % 3)), rig_(options()) {}
  ~ProcessCourse() { waiting_.clear(); }

  /// Returns an empty text, or the invariant that did not hold.
  std::string run() {
    learn();
    while (!bytes_.empty() && violation_.empty()) {
      step();
      check();
    }
    finish();
    return violation_;
  }

 private:
  using Call = processing::Call;
  using Verdict = processing::Verdict;

  struct ProcessedRequest {
    std::size_t client;
    std::size_t stream;
    std::size_t sent = 0;
    bool complete = false;
    bool isHead = false;
  };
  struct ProcessedResponse {
    bool responded = false;
    bool finished = false;
    std::size_t sent = 0;
  };

  static constexpr std::size_t kMostClients = 2;
  static constexpr std::size_t kMostRequests = 12;

  enum class Kind : std::uint8_t {
    kIdle,    // no step does anything
    kAdding,  // steps add a number to each byte, or nothing; and they fail
    kFree     // steps do anything
  };

  class Chosen final : public processing::PreAuthProcessor {
   public:
    Chosen(ProcessCourse& course, const processing::BodyInterest& interest, char added)
        : course_(course), converses_(interest.mode == processing::BodyMode::kDuplex), added_(added) {}
    Verdict process(Call& call) const override {
      const Verdict verdict = course_.decide(call, converses_ ? '\0' : added_);
      const bool goesOn = verdict.kind() == Verdict::Kind::kContinue;
      return converses_ && goesOn && call.body != nullptr ? course_.converse(call, added_) : verdict;
    }

   private:
    ProcessCourse& course_;
    const bool converses_;
    const char added_;
  };

  std::uint8_t next() {
    if (bytes_.empty()) return 0;
    const auto value = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return value;
  }
  /// Returns a number that depends on the first bytes alone, so that steps do not use up the course.
  std::uint32_t chance() {
    random_ = random_ * 1664525 + 1013904223;
    return random_ >> 16;
  }
  void require(bool holds, std::string what) {
    if (!holds && violation_.empty()) violation_ = std::move(what);
  }
  static std::string pattern(std::size_t number, std::size_t from, std::size_t count) {
    std::string text(count, '\0');
    for (std::size_t i = 0; i < count; ++i)
      text[i] = static_cast<char>('a' + (number * 5 + (from + i) * 7 + (from + i) / 1021) % 26);
    return text;
  }

  RigOptions options() {
    RigOptions made;
    const std::uint8_t choice = next();
    version_ = (choice & 1) != 0 ? http::Version::kHttp2 : http::Version::kHttp11;
    made.protocol = (choice & 1) != 0 ? routing::UpstreamProtocol::kHttp2 : routing::UpstreamProtocol::kHttp11;
    if ((choice & 2) != 0) made.maxConnections = 1;
    if ((choice & 4) != 0) made.timeouts.request = std::chrono::seconds(5);
    // Steps that do nothing must not be hindered either, so an idle course has no small buffer.
    if ((choice & 8) != 0 && !isIdle()) made.bounds.processorBuffer = 2000;
    if ((choice & 16) != 0) made.bounds.replayBuffer = 100;
    if ((choice & 32) != 0 && !isIdle()) made.bounds.processorBufferTotal = 128 * 1024;
    const bool retries = (choice & 64) != 0;
    const auto ofRoute = std::make_shared<const processing::Chain>(steps(processing::Scope::kRoute));
    const auto ofBackend = std::make_shared<const processing::Chain>(steps(processing::Scope::kBackend));
    made.rule = [=](routing::Rule& rule) {
      if (retries) {
        rule.retry.emplace();
        rule.retry->cover(503);
        rule.retry->attempts = 2;
        rule.retry->backoff = std::chrono::milliseconds(100);
      }
      rule.chain = ofRoute;
      auto plan = std::make_shared<routing::BackendPlan>(*rule.backends[0].backend);
      plan->chain = ofBackend;
      rule.backends[0].backend = std::move(plan);
    };
    return made;
  }
  bool isIdle() const { return kind_ == Kind::kIdle; }
  std::vector<processing::Step> steps(processing::Scope scope) {
    std::vector<processing::Step> made;
    for (int count = next() % 5; count > 0; --count) {
      const std::uint8_t how = next();
      processing::Step& step = made.emplace_back();
      step.name = "step";
      step.type = "acme.test/Chosen:v1";
      step.phase = static_cast<processing::Phase>(chance() % processing::kPhases);
      step.scope = scope;
      step.priority = how % 4;
      step.failOpen = (how & 4) != 0;
      step.body.mode = static_cast<processing::BodyMode>(how / 8 % 5);
      // A step that inspects cannot edit.
      const bool edits = (how & 128) != 0 || kind_ == Kind::kFree;
      step.body.edits = edits && step.body.mode != processing::BodyMode::kInspected;
      if (how % 5 == 0) step.timeout = std::chrono::seconds(2);
      const bool adds = kind_ == Kind::kAdding && step.body.edits;
      step.processor =
          std::make_shared<const Chosen>(*this, step.body, static_cast<char>(adds ? 1 + chance() % 250 : 0));
    }
    return made;
  }

  // --- behaviour of steps ---

  Verdict decide(Call& call, char added) {
    const std::uint32_t choice = chance() % 32;
    // A step that does nothing may still wait, but is always answered before its deadline.
    if (choice < 4) {
      waiting_.push_back(call.suspend());
      if (choice == 0) std::exchange(waiting_.back(), {}).resume();
      if (choice == 1 && !isIdle()) waiting_.pop_back();
      return Verdict::wait();
    }
    if (isIdle()) return Verdict::goOn();
    if (choice == 4) return Verdict::fail("it broke");
    if (choice == 5) return Verdict::reply({base::Error::badRequest(403, "no"), {}});
    if (call.body != nullptr && kind_ == Kind::kFree) edit(*call.body, call.state<std::string>());
    if (call.body != nullptr && added != 0) call.body->replacement().append(sum(call.body->bytes().text(), added));
    if (call.destination != nullptr) {
      call.destination->narrow(call.arena, [this](const auto&) { return chance() % 3 != 0; });
    }
    if (choice == 6) return Verdict::fail("it broke after all");
    return Verdict::goOn();
  }
  /// Takes and returns bytes at the pace of a step that converses.
  Verdict converse(Call& call, char added) {
    if (kind_ != Kind::kFree) {
      std::string& held = call.state<std::string>();
      held += sum(call.body->bytes().text(), added);
      base::ByteQueue& given = call.body->replacement();
      if (call.body->last() || chance() % 2 == 0) given.append(std::exchange(held, {}));
    }
    return call.body->last() ? Verdict::goOn() : chance() % 4 == 0 ? Verdict::hold() : Verdict::stream();
  }
  static std::string sum(std::string text, char added) {
    for (char& each : text) each = static_cast<char>(each + added);
    return text;
  }
  void edit(processing::Body& body, std::string& held) {
    switch (chance() % 6) {
      case 0:
        return body.change().append("more");
      case 1:
        body.replacement();
        return;
      case 2:
        held += body.bytes().text();
        body.replacement();
        break;
      default:
        break;
    }
    if (held.empty() || (!body.last() && chance() % 2 == 0)) return;
    body.change().append(held);
    held.clear();
  }

  // --- events ---

  void step() {
    switch (next() % 16) {
      case 0:
      case 1:
        return ask();
      case 2:
      case 3:
        return sendBody();
      case 4:
        return clientEvent();
      case 5:
        return accept();
      case 6:
      case 7:
      case 8:
        return respond();
      case 9:
        return wireEvent();
      case 10:
      case 11:
        return answer();
      case 12:
        return pass();
      default:
        return require(rig_.settle(), "bytes come to rest");
    }
  }
  void ask() {
    const std::uint8_t kind = next();
    if (rig_.clients.size() < kMostClients && (rig_.clients.empty() || kind % 8 == 0)) {
      rig_.connect((kind & 16) != 0 ? http::Version::kHttp2 : http::Version::kHttp11);
    }
    const std::size_t index = kind % rig_.clients.size();
    ClientPeer& client = *rig_.clients[index];
    if (!client.idle() || asked_.size() == kMostRequests || client.wire().over()) return;
    HeadSpec spec;
    spec.target = "/ok/" + std::to_string(asked_.size());
    spec.method = (kind & 32) != 0 ? http::Method::kPut : (kind & 64) != 0 ? http::Method::kHead : http::Method::kGet;
    ProcessedRequest asked{.client = index, .stream = 0};
    asked.complete = spec.method != http::Method::kPut;
    asked.isHead = spec.method == http::Method::kHead;
    if (!asked.complete) spec.body = http::Body::kUntilEnd;
    spec.expectContinue = !asked.complete && (kind & 128) != 0;
    asked.stream = client.ask(spec);
    asked_.push_back(asked);
  }
  std::size_t size() { return std::size_t{next()} * (next() % 6 == 0 ? 500 : 9); }
  void sendBody() {
    if (asked_.empty()) return;
    const std::size_t number = next() % asked_.size();
    ProcessedRequest& asked = asked_[number];
    if (asked.complete) return;
    const std::size_t count = size();
    rig_.clients[asked.client]->body(asked.stream, pattern(number, asked.sent, count));
    asked.sent += count;
    if (next() % 3 != 0) return;
    asked.complete = true;
    rig_.clients[asked.client]->finish(asked.stream);
  }
  void clientEvent() {
    if (asked_.empty()) return;
    const ProcessedRequest& asked = asked_[next() % asked_.size()];
    ClientPeer& client = *rig_.clients[asked.client];
    const std::uint8_t how = next() % 8;
    if (how == 0) client.wire().reset();
    if (how == 1 && client.codec->version() == http::Version::kHttp2) client.cancel(asked.stream);
    if (how > 4) client.grants = !client.grants;
  }
  void accept() {
    while (rig_.backends.size() < rig_.dialled()) rig_.accept(rig_.backends.size(), version_);
  }
  void wireEvent() {
    if (rig_.dialled() == 0) return;
    Wire& wire = rig_.wire(next() % rig_.dialled());
    const std::uint8_t how = next() % 8;
    if (how == 0) wire.reset();
    if (how == 1) wire.refuse();
    if (how == 2) rig_.resolver.forget(Rig::kHost);
    if (how == 3) learn();
  }
  /// The name resolves to the same addresses every time.
  void learn() {
    rig_.resolver.know(Rig::kHost, {"192.0.2.1", "192.0.2.2", "127.0.0.1", "2001:db8::3"});
    rig_.resolver.answer();
  }
  void respond() {
    if (rig_.backends.empty()) return;
    const std::size_t at = next() % rig_.backends.size();
    BackendPeer& backend = *rig_.backends[at];
    served_.resize(rig_.backends.size());
    served_[at].resize(backend.requests());
    if (served_[at].empty()) return;
    const std::size_t index = next() % served_[at].size();
    ProcessedResponse& served = served_[at][index];
    const std::uint8_t kind = next();
    if (served.finished) return;
    if (!std::exchange(served.responded, true)) {
      const bool fails = kind % 8 == 7;
      if (kind % 8 == 6) {
        served.finished = true;
        return backend.reset(index, http::ResetReason::kFailed);
      }
      backend.head(index, {.fields = {{"x-from", "backend"}},
                           .body = http::Body::kUntilEnd,
                           .status = static_cast<std::uint16_t>(fails ? 503 : 200)});
    }
    const std::size_t count = size();
    const std::size_t number = std::stoul(std::string(backend.request(index).message.head.target.substr(4)));
    backend.body(index, pattern(number + 1000, served.sent, count));
    served.sent += count;
    if (next() % 2 == 0) return;
    served.finished = true;
    backend.finish(index);
  }
  /// Answers one of the steps that wait, however late.
  void answer() {
    if (waiting_.empty()) return;
    const net::Worker::Turn turn(rig_.worker);
    const std::size_t index = next() % waiting_.size();
    processing::Resumer resumer = std::move(waiting_[index]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(index));
    if (isIdle() || next() % 4 != 0) resumer.resume();
  }
  void answerAll() {
    const net::Worker::Turn turn(rig_.worker);
    for (processing::Resumer& each : std::exchange(waiting_, {})) each.resume();
  }
  void pass() {
    if (isIdle()) answerAll();
    constexpr int kMillis[] = {1, 50, 120, 199, 201, 1000, 3000, 61000};
    rig_.clock.advance(std::chrono::milliseconds(kMillis[next() % 8]));
    const net::Worker::Turn turn(rig_.worker);
  }

  // --- invariants ---

  void check() {
    require(rig_.quiet(), "the worker is quiet between turns");
    require(!rig_.toldTwice, "an exchange is told of once");
    if (kind_ != Kind::kFree) checkBodies();
  }
  /// Returns true if `body` begins like the pattern with this number, with a sum added to each byte that is 0 if no
  /// step adds anything.
  bool isOf(std::size_t number, const std::string& body) const {
    const std::string expected = pattern(number, 0, body.size());
    const int added = body.empty() || isIdle() ? 0 : body[0] - expected[0];
    return body == sum(expected, static_cast<char>(added));
  }
  void checkBodies() {
    for (const auto& backend : rig_.backends) {
      for (std::size_t i = 0; i < backend->requests(); ++i) {
        const auto& request = backend->request(i);
        const std::size_t number = std::stoul(std::string(request.message.head.target.substr(4)));
        require(isOf(number, request.body), "a request's body is the client's");
        if (request.ended && !request.reset) {
          require(asked_[number].complete && request.body.size() == asked_[number].sent, "a whole one is all of it");
        }
      }
    }
    for (std::size_t number = 0; number < asked_.size(); ++number) {
      const auto& answer = rig_.clients[asked_[number].client]->answer(asked_[number].stream);
      if (!answer.answered || answer.message.head.headers.find("x-from") == nullptr) continue;
      require(isOf(number + 1000, answer.body), "a response's body is the backend's");
      if (answer.ended && !asked_[number].isHead) {
        require(wasResponse(number, answer.body.size()), "a whole response is all of one");
      }
    }
  }
  /// Returns true if a backend has answered the request with a whole body of so many bytes.
  bool wasResponse(std::size_t number, std::size_t size) const {
    for (std::size_t at = 0; at < served_.size(); ++at) {
      for (std::size_t i = 0; i < served_[at].size(); ++i) {
        const auto& request = rig_.backends[at]->request(i);
        const bool isIts = std::stoul(std::string(request.message.head.target.substr(4))) == number;
        if (isIts && served_[at][i].finished && served_[at][i].sent == size) return true;
      }
    }
    return false;
  }
  void finish() {
    if (!violation_.empty()) return;
    learn();
    for (int i = 0; i < 12; ++i) {
      if (isIdle()) answerAll();
      rig_.advance(std::chrono::seconds(100));
      accept();
    }
    check();
    require(rig_.exchanges.size() == 0, "every exchange ends");
    require(rig_.budget().requests.count() == 0, "requests are counted down");
    require(rig_.exchanges.bufferRoom().used() == 0, "bodies give their bytes back");
    rig_.close();
    require(rig_.worker.chunks().inUse() == 0, "all memory came back");
    waiting_.clear();  // the latest possible answers
  }

  std::string_view bytes_;
  std::uint32_t random_;
  const Kind kind_;
  std::string violation_;
  http::Version version_ = http::Version::kHttp11;
  std::vector<processing::Resumer> waiting_;
  Rig rig_;
  std::vector<ProcessedRequest> asked_;
  std::vector<std::vector<ProcessedResponse>> served_;
};

}  // namespace sluice::test
