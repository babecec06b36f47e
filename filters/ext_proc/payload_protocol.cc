#include <optional>

#include "filters/ext_proc/header_collector.h"
#include "filters/ext_proc/payload_processor.pb.h"
#include "filters/ext_proc/protocol.h"
#include "filters/wire_text.h"

namespace sluice::filters::ext_proc {
namespace {

namespace messages = sluice::payload_processing;

base::Error refusedAction(std::string what) {
  return {base::ErrorType::kProcessorFailed, base::ErrorOrigin::kProcessor, "the server's action " + std::move(what)};
}

template <typename Message>
void addHeaders(const http::Headers& headers, Message& message) {
  for (const http::Field& field : headers) {
    if (http::isInjected(field.care)) continue;
    messages::HttpHeader& header = *message.add_headers();
    header.set_name(field.name.data(), field.name.size());
    header.set_value(field.value.data(), field.value.size());
  }
}

void setRequest(const Statement& statement, messages::HttpRequestHeaders& said) {
  const http::RequestHead& head = *statement.request;
  said.set_method(std::string(head.methodText));
  said.set_path(readableText(head.openTarget()));
  said.set_authority(readableText(head.authority));
  said.set_scheme(std::string(http::schemeName(head.scheme)));
  addHeaders(head.headers, said);
  said.set_end_of_stream(statement.ends);
}

void setResponse(const Statement& statement, messages::HttpResponseHeaders& said) {
  said.set_status_code(statement.response->status);
  addHeaders(statement.response->headers, said);
  said.set_end_of_stream(statement.ends);
}

/// Adds the objects to which the exchange belongs to the values of the context.
void putPlace(const processing::Place& place, messages::PayloadPhase& phase) {
  auto& context = *phase.mutable_context();
  const auto name = [&](const char* key, std::string_view value) {
    if (!value.empty()) context[key] = std::string(value);
  };
  name("gateway", place.gateway);
  name("route", place.route);
  name("backend", place.backend);
}

base::Result<HeaderChanges> readMutation(const messages::HeaderMutation& mutation) {
  HeaderCollector changes;
  for (const messages::HttpHeader& header : mutation.set_headers()) {
    changes.set(header.name(), header.value(), HeaderChange::Action::kOverwrite, true);
  }
  for (const std::string& name : mutation.remove_headers()) changes.remove(name);
  if (!changes.wrong().empty()) return refusedAction(changes.wrong());
  return changes.take();
}

/// A server can only ask for fewer parts than it gets.
ProcessingModes whatIsLeft(const messages::EndPhases& ended) {
  const auto formUnless = [](bool over) { return over ? BodyForm::kSkipped : BodyForm::kStreamed; };
  return {{true, formUnless(ended.request_body()), false},
          {!ended.response(), formUnless(ended.response() || ended.response_body()), false}};
}

base::Result<ServerAnswer> readContinue(const messages::Continue& action, Part part) {
  ServerAnswer answer;
  PartAnswer& told = answer.part.emplace();
  told.part = part;
  told.holds = action.hold();
  auto changes = readMutation(action.header_mutation());
  if (!changes) return std::move(changes).error();
  told.headers = *std::move(changes);
  switch (action.body_mutation().mutation_case()) {
    case messages::BodyMutation::kReplace:
      told.body = action.body_mutation().replace();
      break;
    case messages::BodyMutation::kClear:
      if (action.body_mutation().clear()) told.body.emplace();
      break;
    case messages::BodyMutation::MUTATION_NOT_SET:
      break;
  }
  if (told.body && isHeaders(part)) return refusedAction("changes a body in the answer to headers");
  if (action.has_end_phases()) answer.modes = whatIsLeft(action.end_phases());
  return answer;
}

/// Reads an answer that refuses the request in any case, so fields that an answer may not have are left out.
ServerAnswer readReply(const messages::ImmediateResponse& action) {
  ServerAnswer answer;
  ImmediateAnswer& reply = answer.immediate.emplace();
  reply.status = finalStatus(std::to_string(action.status_code())).value_or(500);
  HeaderCollector changes;
  for (const messages::HttpHeader& header : action.headers()) {
    changes.set(header.name(), header.value(), HeaderChange::Action::kAppend, true);
  }
  reply.headers = changes.take();
  reply.body = action.body();
  return answer;
}

class PayloadProtocol final : public Protocol {
 public:
  std::string_view path() const override { return "/gateway.payloadprocessing.v1alpha1.PayloadProcessor/Process"; }

  std::string write(const Statement& statement) const override {
    messages::PayloadPhase phase;
    phase.set_transaction_id(readableText(statement.transaction));
    if (statement.introduction != nullptr) putPlace(statement.introduction->place, phase);
    if (statement.part == Part::kRequestHeaders) {
      setRequest(statement, *phase.mutable_request_headers());
    } else if (statement.part == Part::kResponseHeaders) {
      setResponse(statement, *phase.mutable_response_headers());
    } else {
      const bool ofRequest = statement.part == Part::kRequestBody;
      messages::HttpBody& said = ofRequest ? *phase.mutable_request_body() : *phase.mutable_response_body();
      said.set_body(statement.body);
      said.set_end_of_stream(statement.ends);
    }
    if (statement.introduction == nullptr) return phase.SerializeAsString();
    // Two concatenated messages are one message with the fields of both. If both have a key, the last value is used.
    std::string said(statement.introduction->context);
    phase.AppendToString(&said);
    return said;
  }

  /// A server gets only the values of the context that are neither maps nor lists.
  std::string writeContext(const content::Value& context) const override {
    using Kind = content::Value::Kind;
    messages::PayloadPhase phase;
    auto& values = *phase.mutable_context();
    for (const content::Member& member : context.members) {
      const Kind kind = member.value.kind;
      if (kind != Kind::kMap && kind != Kind::kList) values[member.key] = member.value.text;
    }
    return phase.SerializeAsString();
  }

  base::Result<ServerAnswer> read(std::string_view message, Part oldest) const override {
    messages::ProcessingAction action;
    if (!action.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      return refusedAction("is no ProcessingAction");
    }
    switch (action.action_case()) {
      case messages::ProcessingAction::kContinue:
        return readContinue(action.continue_(), oldest);
      case messages::ProcessingAction::kImmediateResponse:
        return readReply(action.immediate_response());
      case messages::ProcessingAction::ACTION_NOT_SET:
        break;
    }
    return refusedAction("is neither continue nor immediate_response");
  }
};

}  // namespace

const Protocol& payloadProcessor() {
  static const PayloadProtocol kProtocol;
  return kProtocol;
}

}  // namespace sluice::filters::ext_proc
