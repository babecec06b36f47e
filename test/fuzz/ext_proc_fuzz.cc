// Runs the steps of an external processor whose server sends anything, including well-formed answers in any order, for
// any request and response. The heads keep to RFC 9110's grammar, the fields of the gateway stay, a body that the
// server has not changed goes on as it came, and the steps come to an end.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filters/ext_proc/ext_proc.h"
#include "filters/ext_proc/external_processor.pb.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/grpc.h"
#include "proxy/processing/pipeline.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/fake_host.h"
#include "test/support/server_stream.h"

namespace sluice::test {
namespace {

namespace wire = sluice::ext_proc;
using content::Value;
using processing::Phase;

constexpr std::string_view kNames[] = {"x-a",
                                       "host",
                                       "content-length",
                                       "connection",
                                       ":path",
                                       ":status",
                                       "x b",
                                       "X-A",
                                       ":authority",
                                       "transfer-encoding",
                                       "te",
                                       "x-envoy-a",
                                       "via",
                                       "keep-alive",
                                       "trailer",
                                       "expect",
                                       "",
                                       ":method",
                                       "x-b",
                                       "content-type"};
/// The fields that no server may set in a head.
constexpr std::string_view kOfGateway[] = {"host", "content-length", "connection", "transfer-encoding", "te",
                                           "via",  "keep-alive",     "trailer",    "x-envoy-a"};
constexpr const char* kBodyForms[] = {"Skip", "Streamed", "Buffered", "BufferedPartial", "FullDuplexStreamed"};

void add(Value& map, std::string_view key, Value value) {
  content::Member& member = map.members.emplace_back();
  member.key = key;
  member.value = std::move(value);
}
void add(Value& map, std::string_view key, std::string_view text, Value::Kind kind = Value::Kind::kString) {
  Value value;
  value.kind = kind;
  value.text = text;
  add(map, key, std::move(value));
}
Value emptyMap() {
  Value map;
  map.kind = Value::Kind::kMap;
  return map;
}

/// Leads each reference to one server, and knows no Secret.
class OneServer final : public processing::TargetLookup, public processing::SecretLookup {
 public:
  processing::FoundBackend find(const Value&, bool) const override { return {server_, {}}; }
  processing::FoundSecret find(std::string_view, std::string_view, std::string_view) const override { return {}; }

 private:
  const std::shared_ptr<const processing::CalloutTarget> server_ = std::make_shared<processing::CalloutTarget>();
};

/// Makes answers of the bytes of an input.
class AnswerMaker {
 public:
  explicit AnswerMaker(FuzzInput& input) : input_(input) {}

  /// Returns true if an answer so far may have changed a body.
  bool hasChangedBodies() const { return changesBodies_; }

  wire::ProcessingResponse make() {
    wire::ProcessingResponse answer;
    const std::uint8_t more = input_.byte();
    switch (input_.byte() % 8) {
      case 0:
        fill(*answer.mutable_request_headers()->mutable_response(), more);
        break;
      case 1:
        fill(*answer.mutable_response_headers()->mutable_response(), more);
        break;
      case 2:
        fill(*answer.mutable_request_body()->mutable_response(), more);
        break;
      case 3:
        fill(*answer.mutable_response_body()->mutable_response(), more);
        break;
      case 4:
        fill(*answer.mutable_request_trailers()->mutable_header_mutation(), more);
        break;
      case 5:
        fill(*answer.mutable_response_trailers()->mutable_header_mutation(), more);
        break;
      case 6:
        answer.mutable_immediate_response()->mutable_status()->set_code(input_.byte() * 4);
        fill(*answer.mutable_immediate_response()->mutable_headers(), more);
        answer.mutable_immediate_response()->set_body(std::string(input_.piece(64)));
        break;
      default:
        answer.mutable_override_message_timeout()->set_seconds(static_cast<std::int8_t>(input_.byte()));
        break;
    }
    if ((more & 64) != 0) choose(*answer.mutable_mode_override());
    if ((more & 128) != 0) {
      wire::Struct& own = *(*answer.mutable_dynamic_metadata()->mutable_fields())["sluice.dev"].mutable_struct_value();
      (*own.mutable_fields())[std::string(name())].set_string_value(std::string(input_.piece(8)));
    }
    return answer;
  }

 private:
  std::string_view name() { return kNames[input_.byte() % std::size(kNames)]; }

  void fill(wire::HeaderMutation& mutation, std::uint8_t more) {
    for (int i = more % 4; i > 0; --i) {
      wire::HeaderValueOption& option = *mutation.add_set_headers();
      option.mutable_header()->set_key(std::string(name()));
      option.mutable_header()->set_raw_value(std::string(input_.piece(8)));
      option.set_append_action(static_cast<wire::HeaderValueOption::AppendAction>(input_.byte() % 4));
    }
    if ((more & 4) != 0) mutation.add_remove_headers(std::string(name()));
  }

  void fill(wire::CommonResponse& response, std::uint8_t more) {
    fill(*response.mutable_header_mutation(), more);
    if ((more & 8) != 0) response.set_status(wire::CommonResponse::CONTINUE_AND_REPLACE);
    if ((more & 16) != 0) response.set_clear_route_cache(true);
    changesBodies_ = changesBodies_ || (more & (8 | 32)) != 0;
    if ((more & 32) == 0) return;
    wire::BodyMutation& mutation = *response.mutable_body_mutation();
    const std::uint8_t kind = input_.byte();
    if (kind % 3 == 0) mutation.set_body(std::string(input_.piece(200)));
    if (kind % 3 == 1) mutation.set_clear_body(kind % 2 == 0);
    if (kind % 3 == 2) {
      mutation.mutable_streamed_response()->set_body(std::string(input_.piece(200)));
      mutation.mutable_streamed_response()->set_end_of_stream(kind % 4 == 0);
    }
  }

  void choose(wire::ProcessingMode& mode) {
    const auto body = [&] { return static_cast<wire::ProcessingMode::BodySendMode>(input_.byte() % 7); };
    mode.set_request_body_mode(body());
    mode.set_response_body_mode(body());
    mode.set_response_header_mode(static_cast<wire::ProcessingMode::HeaderSendMode>(input_.byte() % 3));
    mode.set_request_trailer_mode(static_cast<wire::ProcessingMode::HeaderSendMode>(input_.byte() % 3));
    mode.set_response_trailer_mode(static_cast<wire::ProcessingMode::HeaderSendMode>(input_.byte() % 3));
  }

  FuzzInput& input_;
  bool changesBodies_ = false;
};

/// The request or the response on its way through its steps.
struct MessageWay {
  explicit MessageWay(base::ChunkPool& pool) : out(pool) {}

  std::optional<processing::Pipeline> pipeline;
  base::ByteQueue out;
  std::string given;
  std::string taken;
  bool refused = false;
};

class ServerCourse {
 public:
  explicit ServerCourse(FuzzInput& input) : input_(input), answers_(input) {
    host_.limits = {std::uint64_t{64} * 1024, 4096, std::uint64_t{64} * 1024, 10};
    host_.answers = [this](processing::Ticket ticket, bool dropped) { due_.emplace_back(ticket, dropped); };
    request_.target = "/";
    request_.methodText = "POST";
    request_.headers.add(arena_, "x-a", "1");
    response_.status = 200;
    response_.headers.add(arena_, "x-a", "1");
  }
  ~ServerCourse() {
    host_.answers = {};
    for (MessageWay& way : ways_) way.pipeline.reset();
    holds_.release();
  }

  void run() {
    if (!configure()) return;
    begin(0);
    while (!input_.empty()) {
      act(input_.byte());
      settle();
    }
    check();
  }

 private:
  bool configure() {
    const std::uint8_t bits = input_.byte();
    const std::uint8_t forms = input_.byte();
    Value refs;
    refs.kind = Value::Kind::kList;
    refs.items.push_back(emptyMap());
    add(refs.items.front(), "name", "server");
    add(config_, "backendRefs", refs);
    Value modes = emptyMap();
    add(modes, "requestHeaders", (bits & 1) != 0 ? "Skip" : "Send");
    add(modes, "responseHeaders", (bits & 2) != 0 ? "Skip" : "Send");
    add(modes, "requestTrailers", (bits & 4) != 0 ? "Send" : "Skip");
    add(modes, "responseTrailers", (bits & 8) != 0 ? "Send" : "Skip");
    add(modes, "requestBody", kBodyForms[forms % 5]);
    add(modes, "responseBody", kBodyForms[forms / 5 % 5]);
    add(config_, "processingMode", modes);
    add(config_, "allowModeOverride", (bits & 16) != 0 ? "true" : "false", Value::Kind::kBool);
    add(config_, "observabilityMode", (bits & 32) != 0 ? "true" : "false", Value::Kind::kBool);
    add(config_, "protocol", (bits & 64) != 0 ? "PayloadProcessor" : "ExternalProcessor");
    add(config_, "maxMessageTimeout", "60s");
    const bool failsOpen = (bits & 128) != 0;
    const OneServer server;
    const processing::BuiltinType type = filters::extProc();
    constexpr std::uint8_t kAll = (1U << processing::kPhases) - 1;
    processing::Made made =
        type.make({"Backend demo/api", "use", Phase::kRequestHeaders, kAll, false, config_, server, server, states_});
    if (made.processor == nullptr) return false;
    std::vector<processing::Step> steps;
    for (const Phase phase : made.processor->phases()) {
      processing::Step& step = steps.emplace_back();
      step.processor = made.processor;
      step.phase = phase;
      step.scope = processing::Scope::kRoute;
      step.failOpen = failsOpen;
      step.body = made.processor->body(phase);
    }
    chain_.emplace(std::move(steps));
    return true;
  }

  void begin(std::size_t which) {
    MessageWay& way = ways_[which];
    if (way.pipeline) return;
    const bool isResponse = which == 1;
    const http::Body body = input_.byte() % 4 == 0 ? http::Body::kNone : http::Body::kUntilEnd;
    (isResponse ? response_.body : request_.body) = body;
    const processing::Chains chains{nullptr, &*chain_, nullptr};
    const Phase ofBody = isResponse ? Phase::kResponseBody : Phase::kRequestBody;
    const bool wanted = processing::wantsBody(chains, processing::bitOf(ofBody));
    way.pipeline.emplace(host_,
                         processing::StepTarget{request_, isResponse ? &response_ : nullptr, arena_, holds_,
                                                isResponse ? nullptr : &wish_},
                         pool_, processing::bodyPath(body, wanted));
    way.pipeline->append(chains, isResponse ? Phase::kResponseHeaders : Phase::kRequestHeaders);
    way.pipeline->append(chains, ofBody);
    way.pipeline->seal();
  }

  void act(std::uint8_t what) {
    MessageWay& way = ways_[what / 16 % 2];
    switch (what % 9) {
      case 0:
        return bring(http::frameGrpcMessage(answers_.make().SerializeAsString()));
      case 1:
        rude_ = true;
        return bring(http::frameGrpcMessage(input_.piece(64)));
      case 2:
        rude_ = true;
        return bring(input_.piece(16));
      case 3:
        if (stream() != nullptr) stream()->finish(input_.byte() % 2 == 0 ? "0" : "14");
        return;
      case 4:
        return give(way);
      case 5:
        return end(way);
      case 6:
        begin(1);
        return;
      case 7:
        host_.time.advance(std::chrono::milliseconds(300));
        for (MessageWay& each : ways_) {
          if (each.pipeline && !each.refused) each.pipeline->expire(host_.time.now());
        }
        return;
      default:
        way.taken += way.out.text();
        way.out.clear();
        return;
    }
  }

  ServerStream* stream() {
    const bool isOpen = services_.stream != nullptr && services_.left == nullptr && !services_.stream->over();
    return isOpen ? services_.stream : nullptr;
  }
  void bring(std::string_view bytes) {
    if (stream() != nullptr) stream()->bring(bytes);
  }
  void give(MessageWay& way) {
    const std::string_view bytes = input_.piece(500);
    if (!way.pipeline || way.refused || !way.pipeline->carries() || !way.pipeline->isOpen()) return;
    std::string repeated;
    while (repeated.size() < bytes.size() * 40) repeated += bytes;
    if (repeated.size() > way.pipeline->room(way.out.size())) return;
    way.given += repeated;
    way.pipeline->source.append(repeated);
  }
  void end(MessageWay& way) {
    std::optional<http::Trailers> trailers;
    if (input_.byte() % 2 == 0) {
      trailers.emplace(pool_);
      trailers->fields.add(trailers->arena, "x-sum", "1");
    }
    if (way.pipeline && !way.refused && way.pipeline->isOpen()) way.pipeline->end(std::move(trailers));
  }

  /// Moves both ways until nothing is due.
  void settle() {
    constexpr int kMostTurns = 1000;
    for (int turn = 0;; ++turn) {
      require(turn < kMostTurns, "the steps come to rest");
      for (MessageWay& way : ways_) move(way);
      for (const processing::Ticket ticket : std::exchange(host_.later, {})) due_.emplace_back(ticket, false);
      if (due_.empty()) return;
      for (const auto& [ticket, dropped] : std::exchange(due_, {})) {
        for (MessageWay& way : ways_) {
          if (way.pipeline && !way.refused) way.pipeline->answer(ticket, dropped);
        }
      }
    }
  }
  static void move(MessageWay& way) {
    using Outcome = processing::Pipeline::Outcome;
    if (!way.pipeline || way.refused) return;
    Outcome outcome = way.pipeline->go(way.out, 0);
    while (outcome == Outcome::kMatchAgain) outcome = way.pipeline->go(way.out, 0);
    way.refused = outcome == Outcome::kRefused;
  }

  void check() {
    checkFields(request_.headers);
    checkFields(response_.headers);
    require(request_.target.starts_with('/'), "the target is a path");
    require(response_.status >= 200 && response_.status <= 599, "the status is final");
    for (const http::Field& hint : wish_.hints) require(http::isFieldName(hint.name), "a hint has a name");
    if (rude_ || answers_.hasChangedBodies()) return;
    for (MessageWay& way : ways_) {
      way.taken += way.out.text();
      require(way.given.starts_with(way.taken), "a body that nobody has changed goes on as it came");
      const bool isThrough = way.pipeline && !way.refused && way.pipeline->tookEnd();
      require(!isThrough || way.taken == way.given, "and whole");
    }
  }
  static void checkFields(const http::Headers& headers) {
    for (const http::Field& field : headers) {
      require(http::isFieldName(field.name) && http::isFieldValue(field.value), "fields have names and values");
      require(std::find(std::begin(kOfGateway), std::end(kOfGateway), field.name) == std::end(kOfGateway),
              "what is the gateway's stays");
    }
  }

  FuzzInput& input_;
  AnswerMaker answers_;
  bool rude_ = false;  // the server has sent something that the course does not understand
  StreamServices services_;
  processing::FakeHost host_{&services_};
  base::ChunkPool pool_;
  base::Arena arena_{pool_};
  http::RequestHead request_;
  http::ResponseHead response_;
  processing::RouteWish wish_;
  processing::Holds holds_;
  Value config_ = emptyMap();
  processing::SharedStates states_;
  std::optional<processing::Chain> chain_;
  std::vector<std::pair<processing::Ticket, bool>> due_;
  std::array<MessageWay, 2> ways_{MessageWay(pool_), MessageWay(pool_)};
};

}  // namespace
}  // namespace sluice::test

int sluice::test::fuzzExtProc(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  ServerCourse(input).run();
  return 0;
}
