#include "filters/body_choice.h"

#include <charconv>
#include <utility>

#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

using base::Error;

base::Result<BodyPath> readPath(const content::Value& config) {
  const content::Value* pointer = config.find("pointer");
  const content::Value* query = config.find("jsonPath");
  if (pointer != nullptr && query != nullptr) return Error::config("pointer and jsonPath exclude each other");
  auto path = query != nullptr ? BodyPath::fromJsonPath(query->text)
                               : BodyPath::fromPointer(pointer != nullptr ? std::string_view(pointer->text) : "/model");
  if (!path) return Error::config((query != nullptr ? "jsonPath: " : "pointer: ") + path.error().detail);
  return path;
}

/// Returns 0 if the member is absent.
base::Result<std::uint64_t> readBytes(const content::Value& config) {
  const content::Value* value = config.find("maxBodyBytes");
  if (value == nullptr) return std::uint64_t{0};
  std::uint64_t bytes = 0;
  const char* const end = value->text.data() + value->text.size();
  const auto read = std::from_chars(value->text.data(), end, bytes);
  if (read.ec != std::errc() || read.ptr != end || bytes == 0) {
    return Error::config("maxBodyBytes: is no integer from 1 on");
  }
  return bytes;
}

/// Returns the type of the request's body without its parameters; empty if it has none.
std::string_view mediaTypeOf(const http::RequestHead& request) {
  const http::Field* field = request.headers.find(http::FieldId::kContentType);
  if (field == nullptr) return {};
  return http::trimSpace(field->value.substr(0, field->value.find(';')));
}

Error refusal(std::string_view what) {
  return Error::badRequest(400, "what the body's route depends on " + std::string(what));
}

}  // namespace

base::Result<BodyChoice> BodyChoice::read(const content::Value& config) {
  BodyChoice choice;
  auto path = readPath(config);
  if (!path) return std::move(path).error();
  choice.path_ = std::move(path).value();
  const auto bytes = readBytes(config);
  if (!bytes) return bytes.error();
  choice.maxBodyBytes_ = *bytes;
  if (const content::Value* hint = config.find("routeHint")) {
    auto name = processing::editableField(hint->text);
    if (!name) return Error::config("routeHint: " + name.error().detail);
    choice.routeHint_ = std::move(name).value();
    choice.owned_.push_back(choice.routeHint_);
  }

  const content::Value* header = config.find("header");
  if (header == nullptr && !choice.routeHint_.empty()) return choice;
  auto name = processing::editableField(header != nullptr ? std::string_view(header->text) : "x-gateway-model-name");
  if (!name) return Error::config("header: " + name.error().detail);
  choice.header_ = std::move(name).value();
  if (choice.header_ != choice.routeHint_) choice.owned_.push_back(choice.header_);
  return choice;
}

bool BodyChoice::isJson(const http::RequestHead& request) {
  const std::string_view type = mediaTypeOf(request);
  if (http::equalsIgnoreCase(type, "application/json")) return true;
  static constexpr std::string_view kSuffix = "+json";
  return type.size() > kSuffix.size() && http::equalsIgnoreCase(type.substr(type.size() - kSuffix.size()), kSuffix);
}

bool BodyChoice::isForm(const http::RequestHead& request) const {
  const bool isName = path_.steps().size() == 1 && path_.steps().front().name;
  return isName && http::equalsIgnoreCase(mediaTypeOf(request), "multipart/form-data");
}

std::optional<content::FormScan> BodyChoice::formScan(const http::RequestHead& request) const {
  const std::string boundary = content::FormScan::boundaryOf(request.headers.find(http::FieldId::kContentType)->value);
  if (boundary.empty()) return std::nullopt;
  return content::FormScan(boundary, *path_.steps().front().name, kMostBytes);
}

base::Result<std::string_view> BodyChoice::chosenBy(const content::JsonScan::Found* found) {
  using Kind = content::Value::Kind;
  if (found == nullptr || found->kind == Kind::kNull) return std::string_view{};
  if (found->kind != Kind::kString && found->kind != Kind::kNumber) return refusal("is neither a string nor a number");
  if (found->text.empty()) return refusal("is empty");
  if (found->isCut) return refusal("is longer than " + std::to_string(kMostBytes) + " bytes");
  if (!http::isFieldValue(found->text)) return refusal("cannot be the value of a header field");
  return std::string_view(found->text);
}

void BodyChoice::apply(processing::RequestEditor& edit, std::string_view value) const {
  if (header_.empty() || value.empty()) return;
  edit.removeTwins(header_);
  edit.add(header_, value);
}

}  // namespace sluice::filters
