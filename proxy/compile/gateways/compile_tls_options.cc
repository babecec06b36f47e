// Compiles tls.options. This is the second half of compile_tls.h.
#include <algorithm>
#include <vector>

#include "proxy/base/base64.h"
#include "proxy/compile/ground/compile_tls.h"

namespace sluice::compile {
namespace {

constexpr std::size_t kMaxPins = 16;
constexpr std::size_t kPinLength = 44;  // base64 of the 32 bytes of SHA-256
constexpr std::size_t kPinBytes = 32;

std::optional<Fault> invalidOption(const config::BackendTls& tls, std::string_view key, const std::string& text) {
  return fault(config::reason::kInvalid, tls.path + ".options[\"" + std::string(key) + "\"]", text);
}

/// Splits a text at commas, blanks and line breaks.
std::vector<std::string> wordsOf(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\r\n";
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(kBetween); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBetween, end);
  }
  return words;
}

bool isPin(const std::string& word) {
  if (word.size() != kPinLength) return false;
  const auto bytes = base::decodeBase64(word);
  return bytes && bytes->size() == kPinBytes;
}

/// Accepts names only. The operators of OpenSSL ("!", "+", "-" in front, "@SECLEVEL=0") could loosen the restriction
/// that the names suggest.
bool isSuiteList(std::string_view text) {
  char before = ':';
  for (const char c : text) {
    const bool inName = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool inside = c == '-' || c == '_' || c == ':';
    if (!inName && (!inside || before == ':')) return false;
    before = c;
  }
  return before != ':';
}

}  // namespace

std::optional<Fault> compileTlsOptions(const config::BackendTls& tls, routing::UpstreamTls& result) {
  for (const auto& [key, value] : tls.options) {
    if (key == config::tls_option::kSpkiPins) {
      result.spkiPins = wordsOf(value);
      const bool good = std::all_of(result.spkiPins.begin(), result.spkiPins.end(), isPin);
      if (!good || result.spkiPins.empty() || result.spkiPins.size() > kMaxPins) {
        return invalidOption(tls, key,
                             "must be 1 to 16 SHA-256 digests in base64 (44 characters each), separated by commas");
      }
      if (tls.insecureSkipVerify)
        return invalidOption(tls, key, "says nothing about a peer that insecureSkipVerify trusts");
    } else if (key == config::tls_option::kMinVersion) {
      if (value != "1.2" && value != "1.3") return invalidOption(tls, key, "must be 1.2 or 1.3");
      result.minVersion = value;
    } else if (key == config::tls_option::kCipherSuites) {
      if (!isSuiteList(value)) return invalidOption(tls, key, "must be names of cipher suites, joined by \":\"");
      result.cipherSuites = value;
    }
  }
  return std::nullopt;
}

}  // namespace sluice::compile
