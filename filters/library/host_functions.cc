#include "filters/library/host_functions.h"

#include <algorithm>
#include <array>

#include "filters/library/call_frame.h"
#include "filters/library/suspensions.h"
#include "proxy/http/field_grammar.h"
#include "proxy/http/hygiene.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters::library {
namespace {

// The most bytes that a library may give at a time. More is a size that it never meant.
constexpr std::size_t kMostField = std::size_t{1024} * 1024;
constexpr std::size_t kMostReason = std::size_t{4} * 1024;
constexpr std::size_t kMostLine = std::size_t{4} * 1024;
constexpr std::size_t kMostAnswer = std::size_t{4} * 1024 * 1024;
constexpr std::size_t kMostWritten = std::size_t{64} * 1024 * 1024;

/// The most lines that a step writes into the log.
constexpr unsigned kMostLines = 16;

void give(std::string_view from, const char** text, std::size_t* size) {
  *text = from.data();
  *size = from.size();
}

int phaseOf(sluice_call* call) { return static_cast<int>(call->call.phase); }

int statusOf(sluice_call* call) { return call->isOfResponse() ? call->call.response->status : 0; }

int valueOf(sluice_call* call, int which, const char** text, std::size_t* size) {
  const http::RequestHead& request = call->call.request;
  const processing::Destination* destination = call->call.destination;
  const processing::Place& place = call->call.place;
  const auto given = [&](std::string_view value) {
    give(value, text, size);
    return 1;
  };
  switch (which) {
    case SLUICE_METHOD:
      return given(request.methodText);
    case SLUICE_PATH:
      return given(request.openTarget());
    case SLUICE_AUTHORITY:
      return given(request.authority);
    case SLUICE_SCHEME:
      return given(http::schemeName(request.scheme));
    case SLUICE_SOURCE_ADDRESS:
      return given(call->peer.address);
    case SLUICE_SOURCE_NAMESPACE:
      return given(call->peer.nameSpace);
    case SLUICE_SOURCE_SERVICE_ACCOUNT:
      return given(call->peer.serviceAccount);
    case SLUICE_SOURCE_PRINCIPAL:
      return given(call->peer.principal);
    case SLUICE_SOURCE_ASSURANCE:
      return given(processing::shownAssurance(call->peer));
    case SLUICE_DESTINATION_HOST:
      return destination == nullptr ? 0 : given(destination->host());
    case SLUICE_DESTINATION_SNI:
      return destination == nullptr ? 0 : given(destination->serverName());
    case SLUICE_GATEWAY:
      return given(place.gateway);
    case SLUICE_ROUTE:
      return given(place.route);
    case SLUICE_BACKEND:
      return given(place.backend);
    default:
      return 0;
  }
}

// --- header fields --------------------------------------------------------------------------------------------------

/// Returns true for fields that the gateway has put in and that only the Backend may see.
bool isHidden(const http::Field& field) { return http::isInjected(field.care); }

std::size_t countShown(const http::Headers& headers) {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [](const http::Field& each) { return !isHidden(each); }));
}

int giveShown(const http::Headers& headers, std::size_t index, const char** name, std::size_t* nameSize,
              const char** value, std::size_t* valueSize) {
  for (const http::Field& field : headers) {
    if (isHidden(field) || index-- > 0) continue;
    give(field.name, name, nameSize);
    give(field.value, value, valueSize);
    return 1;
  }
  return 0;
}

std::size_t headerCount(sluice_call* call) { return countShown(call->headers()); }

int headerAt(sluice_call* call, std::size_t index, const char** name, std::size_t* nameSize, const char** value,
             std::size_t* valueSize) {
  return giveShown(call->headers(), index, name, nameSize, value, valueSize);
}

int headerOf(sluice_call* call, const char* name, std::size_t nameSize, const char** value, std::size_t* valueSize) {
  const auto wanted = call->text(name, nameSize, kMostField, "a name of a header field");
  if (!wanted) return 0;
  const http::Headers& headers = call->headers();
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const http::Field& each) { return each.name == *wanted && !isHidden(each); });
  if (found == headers.end()) return 0;
  give(found->value, value, valueSize);
  return 1;
}

/// Returns the name of a field that the library may change, in the arena; empty if it may not.
std::string_view changeableName(sluice_call* call, const char* name, std::size_t size) {
  const auto given = call->text(name, size, kMostField, "a name of a header field");
  if (!given) return {};
  return processing::editableField(*given, call->call.arena);
}

void removeField(sluice_call* call, std::string_view name) {
  if (call->isOfResponse()) {
    call->call.response->headers.removeTwins(name);
  } else {
    call->call.edit.removeTwins(name);
  }
}

int addLine(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize,
            bool replaces) {
  const auto given = call->text(value, valueSize, kMostField, "a value of a header field");
  if (!given || !http::isFieldValue(*given)) return 0;
  const std::string_view field = changeableName(call, name, nameSize);
  if (field.empty()) return 0;
  if (replaces) removeField(call, field);
  const std::string_view kept = call->call.arena.copy(*given);
  if (call->isOfResponse()) {
    call->call.response->headers.add(call->call.arena, field, kept);
  } else {
    call->call.edit.add(field, kept);
  }
  return 1;
}

int headerSet(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize) {
  return addLine(call, name, nameSize, value, valueSize, true);
}

int headerAdd(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize) {
  return addLine(call, name, nameSize, value, valueSize, false);
}

int headerRemove(sluice_call* call, const char* name, std::size_t nameSize) {
  const std::string_view field = changeableName(call, name, nameSize);
  if (field.empty()) return 0;
  removeField(call, field);
  return 1;
}

int setPath(sluice_call* call, const char* path, std::size_t size) {
  const auto given = call->text(path, size, kMostField, "a path");
  if (!given || call->isOfResponse()) return 0;
  const auto target = http::normalizeTarget(call->call.arena, call->call.arena.copy(*given));
  if (!target) return 0;
  call->call.edit.setTarget(target->text);
  return 1;
}

int setStatus(sluice_call* call, int status) {
  if (!call->isOfResponse() || status < 200 || status > 599) return 0;
  http::ResponseHead& head = *call->call.response;
  const auto wanted = static_cast<std::uint16_t>(status);
  if (http::statusForbidsBody(wanted) || http::statusForbidsBody(head.status)) return 0;
  head.status = wanted;
  return 1;
}

// --- the body -------------------------------------------------------------------------------------------------------

std::int64_t statedSize(sluice_call* call) {
  if (!call->isOfResponse()) {
    const http::RequestHead& head = call->call.request;
    return head.body == http::Body::kLength ? static_cast<std::int64_t>(head.contentLength) : -1;
  }
  const std::optional<std::uint64_t>& length = call->call.response->contentLength;
  return length ? static_cast<std::int64_t>(*length) : -1;
}

int hasBody(sluice_call* call) { return call->call.body != nullptr ? 1 : 0; }

std::size_t bodySize(sluice_call* call) { return call->call.body != nullptr ? call->call.body->bytes().size() : 0; }

int bodyIsLast(sluice_call* call) { return call->call.body != nullptr && call->call.body->last() ? 1 : 0; }

std::size_t bodyRead(sluice_call* call, std::size_t offset, char* to, std::size_t size) {
  const std::size_t whole = bodySize(call);
  if (to == nullptr || offset >= whole) return 0;
  return call->call.body->bytes().peek(offset, {to, std::min(size, whole - offset)});
}

int bodyWrite(sluice_call* call, const char* bytes, std::size_t size) {
  const auto given = call->text(bytes, size, kMostWritten, "a piece of a body");
  if (!given || call->call.body == nullptr) return 0;
  call->call.body->replacement().append(*given);
  return 1;
}

// --- trailers
// ---------------------------------------------------------------------------------------------------------

http::Trailers* trailersBehind(sluice_call* call) {
  return call->call.body != nullptr ? call->call.body->trailers() : nullptr;
}

std::size_t trailerCount(sluice_call* call) {
  const http::Trailers* const trailers = trailersBehind(call);
  return trailers != nullptr ? countShown(trailers->fields) : 0;
}

int trailerAt(sluice_call* call, std::size_t index, const char** name, std::size_t* nameSize, const char** value,
              std::size_t* valueSize) {
  const http::Trailers* const trailers = trailersBehind(call);
  return trailers != nullptr ? giveShown(trailers->fields, index, name, nameSize, value, valueSize) : 0;
}

int trailerSet(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize) {
  http::Trailers* const trailers = trailersBehind(call);
  const auto given = call->text(value, valueSize, kMostField, "a value of a header field");
  const std::string_view field = changeableName(call, name, nameSize);
  if (trailers == nullptr || !given || field.empty() || !http::isFieldValue(*given)) return 0;
  trailers->fields.removeTwins(field);
  trailers->fields.add(trailers->arena, trailers->arena.copy(field), trailers->arena.copy(*given));
  http::checkTrailers(trailers->fields);  // removes fields that only a head may have
  return trailers->fields.find(field) != nullptr ? 1 : 0;
}

int trailerRemove(sluice_call* call, const char* name, std::size_t nameSize) {
  http::Trailers* const trailers = trailersBehind(call);
  const std::string_view field = changeableName(call, name, nameSize);
  if (trailers == nullptr || field.empty()) return 0;
  trailers->fields.removeTwins(field);
  return 1;
}

// --- the route
// --------------------------------------------------------------------------------------------------------

int rematchRoute(sluice_call* call) {
  if (call->call.wish == nullptr) return 0;
  call->call.wish->matchAgain = true;
  return 1;
}

int hintRoute(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize) {
  const auto given = call->text(value, valueSize, kMostField, "a value of a header field");
  const std::string_view field = changeableName(call, name, nameSize);
  if (call->call.wish == nullptr || !given || field.empty() || !http::isFieldValue(*given)) return 0;
  call->call.wish->hints.removeTwins(field);
  call->call.wish->hints.add(call->call.arena, field, call->call.arena.copy(*given));
  return 1;
}

// --- the log
// ----------------------------------------------------------------------------------------------------------

int writeLog(sluice_call* call, int level, const char* text, std::size_t size) {
  static constexpr std::array kLevels = {observe::LogLevel::kDebug, observe::LogLevel::kInfo, observe::LogLevel::kWarn};
  const auto given = call->text(text, size, kMostLine, "a line of the log");
  if (!given || level < 0 || static_cast<std::size_t>(level) >= kLevels.size()) return 0;
  if (call->memory.records >= kMostLines) return 0;
  ++call->memory.records;
  call->call.services.record(
      {kLevels[static_cast<std::size_t>(level)], call->use.type, call->use.name, *given, call->call.place});
  return 1;
}

// --- the verdict ----------------------------------------------------------------------------------------------------

int respond(sluice_call* call, int status, const char* body, std::size_t size) {
  const auto given = call->text(body, size, kMostAnswer, "the body of an answer");
  if (!given || status < 200 || status > 599) return 0;
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    "a processor has answered this request");
  error.status = static_cast<std::uint16_t>(status);
  auto& reply = call->reply.emplace(processing::Reply{std::move(error)});
  if (!given->empty()) reply.body = std::string(*given);
  return 1;
}

int respondHeader(sluice_call* call, const char* name, std::size_t nameSize, const char* value, std::size_t valueSize) {
  const auto given = call->text(value, valueSize, kMostField, "a value of a header field");
  const std::string_view field = changeableName(call, name, nameSize);
  if (!call->reply || !given || field.empty() || !http::isFieldValue(*given)) return 0;
  call->reply->fields.emplace_back(field, *given);
  return 1;
}

int setFailure(sluice_call* call, const char* reason, std::size_t size) {
  const auto given = call->text(reason, size, kMostReason, "a reason");
  if (!given) return 0;
  call->failure = *given;
  return 1;
}

// --- the destination ------------------------------------------------------------------------------------------------

std::size_t addressCount(sluice_call* call) {
  return call->call.destination != nullptr ? call->call.destination->addresses().size() : 0;
}

int addressAt(sluice_call* call, std::size_t index, const char** ip, std::size_t* size, int* port) {
  if (index >= addressCount(call)) return 0;
  const auto& address = call->call.destination->addresses()[index];
  give(address.ip, ip, size);
  *port = address.port;
  return 1;
}

int addressRemove(sluice_call* call, std::size_t index) {
  if (call->call.phase != processing::Phase::kConnect || index >= addressCount(call)) return 0;
  const std::size_t removed = call->call.destination->addresses()[index].number;
  call->call.destination->narrow(call->call.arena, [&](const auto& each) { return each.number != removed; });
  return 1;
}

// --- memory and waiting ---------------------------------------------------------------------------------------------

void* memoryOf(sluice_call* call) { return call->memory.kept; }

void setMemory(sluice_call* call, void* memory) { call->memory.kept = memory; }

std::uint64_t suspendStep(sluice_call* call) {
  if (call->memory.handle == 0) {
    call->memory.handle = Suspensions::all().add(call->call.services.tasks(), call->call.suspend());
  }
  return call->memory.handle;
}

int completeStep(std::uint64_t handle) { return Suspensions::all().complete(handle) ? 1 : 0; }

}  // namespace

const sluice_host& hostFunctions() {
  static constexpr sluice_host kFunctions{sizeof(sluice_host),
                                          SLUICE_PROCESSOR_MAJOR,
                                          SLUICE_PROCESSOR_MINOR,
                                          phaseOf,
                                          statusOf,
                                          valueOf,
                                          headerCount,
                                          headerAt,
                                          headerOf,
                                          headerSet,
                                          headerAdd,
                                          headerRemove,
                                          setPath,
                                          setStatus,
                                          statedSize,
                                          hasBody,
                                          bodySize,
                                          bodyIsLast,
                                          bodyRead,
                                          bodyWrite,
                                          respond,
                                          respondHeader,
                                          setFailure,
                                          addressCount,
                                          addressAt,
                                          addressRemove,
                                          memoryOf,
                                          setMemory,
                                          suspendStep,
                                          completeStep,
                                          writeLog,
                                          rematchRoute,
                                          hintRoute,
                                          trailerCount,
                                          trailerAt,
                                          trailerSet,
                                          trailerRemove};
  return kFunctions;
}

}  // namespace sluice::filters::library
