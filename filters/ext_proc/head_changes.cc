#include "filters/ext_proc/head_changes.h"

#include <string>
#include <utility>
#include <vector>

#include "proxy/http/hygiene.h"

namespace sluice::filters::ext_proc {
namespace {

/// Changes the fields of either head by two functions that add a line, and remove all lines of a name.
template <typename Add, typename Remove>
void changeFields(base::Arena& arena, const http::Headers& headers, const HeaderChanges& changes, Add&& add,
                  Remove&& remove) {
  for (const std::string& name : changes.remove) remove(arena.copy(name));
  for (const HeaderChange& each : changes.set) {
    const bool isThere = headers.find(each.name) != nullptr;
    if (each.action == HeaderChange::Action::kAddIfAbsent && isThere) continue;
    if (each.action == HeaderChange::Action::kOverwriteIfPresent && !isThere) continue;
    const std::string_view name = arena.copy(each.name);
    const bool replaces =
        each.action == HeaderChange::Action::kOverwrite || each.action == HeaderChange::Action::kOverwriteIfPresent;
    if (replaces) remove(name);
    add(name, arena.copy(each.value));
  }
}

/// Returns the fields that are set.
std::vector<std::pair<std::string, std::string>> fieldsOf(const HeaderChanges& changes) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const HeaderChange& each : changes.set) fields.emplace_back(each.name, each.value);
  return fields;
}

}  // namespace

bool change(processing::Call& call, const HeaderChanges& changes) {
  if (call.response != nullptr) {
    http::Headers& headers = call.response->headers;
    changeFields(
        call.arena, headers, changes,
        [&](std::string_view name, std::string_view value) { headers.add(call.arena, name, value); },
        [&](std::string_view name) { headers.removeTwins(name); });
    if (changes.status && !http::statusForbidsBody(*changes.status) &&
        !http::statusForbidsBody(call.response->status)) {
      call.response->status = *changes.status;
    }
    return true;
  }
  if (changes.path) {
    const auto target = http::normalizeTarget(call.arena, call.arena.copy(*changes.path));
    if (!target) return false;
    call.edit.setTarget(target->text);
  }
  changeFields(
      call.arena, call.request.headers, changes,
      [&](std::string_view name, std::string_view value) { call.edit.add(name, value); },
      [&](std::string_view name) { call.edit.removeTwins(name); });
  return true;
}

void change(http::Trailers& trailers, const HeaderChanges& changes) {
  changeFields(
      trailers.arena, trailers.fields, changes,
      [&](std::string_view name, std::string_view value) { trailers.fields.add(trailers.arena, name, value); },
      [&](std::string_view name) { trailers.fields.removeTwins(name); });
  http::checkTrailers(trailers.fields);  // removes fields that only a head may have
}

processing::Reply replyFrom(const ImmediateAnswer& answer) {
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    "an external processor has refused this request");
  error.status = answer.status;
  return {std::move(error), fieldsOf(answer.headers), answer.body, answer.grpcStatus};
}

}  // namespace sluice::filters::ext_proc
