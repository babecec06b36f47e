#include "filters/external_auth/auth_settings.h"

#include <algorithm>
#include <charconv>

#include "proxy/base/arena.h"
#include "proxy/base/chunk_pool.h"
#include "proxy/base/text.h"
#include "proxy/http/target.h"
#include "proxy/processing/field_edits.h"

namespace sluice::filters {
namespace {

base::Result<std::vector<std::string>> readNames(const content::Value* holder, const std::string& where,
                                                 std::string_view member) {
  std::vector<std::string> names;
  const content::Value* list = holder != nullptr ? holder->find(member) : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    std::string name = base::toLower(list->items[i].text);
    // Fields that are always sent, or that frame a message.
    if (name == "host" || name == "content-length" || name == "method" || name == "path") continue;
    auto field = processing::editableField(name);
    if (!field) {
      return base::Error::config(where + "." + std::string(member) + "[" + std::to_string(i) +
                                 "]: " + field.error().detail);
    }
    names.push_back(std::move(field).value());
  }
  return names;
}

base::Result<std::string> readPrefix(const content::Value* http) {
  const content::Value* path = http != nullptr ? http->find("path") : nullptr;
  if (path == nullptr || path->text.empty()) return std::string();
  std::string prefix = path->text;
  if (!prefix.starts_with('/')) prefix.insert(0, "/");
  while (prefix.ends_with('/')) prefix.pop_back();
  base::ChunkPool pool;
  base::Arena arena(pool);
  if (prefix.empty()) return prefix;
  const auto normal = http::normalizeTarget(arena, prefix);
  if (!normal || normal->text != prefix || prefix.find('?') != std::string::npos) {
    return base::Error::config("http.path: must be a path in normal form, without dot segments and a query");
  }
  return prefix;
}

}  // namespace

base::Result<AuthSettings> AuthSettings::read(const content::Value& config) {
  AuthSettings settings;
  settings.grpc = config.find("protocol")->text == "GRPC";
  const content::Value* http = config.find("http");
  auto allowed = settings.grpc ? readNames(config.find("grpc"), "grpc", "allowedHeaders")
                               : readNames(http, "http", "allowedHeaders");
  if (!allowed) return std::move(allowed).error();
  settings.allowed = std::move(allowed).value();
  auto copied = readNames(http, "http", "allowedResponseHeaders");
  if (!copied) return std::move(copied).error();
  settings.copied = std::move(copied).value();
  auto prefix = readPrefix(http);
  if (!prefix) return std::move(prefix).error();
  settings.prefix = std::move(prefix).value();
  const content::Value* forward = config.find("forwardBody");
  const content::Value* most = forward != nullptr ? forward->find("maxSize") : nullptr;
  if (most != nullptr) {
    const char* const end = most->text.data() + most->text.size();
    const auto read = std::from_chars(most->text.data(), end, settings.maxBody);
    if (read.ec != std::errc() || read.ptr != end) {
      return base::Error::config("forwardBody.maxSize: is not written as a whole number");
    }
  }
  return settings;
}

bool isListed(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

processing::Verdict deny(int status, AuthFields fields, std::string body) {
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    "the authorization server does not permit this request");
  error.status = status >= 300 && status <= 599 ? static_cast<std::uint16_t>(status) : 403;
  return processing::Verdict::reply({std::move(error), std::move(fields), std::move(body)});
}

}  // namespace sluice::filters
