#include "filters/ext_proc/messages.h"

#include <algorithm>
#include <charconv>

#include "filters/ext_proc/external_processor.pb.h"
#include "proxy/base/text.h"
#include "proxy/http/field_grammar.h"

namespace sluice::filters::ext_proc {
namespace {

namespace wire = sluice::ext_proc;

constexpr const char* kOwnNamespace = "sluice.dev";
constexpr int kMostNesting = 64;  // of context

base::Error wrongAnswer(std::string what) {
  return {base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor, "the server's answer " + std::move(what)};
}

// --- what the gateway says -------------------------------------------------------------------------------------------

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
    to.set_string_value(from.text);
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
  }
  return wire::ProcessingMode::NONE;
}

void introduce(const Introduction* introduction, wire::ProcessingRequest& request) {
  if (introduction == nullptr) return;
  wire::ProtocolConfiguration& protocol = *request.mutable_protocol_config();
  protocol.set_request_body_mode(wireMode(introduction->modes.requestBody));
  protocol.set_response_body_mode(wireMode(introduction->modes.responseBody));
  wire::Struct& own = (*request.mutable_metadata_context()->mutable_filter_metadata())[kOwnNamespace];
  setStruct(introduction->context, own, 0);
  const auto name = [&](const char* key, std::string_view value) {
    if (!value.empty()) (*own.mutable_fields())[key].set_string_value(std::string(value));
  };
  name("gateway", introduction->place.gateway);
  name("route", introduction->place.route);
  name("backend", introduction->place.backend);
}

// --- what a server answers -------------------------------------------------------------------------------------------

/// A server may not change what the gateway answers for; such changes have no effect, as in Envoy.
bool isOwnField(std::string_view name) {
  return http::isReservedField(name) || name == "host" || name == "via" || name.starts_with(':') ||
         name.starts_with("x-envoy");
}

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

std::optional<std::uint16_t> statusFrom(std::string_view text) {
  std::uint16_t status = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
  if (error != std::errc() || end != text.data() + text.size() || status < 200 || status > 599) return std::nullopt;
  return status;
}

/// Reads one change into `changes`. Returns what is wrong with it; empty if nothing is.
std::string readChange(const wire::HeaderValueOption& option, HeaderChanges& changes) {
  const std::string& value =
      option.header().raw_value().empty() ? option.header().value() : option.header().raw_value();
  std::string name = base::toLower(option.header().key());
  if (!http::isFieldValue(value)) return "sets a header field to what is no value";
  if (name == ":path") {
    if (value.empty() || value.front() != '/') return "sets :path to what is no path";
    changes.path = value;
    return {};
  }
  if (name == ":status") {
    changes.status = statusFrom(value);
    return changes.status ? "" : "sets :status to what is no final status";
  }
  if (isOwnField(name)) return {};
  if (!http::isFieldName(name)) return "sets a header field whose name is none";
  if (value.empty() && !option.keep_empty_value()) return {};
  changes.set.push_back({std::move(name), value, actionOf(option)});
  return {};
}

base::Result<HeaderChanges> readChanges(const wire::HeaderMutation& mutation) {
  const auto count = static_cast<std::size_t>(mutation.set_headers_size() + mutation.remove_headers_size());
  if (count > HeaderChanges::kMost) return wrongAnswer("changes more header fields than it may");
  HeaderChanges changes;
  std::size_t bytes = 0;
  for (const wire::HeaderValueOption& option : mutation.set_headers()) {
    bytes += option.header().key().size() + option.header().raw_value().size() + option.header().value().size();
    if (bytes > HeaderChanges::kMostBytes) return wrongAnswer("has more bytes of header fields than it may");
    if (std::string wrong = readChange(option, changes); !wrong.empty()) return wrongAnswer(std::move(wrong));
  }
  for (const std::string& each : mutation.remove_headers()) {
    std::string name = base::toLower(each);
    if (!isOwnField(name)) changes.remove.push_back(std::move(name));
  }
  return changes;
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
      return wrongAnswer("has a streamed_response, which is for bodies in full duplex");
    case wire::BodyMutation::MUTATION_NOT_SET:
      break;
  }
  return answer;
}

base::Result<ImmediateAnswer> readImmediate(const wire::ImmediateResponse& response) {
  ImmediateAnswer answer;
  const auto status = statusFrom(std::to_string(response.status().code()));
  if (!status) return wrongAnswer("is an immediate one without a final status");
  answer.status = *status;
  auto changes = readChanges(response.headers());
  if (!changes) return std::move(changes).error();
  answer.headers = *std::move(changes);
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
    default:
      return BodyForm::kSkipped;
  }
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
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string_view partName(Part part) {
  switch (part) {
    case Part::kRequestHeaders:
      return "request headers";
    case Part::kRequestBody:
      return "request body";
    case Part::kResponseHeaders:
      return "response headers";
    case Part::kResponseBody:
      return "response body";
  }
  return "";
}

std::string requestHeadersMessage(const http::RequestHead& head, bool ends, const Introduction* introduction) {
  wire::ProcessingRequest request;
  wire::HttpHeaders& said = *request.mutable_request_headers();
  wire::HeaderMap& map = *said.mutable_headers();
  addField(map, ":method", head.methodText);
  addField(map, ":scheme", http::schemeName(head.scheme));
  addField(map, ":authority", head.authority);
  addField(map, ":path", head.openTarget());
  addFields(map, head.headers);
  if (head.body == http::Body::kLength) addField(map, "content-length", std::to_string(head.contentLength));
  said.set_end_of_stream(ends);
  introduce(introduction, request);
  return request.SerializeAsString();
}

std::string responseHeadersMessage(const http::ResponseHead& head, bool ends, const Introduction* introduction) {
  wire::ProcessingRequest request;
  wire::HttpHeaders& said = *request.mutable_response_headers();
  wire::HeaderMap& map = *said.mutable_headers();
  addField(map, ":status", std::to_string(head.status));
  addFields(map, head.headers);
  if (head.contentLength) addField(map, "content-length", std::to_string(*head.contentLength));
  said.set_end_of_stream(ends);
  introduce(introduction, request);
  return request.SerializeAsString();
}

std::string bodyMessage(Part part, std::string body, bool ends, const Introduction* introduction) {
  wire::ProcessingRequest request;
  wire::HttpBody& said =
      part == Part::kRequestBody ? *request.mutable_request_body() : *request.mutable_response_body();
  said.set_body(std::move(body));
  said.set_end_of_stream(ends);
  introduce(introduction, request);
  return request.SerializeAsString();
}

base::Result<ServerAnswer> readServerAnswer(std::string_view message) {
  wire::ProcessingResponse response;
  if (!response.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return wrongAnswer("is no ProcessingResponse");
  }
  ServerAnswer answer;
  if (response.response_case() == wire::ProcessingResponse::kImmediateResponse) {
    auto immediate = readImmediate(response.immediate_response());
    if (!immediate) return std::move(immediate).error();
    answer.immediate = *std::move(immediate);
    return answer;
  }
  auto part = partIn(response);
  if (!part) return wrongAnswer("is to nothing that was said");
  if (!*part) return std::move(*part).error();
  answer.part = **std::move(part);
  if (response.has_mode_override()) {
    const wire::ProcessingMode& mode = response.mode_override();
    answer.modes =
        ProcessingModes{mode.request_header_mode() != wire::ProcessingMode::SKIP, formOf(mode.request_body_mode()),
                        mode.response_header_mode() != wire::ProcessingMode::SKIP, formOf(mode.response_body_mode())};
  }
  return answer;
}

}  // namespace sluice::filters::ext_proc
