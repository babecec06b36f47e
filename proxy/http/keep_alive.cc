#include "proxy/http/keep_alive.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>

#include "proxy/http/grammar.h"

namespace sluice::http {

base::Duration keepAliveTimeout(const Headers& headers) {
  constexpr std::string_view kTimeout = "timeout=";
  base::Duration shortest = base::Duration::max();
  if (headers.find(FieldId::kKeepAlive) == nullptr) return shortest;
  for (const Field& field : headers) {
    if (field.id != FieldId::kKeepAlive) continue;
    forEachListElement(field.value, [&](std::string_view parameter) {
      if (!equalsIgnoreCase(parameter.substr(0, kTimeout.size()), kTimeout)) return;
      const std::string_view digits = parameter.substr(kTimeout.size());
      std::uint32_t seconds = 0;
      const auto [end, wrong] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
      if (wrong != std::errc() || end != digits.data() + digits.size()) return;
      shortest = std::min<base::Duration>(shortest, std::chrono::seconds(seconds));
    });
  }
  return shortest;
}

}  // namespace sluice::http
