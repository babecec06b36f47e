#include "filters/ext_proc/header_collector.h"

#include <charconv>
#include <utility>

#include "proxy/base/terms/reserved_fields.h"
#include "proxy/base/text.h"
#include "proxy/http/field_grammar.h"

namespace sluice::filters::ext_proc {
namespace {

/// A server may not change fields that belong to the gateway; such changes have no effect, as in Envoy.
bool isOwnField(std::string_view name) {
  return http::isReservedField(name) || name == "host" || base::isLoopField(name) || name.starts_with(':') ||
         name.starts_with("x-envoy");
}

}  // namespace

bool HeaderCollector::count(std::size_t bytes) {
  bytes_ += bytes;
  if (++count_ > HeaderChanges::kMost) wrong_ = "changes more header fields than it may";
  if (bytes_ > HeaderChanges::kMostBytes) wrong_ = "has more bytes of header fields than it may";
  return wrong_.empty();
}

void HeaderCollector::set(std::string_view name, std::string_view value, HeaderChange::Action action, bool keepsEmpty) {
  if (!count(name.size() + value.size())) return;
  if (!http::isFieldValue(value)) {
    wrong_ = "sets a header field to what is no value";
    return;
  }
  std::string lower = base::toLower(name);
  if (setPseudo(lower, value) || isOwnField(lower)) return;
  if (!http::isFieldName(lower)) {
    wrong_ = "sets a header field whose name is none";
  } else if (!value.empty() || keepsEmpty) {
    changes_.set.push_back({std::move(lower), std::string(value), action});
  }
}

/// Returns true if it is a pseudo-header field that a server may set.
bool HeaderCollector::setPseudo(std::string_view name, std::string_view value) {
  if (name == ":path") {
    if (value.empty() || value.front() != '/') wrong_ = "sets :path to what is no path";
    changes_.path = value;
    return true;
  }
  if (name != ":status") return false;
  changes_.status = finalStatus(value);
  if (!changes_.status) wrong_ = "sets :status to what is no final status";
  return true;
}

void HeaderCollector::remove(std::string_view name) {
  std::string lower = base::toLower(name);
  if (count(name.size()) && !isOwnField(lower)) changes_.remove.push_back(std::move(lower));
}

std::optional<std::uint16_t> finalStatus(std::string_view digits) {
  std::uint16_t status = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), status);
  const bool isNumber = error == std::errc() && end == digits.data() + digits.size();
  return isNumber && status >= 200 && status <= 599 ? std::optional(status) : std::nullopt;
}

}  // namespace sluice::filters::ext_proc
