#include "test/support/external/ext_proc_answers.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "filters/ext_proc/external_processor.pb.h"

namespace sluice::external {
namespace {

namespace wire = sluice::ext_proc;
using wire::ProcessingMode;

std::string inUpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class ExtProcAnswers {
 public:
  explicit ExtProcAnswers(ServerEdits edits) : edits_(std::move(edits)) {}

  std::optional<std::string> operator()(std::string_view message) {
    wire::ProcessingRequest request;
    if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) return std::nullopt;
    if (request.has_protocol_config()) modes_ = request.protocol_config();
    wire::ProcessingResponse answer;
    switch (request.request_case()) {
      case wire::ProcessingRequest::kRequestHeaders:
        setField(*answer.mutable_request_headers()->mutable_response());
        break;
      case wire::ProcessingRequest::kResponseHeaders:
        setField(*answer.mutable_response_headers()->mutable_response());
        break;
      case wire::ProcessingRequest::kRequestBody:
        setBody(request.request_body(), modes_.request_body_mode(), *answer.mutable_request_body());
        break;
      case wire::ProcessingRequest::kResponseBody:
        setBody(request.response_body(), modes_.response_body_mode(), *answer.mutable_response_body());
        break;
      case wire::ProcessingRequest::kRequestTrailers:
        answer.mutable_request_trailers();
        break;
      case wire::ProcessingRequest::kResponseTrailers:
        answer.mutable_response_trailers();
        break;
      case wire::ProcessingRequest::REQUEST_NOT_SET:
        return std::nullopt;
    }
    return answer.SerializeAsString();
  }

 private:
  void setField(wire::CommonResponse& answer) const {
    if (edits_.name.empty()) return;
    wire::HeaderValueOption& field = *answer.mutable_header_mutation()->add_set_headers();
    field.set_append_action(wire::HeaderValueOption::OVERWRITE_IF_EXISTS_OR_ADD);
    field.mutable_header()->set_key(edits_.name);
    field.mutable_header()->set_raw_value(edits_.value);
  }
  void setBody(const wire::HttpBody& body, ProcessingMode::BodySendMode mode, wire::BodyResponse& answer) const {
    const auto mutation = [&answer] { return answer.mutable_response()->mutable_body_mutation(); };
    std::string bytes = edits_.raisesCase ? inUpperCase(body.body()) : body.body();
    if (mode == ProcessingMode::FULL_DUPLEX_STREAMED) {
      // In this mode the body consists only of the bytes that the server sends.
      wire::StreamedBodyResponse& piece = *mutation()->mutable_streamed_response();
      piece.set_body(std::move(bytes));
      piece.set_end_of_stream(body.end_of_stream());
    } else if (edits_.raisesCase) {
      mutation()->set_body(std::move(bytes));
    } else {
      answer.mutable_response();
    }
  }

  const ServerEdits edits_;
  wire::ProtocolConfiguration modes_;  // as the first message has them
};

}  // namespace

CallAnswers makeExtProcAnswers(const ServerEdits& edits) { return ExtProcAnswers(edits); }

}  // namespace sluice::external
