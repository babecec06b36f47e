#include "proxy/exchange/authentication/basic_credentials.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/base/base64.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {
namespace {

constexpr std::string_view kScheme = "basic";

bool isControlCharacter(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

bool isOfBasic(std::string_view field) {
  return http::equalsIgnoreCase(field.substr(0, kScheme.size()), kScheme) &&
         (field.size() == kScheme.size() || field[kScheme.size()] == ' ');
}

std::optional<BasicCredentials> readBasic(std::string_view field) {
  if (!isOfBasic(field)) return std::nullopt;
  field.remove_prefix(kScheme.size());
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  auto decoded = base::decodeBase64(field);
  if (!decoded) return std::nullopt;
  const base::Secret pair(*std::move(decoded));
  const std::string_view text = pair.reveal();
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || std::any_of(text.begin(), text.end(), isControlCharacter)) return std::nullopt;
  return BasicCredentials{base::Secret(std::string(text.substr(0, colon))),
                          base::Secret(std::string(text.substr(colon + 1)))};
}

}  // namespace sluice::exchange
