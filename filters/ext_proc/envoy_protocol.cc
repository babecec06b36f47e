#include <charconv>
#include <chrono>
#include <optional>

#include "filters/ext_proc/external_processor.pb.h"
#include "filters/ext_proc/header_collector.h"
#include "filters/ext_proc/protocol.h"
#include "filters/wire_text.h"

namespace sluice::filters::ext_proc {
namespace {

namespace wire = sluice::ext_proc;

/// The namespace of metadata for the gateway's own values, and for route hints of servers.
constexpr const char* kOwnNamespace = "sluice.dev";
/// The name under which Envoy's filter sends attributes, and servers look for them.
constexpr const char* kAttributes = "envoy.filters.http.ext_proc";
constexpr int kMostNesting = 64;  // of context
constexpr int kMostHints = 16;
constexpr std::int64_t kMostPatience = 24 * 60 * 60;  // seconds of a message timeout

base::Error wrongAnswer(std::string what) {
  return {base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor, "the server's answer " + std::move(what)};
}

// --- messages of the gateway -----------------------------------------------------------------------------------------

void addField(wire::HeaderMap& map, std::string_view name, std::string_view value) {
  wire::HeaderValue& header = *map.add_headers();
  header.set_key(name.data(), name.size());
  header.set_raw_value(value.data(), value.size());
}

void addFields(wire::HeaderMap& map, const http::Headers& headers) {
  for (const http::Field& field : headers) {
    if (!http::isInjected(field.care)) addField(map, field.name, field.value);
  }
}

void setValue(const content::Value& from, wire::Value& to, int depth);

void setStruct(const content::Value& from, wire::Struct& to, int depth) {
  for (const content::Member& member : from.members) setValue(member.value, (*to.mutable_fields())[member.key], depth);
}

void setValue(const content::Value& from, wire::Value& to, int depth) {
  using Kind = content::Value::Kind;
  if (from.kind == Kind::kMap && depth < kMostNesting) {
    setStruct(from, *to.mutable_struct_value(), depth + 1);
  } else if (from.kind == Kind::kList && depth < kMostNesting) {
    wire::ListValue& list = *to.mutable_list_value();
    for (const content::Value& item : from.items) setValue(item, *list.add_values(), depth + 1);
  } else if (from.kind == Kind::kBool) {
    to.set_bool_value(from.text == "true");
  } else if (from.kind == Kind::kNumber) {
    double number = 0;
    std::from_chars(from.text.data(), from.text.data() + from.text.size(), number);
    to.set_number_value(number);
  } else if (from.kind == Kind::kString) {
    to.set_string_value(readableText(from.text));
  } else {
    to.set_null_value(0);
  }
}

wire::ProcessingMode::BodySendMode wireMode(BodyForm form) {
  switch (form) {
    case BodyForm::kSkipped:
      return wire::ProcessingMode::NONE;
    case BodyForm::kStreamed:
      return wire::ProcessingMode::STREAMED;
    case BodyForm::kBuffered:
      return wire::ProcessingMode::BUFFERED;
    case BodyForm::kBufferedPartial:
      return wire::ProcessingMode::BUFFERED_PARTIAL;
    case BodyForm::kFullDuplex:
      return wire::ProcessingMode::FULL_DUPLEX_STREAMED;
  }
  return wire::ProcessingMode::NONE;
}

void introduce(const Introduction& introduction, wire::ProcessingRequest& request) {
  wire::ProtocolConfiguration& protocol = *request.mutable_protocol_config();
  protocol.set_request_body_mode(wireMode(introduction.modes.request.body));
  protocol.set_response_body_mode(wireMode(introduction.modes.response.body));
  wire::Struct place;
  const auto name = [&](const char* key, std::string_view value) {
    if (!value.empty()) (*place.mutable_fields())[key].set_string_value(std::string(value));
  };
  name("gateway", introduction.place.gateway);
  name("route", introduction.place.route);
  name("backend", introduction.place.backend);
  // Two concatenated messages are one message with the fields of both. If both have a key, the last value is used.
  std::string& own = (*request.mutable_metadata_context()->mutable_filter_metadata())[kOwnNamespace];
  own = introduction.context;
  place.AppendToString(&own);
}

void setRequestHeaders(const http::RequestHead& head, wire::HttpHeaders& said) {
  wire::HeaderMap& map = *said.mutable_headers();
  addField(map, ":method", head.methodText);
  addField(map, ":scheme", http::schemeName(head.scheme));
  addField(map, ":authority", head.authority);
  addField(map, ":path", head.openTarget());
  addFields(map, head.headers);
  if (head.body == http::Body::kLength) addField(map, "content-length", std::to_string(head.contentLength));
}

void setResponseHeaders(const http::ResponseHead& head, wire::HttpHeaders& said) {
  wire::HeaderMap& map = *said.mutable_headers();
  addField(map, ":status", std::to_string(head.status));
  addFields(map, head.headers);
  if (head.contentLength) addField(map, "content-length", std::to_string(*head.contentLength));
}

void setBody(const Statement& statement, wire::HttpBody& said) {
  said.set_body(statement.body);
  said.set_end_of_stream(statement.ends);
}

void setPart(const Statement& statement, wire::ProcessingRequest& request) {
  switch (statement.part) {
    case Part::kRequestHeaders:
      if (statement.request != nullptr) setRequestHeaders(*statement.request, *request.mutable_request_headers());
      return request.mutable_request_headers()->set_end_of_stream(statement.ends);
    case Part::kResponseHeaders:
      setResponseHeaders(*statement.response, *request.mutable_response_headers());
      return request.mutable_response_headers()->set_end_of_stream(statement.ends);
    case Part::kRequestBody:
      return setBody(statement, *request.mutable_request_body());
    case Part::kResponseBody:
      return setBody(statement, *request.mutable_response_body());
    case Part::kRequestTrailers:
      return addFields(*request.mutable_request_trailers()->mutable_trailers(), *statement.trailers);
    case Part::kResponseTrailers:
      return addFields(*request.mutable_response_trailers()->mutable_trailers(), *statement.trailers);
  }
}

// --- answers of a server ---------------------------------------------------------------------------------------------

HeaderChange::Action actionOf(const wire::HeaderValueOption& option) {
  if (option.has_append()) {  // the older form of append_action
    return option.append().value() ? HeaderChange::Action::kAppend : HeaderChange::Action::kOverwrite;
  }
  switch (option.append_action()) {
    case wire::HeaderValueOption::ADD_IF_ABSENT:
      return HeaderChange::Action::kAddIfAbsent;
    case wire::HeaderValueOption::OVERWRITE_IF_EXISTS_OR_ADD:
      return HeaderChange::Action::kOverwrite;
    case wire::HeaderValueOption::OVERWRITE_IF_EXISTS:
      return HeaderChange::Action::kOverwriteIfPresent;
    default:
      return HeaderChange::Action::kAppend;
  }
}

/// Collects the changes up to the first invalid one.
void collect(const wire::HeaderMutation& mutation, HeaderCollector& changes) {
  for (const wire::HeaderValueOption& option : mutation.set_headers()) {
    const wire::HeaderValue& header = option.header();
    const std::string& value = header.raw_value().empty() ? header.value() : header.raw_value();
    changes.set(header.key(), value, actionOf(option), option.keep_empty_value());
    if (!changes.wrong().empty()) return;
  }
  for (const std::string& name : mutation.remove_headers()) changes.remove(name);
}

base::Result<HeaderChanges> readChanges(const wire::HeaderMutation& mutation) {
  HeaderCollector changes;
  collect(mutation, changes);
  if (!changes.wrong().empty()) return wrongAnswer(changes.wrong());
  return changes.take();
}

base::Result<PartAnswer> readPart(Part part, const wire::CommonResponse& response) {
  PartAnswer answer;
  answer.part = part;
  answer.replaces = response.status() == wire::CommonResponse::CONTINUE_AND_REPLACE;
  answer.clearsRoute = response.clear_route_cache();
  auto changes = readChanges(response.header_mutation());
  if (!changes) return std::move(changes).error();
  answer.headers = *std::move(changes);
  switch (response.body_mutation().mutation_case()) {
    case wire::BodyMutation::kBody:
      answer.body = response.body_mutation().body();
      break;
    case wire::BodyMutation::kClearBody:
      if (response.body_mutation().clear_body()) answer.body.emplace();
      break;
    case wire::BodyMutation::kStreamedResponse:
      answer.body = response.body_mutation().streamed_response().body();
      answer.streams = true;
      answer.ends = response.body_mutation().streamed_response().end_of_stream();
      break;
    case wire::BodyMutation::MUTATION_NOT_SET:
      break;
  }
  return answer;
}

/// Reads an answer that takes the place of the Backend's. It refuses the request in any case, so fields that an answer
/// may not have are left out, and an invalid status becomes 500.
ImmediateAnswer readImmediate(const wire::ImmediateResponse& response) {
  ImmediateAnswer answer;
  answer.status = finalStatus(std::to_string(response.status().code())).value_or(500);
  HeaderCollector changes;
  collect(response.headers(), changes);
  answer.headers = changes.take();
  answer.body = response.body();
  if (response.has_grpc_status()) answer.grpcStatus = response.grpc_status().status();
  return answer;
}

BodyForm formOf(wire::ProcessingMode::BodySendMode mode) {
  switch (mode) {
    case wire::ProcessingMode::STREAMED:
      return BodyForm::kStreamed;
    case wire::ProcessingMode::BUFFERED:
      return BodyForm::kBuffered;
    case wire::ProcessingMode::BUFFERED_PARTIAL:
      return BodyForm::kBufferedPartial;
    case wire::ProcessingMode::NONE:
      return BodyForm::kSkipped;
    default:  // no server may choose those
      return BodyForm::kFullDuplex;
  }
}

ProcessingModes modesOf(const wire::ProcessingMode& mode) {
  return {{mode.request_header_mode() != wire::ProcessingMode::SKIP, formOf(mode.request_body_mode()),
           mode.request_trailer_mode() == wire::ProcessingMode::SEND},
          {mode.response_header_mode() != wire::ProcessingMode::SKIP, formOf(mode.response_body_mode()),
           mode.response_trailer_mode() == wire::ProcessingMode::SEND}};
}

base::Result<PartAnswer> readTrailers(Part part, const wire::TrailersResponse& response) {
  PartAnswer answer;
  answer.part = part;
  auto changes = readChanges(response.header_mutation());
  if (!changes) return std::move(changes).error();
  answer.headers = *std::move(changes);
  return answer;
}

/// Reads the route hints: strings of the gateway's own namespace. All other metadata is ignored.
base::Result<std::vector<std::pair<std::string, std::string>>> readHints(const wire::Struct& metadata) {
  std::vector<std::pair<std::string, std::string>> hints;
  const auto own = metadata.fields().find(kOwnNamespace);
  if (own == metadata.fields().end()) return hints;
  HeaderCollector checked;
  if (own->second.struct_value().fields_size() > kMostHints) return wrongAnswer("has more route hints than it may");
  for (const auto& [name, value] : own->second.struct_value().fields()) {
    checked.set(name, value.string_value(), HeaderChange::Action::kOverwrite, false);
  }
  if (!checked.wrong().empty()) return wrongAnswer(checked.wrong());
  for (HeaderChange& each : checked.take().set) hints.emplace_back(std::move(each.name), std::move(each.value));
  return hints;
}

/// Returns the answer to a part, if this is one.
std::optional<base::Result<PartAnswer>> partIn(const wire::ProcessingResponse& response) {
  switch (response.response_case()) {
    case wire::ProcessingResponse::kRequestHeaders:
      return readPart(Part::kRequestHeaders, response.request_headers().response());
    case wire::ProcessingResponse::kResponseHeaders:
      return readPart(Part::kResponseHeaders, response.response_headers().response());
    case wire::ProcessingResponse::kRequestBody:
      return readPart(Part::kRequestBody, response.request_body().response());
    case wire::ProcessingResponse::kResponseBody:
      return readPart(Part::kResponseBody, response.response_body().response());
    case wire::ProcessingResponse::kRequestTrailers:
      return readTrailers(Part::kRequestTrailers, response.request_trailers());
    case wire::ProcessingResponse::kResponseTrailers:
      return readTrailers(Part::kResponseTrailers, response.response_trailers());
    default:
      return std::nullopt;
  }
}

base::Result<ServerAnswer> readWithoutPart(const wire::ProcessingResponse& response) {
  ServerAnswer answer;
  if (response.response_case() == wire::ProcessingResponse::kImmediateResponse) {
    answer.immediate = readImmediate(response.immediate_response());
    return answer;
  }
  if (!response.has_override_message_timeout()) return wrongAnswer("is to nothing that was said");
  const wire::Duration& patience = response.override_message_timeout();
  if (patience.seconds() < 0 || patience.seconds() > kMostPatience || patience.nanos() < 0) {
    return wrongAnswer("has a message timeout that is none");
  }
  answer.patience = std::chrono::seconds(patience.seconds()) + std::chrono::nanoseconds(patience.nanos());
  return answer;
}

class ExternalProcessorProtocol final : public Protocol {
 public:
  std::string_view path() const override { return "/envoy.service.ext_proc.v3.ExternalProcessor/Process"; }

  std::string write(const Statement& statement) const override {
    wire::ProcessingRequest request;
    setPart(statement, request);
    if (statement.introduction != nullptr) introduce(*statement.introduction, request);
    if (!statement.attributes.members.empty()) {
      setStruct(statement.attributes, (*request.mutable_attributes())[kAttributes], 0);
    }
    request.set_observability_mode(statement.observed);
    return request.SerializeAsString();
  }

  std::string writeContext(const content::Value& context) const override {
    wire::Struct values;
    setStruct(context, values, 0);
    return values.SerializeAsString();
  }

  base::Result<ServerAnswer> read(std::string_view message, Part /*oldest*/) const override {
    wire::ProcessingResponse response;
    if (!response.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      return wrongAnswer("is no ProcessingResponse");
    }
    auto part = partIn(response);
    if (!part) return readWithoutPart(response);
    if (!*part) return std::move(*part).error();
    ServerAnswer answer;
    answer.part = **std::move(part);
    if (response.has_mode_override() && isHeaders(answer.part->part)) answer.modes = modesOf(response.mode_override());
    auto hints = readHints(response.dynamic_metadata());
    if (!hints) return std::move(hints).error();
    answer.hints = *std::move(hints);
    return answer;
  }
};

}  // namespace

const Protocol& externalProcessor() {
  static const ExternalProcessorProtocol kProtocol;
  return kProtocol;
}

}  // namespace sluice::filters::ext_proc
