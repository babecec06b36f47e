#include "proxy/http/grpc.h"

#include <array>
#include <charconv>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::uint32_t kUnknown = 2;

std::string percentDecoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && hexValue(text[i + 1]) >= 0 && hexValue(text[i + 2]) >= 0;
    if (!encoded) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(hexValue(text[i + 1]) * 16 + hexValue(text[i + 2]));
    i += 2;
  }
  return result;
}

}  // namespace

bool speaksGrpc(const RequestHead& request) {
  static constexpr std::string_view kType = "application/grpc";
  if (request.version != Version::kHttp2) return false;
  const Field* type = request.headers.find(FieldId::kContentType);
  if (type == nullptr || type->value.size() < kType.size()) return false;
  const std::string_view rest = type->value.substr(kType.size());
  return equalsIgnoreCase(type->value.substr(0, kType.size()), kType) &&
         (rest.empty() || rest[0] == '+' || rest[0] == ';');
}

bool isAnsweredAsGrpc(const RequestHead& request, std::uint16_t status) {
  constexpr std::uint16_t kUnsupportedMediaType = 415;
  // RFC 8441 section 5: a client that asks for a tunnel takes every success for one.
  return speaksGrpc(request) && request.body != Body::kTunnel && status != kUnsupportedMediaType;
}

std::string frameGrpcMessage(std::string_view message) {
  std::string framed(kGrpcPrefix, '\0');
  for (std::size_t i = 1; i < kGrpcPrefix; ++i) {
    framed[i] = static_cast<char>(message.size() >> (8 * (kGrpcPrefix - 1 - i)) & 0xFF);
  }
  return framed.append(message);
}

GrpcFrame readGrpcMessage(const base::ByteQueue& body, std::size_t most, std::string& message) {
  std::array<char, kGrpcPrefix> prefix{};
  if (body.peek(0, prefix) < prefix.size()) return GrpcFrame::kIncomplete;
  if (prefix[0] != 0) return GrpcFrame::kCompressed;
  std::size_t length = 0;
  for (std::size_t i = 1; i < prefix.size(); ++i) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (length > most) return GrpcFrame::kTooLarge;
  if (body.size() < prefix.size() + length) return GrpcFrame::kIncomplete;
  message.resize(length);
  body.peek(prefix.size(), message);
  return GrpcFrame::kMessage;
}

GrpcStatus grpcStatusOf(const ResponseHead& head, const Headers* trailers) {
  const Headers& said =
      trailers != nullptr && trailers->find(FieldId::kGrpcStatus) != nullptr ? *trailers : head.headers;
  const std::optional<std::uint32_t> code = grpcCodeOf(said);
  if (!code) return {grpcStatusFrom(head.status), {}};
  GrpcStatus result{*code, {}};
  if (const Field* message = said.find(FieldId::kGrpcMessage)) result.message = percentDecoded(message->value);
  return result;
}

std::optional<std::uint32_t> grpcCodeOf(const Headers& fields) {
  const Field* status = fields.find(FieldId::kGrpcStatus);
  if (status == nullptr) return std::nullopt;
  std::uint32_t code = 0;
  const char* const end = status->value.data() + status->value.size();
  const auto [rest, error] = std::from_chars(status->value.data(), end, code);
  return error == std::errc{} && rest == end ? code : kUnknown;
}

std::uint16_t httpStatusFrom(std::uint32_t grpcCode) {
  // By code: OK, CANCELLED, UNKNOWN, INVALID_ARGUMENT, DEADLINE_EXCEEDED, NOT_FOUND, ALREADY_EXISTS,
  // PERMISSION_DENIED, RESOURCE_EXHAUSTED, FAILED_PRECONDITION, ABORTED, OUT_OF_RANGE, UNIMPLEMENTED, INTERNAL,
  // UNAVAILABLE, DATA_LOSS, UNAUTHENTICATED.
  static constexpr std::array<std::uint16_t, 17> kStatuses = {200, 499, 500, 400, 504, 404, 409, 403, 429,
                                                              400, 409, 400, 501, 500, 503, 500, 401};
  return grpcCode < kStatuses.size() ? kStatuses[grpcCode] : 500;
}

std::uint32_t grpcStatusFrom(std::uint16_t httpStatus) {
  switch (httpStatus) {
    case 400:
      return 13;  // INTERNAL
    case 401:
      return 16;  // UNAUTHENTICATED
    case 403:
      return 7;  // PERMISSION_DENIED
    case 404:
      return 12;  // UNIMPLEMENTED
    case 429:
    case 502:
    case 503:
    case 504:
      return 14;  // UNAVAILABLE
    default:
      return kUnknown;
  }
}

}  // namespace sluice::http
