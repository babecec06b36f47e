#include "proxy/http/field_section.h"

#include <algorithm>
#include <limits>

#include "proxy/http/field_grammar.h"
#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::size_t kMaxConnectionOptions = 64;

// A known name was found in a table, so it need not be looked at again.
bool isNormalName(const Field& field) {
  if (field.id != FieldId::kOther) return true;
  return !field.name.empty() &&
         std::all_of(field.name.begin(), field.name.end(), [](char c) { return c != 0 && tokenLower(c) == c; });
}

// A field that is for the next client alone (RFC 9110 section 11.7.3), and too rare for an id.
bool isProxyAuthenticationInfo(const Field& field) { return field.name == "proxy-authentication-info"; }

// Fields for all recipients that the gateway, or a proxy before it, answers for: a Connection option that names one is
// ignored.
bool isProtected(FieldId id) {
  switch (id) {
    case FieldId::kAuthorization:
    case FieldId::kContentType:
    case FieldId::kCookie:
    case FieldId::kDate:
    case FieldId::kForwarded:
    case FieldId::kGrpcMessage:
    case FieldId::kGrpcStatus:
    case FieldId::kMaxForwards:
    case FieldId::kSetCookie:
    case FieldId::kSluiceVia:
    case FieldId::kVia:
    case FieldId::kXForwardedFor:
    case FieldId::kXForwardedHost:
    case FieldId::kXForwardedProto:
      return true;
    default:
      return false;
  }
}

class FieldLineReader {
 public:
  FieldLineReader(base::Arena& arena, Version version, FieldSection& section)
      : arena_(arena), section_(section), version_(version) {}

  // Returns nullptr, or why the line is refused.
  const char* read(const Field& field) {
    switch (field.id) {
      case FieldId::kHost:
        ++section_.hostCount;
        section_.host = field.value;
        return nullptr;
      case FieldId::kContentLength:
        section_.lengthsDiffer |= section_.lengthCount > 0 && section_.length != field.value;
        ++section_.lengthCount;
        section_.length = field.value;
        return nullptr;
      case FieldId::kContentType:
        ++section_.contentTypeCount;
        section_.contentType = field.value;
        keep(field);
        return nullptr;
      case FieldId::kDate:
        section_.dated = true;
        keep(field);
        return nullptr;
      case FieldId::kAuthorization:
        ++section_.authorizationCount;
        keep(field);
        return nullptr;
      case FieldId::kExpect:
        ++section_.expectCount;
        section_.expect = field.value;
        return nullptr;
      case FieldId::kTe:
        return readTe(field);
      case FieldId::kCookie:
        addCookie(field);
        return nullptr;
      case FieldId::kConnection:
      case FieldId::kKeepAlive:
      case FieldId::kTransferEncoding:
      case FieldId::kProxyConnection:
      case FieldId::kUpgrade:
        return readConnectionSpecific(field);
      case FieldId::kProxyAuthorization:
        ++section_.proxyAuthorizationCount;
        section_.proxyAuthorization = field.value;
        return nullptr;
      case FieldId::kHttp2Settings:
      case FieldId::kProxyAuthenticate:
        return nullptr;
      case FieldId::kOther:
        if (!isProxyAuthenticationInfo(field)) keep(field);
        return nullptr;
      default:
        keep(field);
        return nullptr;
    }
  }

  // Returns false if there are more options than any honest peer sends, because each one costs a walk over the fields.
  bool dropNamedByConnection(const Headers& raw) {
    if (!connectionSeen_) return true;
    std::size_t count = 0;
    for (const Field& field : raw) {
      if (field.id != FieldId::kConnection) continue;
      forEachListElement(field.value, [&](std::string_view option) {
        if (++count <= kMaxConnectionOptions) dropOption(option);
      });
    }
    return count <= kMaxConnectionOptions;
  }

  void joinCookies(const Headers& raw) {
    if (cookieCount_ < 2) return;
    const auto isCrumb = [](const Field& field) { return field.id == FieldId::kCookie && !field.value.empty(); };
    std::size_t size = 0;
    for (const Field& field : raw) size += isCrumb(field) ? field.value.size() + 2 : 0;
    char* const joined = arena_.bytes(size);
    char* end = joined;
    for (const Field& field : raw) {
      if (!isCrumb(field)) continue;
      if (end != joined) end = std::copy_n("; ", 2, end);
      end = std::copy(field.value.begin(), field.value.end(), end);
    }
    Field cookie = *raw.find(FieldId::kCookie);
    cookie.value = {joined, static_cast<std::size_t>(end - joined)};
    cookie.care = Care::kLook;
    section_.kept.remove(FieldId::kCookie);
    section_.kept.add(arena_, cookie);
  }

 private:
  void keep(const Field& field) {
    section_.kept.add(arena_, Field{field.name, field.value, field.id, cleaned(field.care), field.toReceived});
  }

  const char* readTe(const Field& field) {
    if (version_ == Version::kHttp2 && !equalsIgnoreCase(field.value, "trailers")) return "a TE other than trailers";
    section_.teTrailers |= listHasToken(field.value, "trailers");
    return nullptr;
  }

  // Several lines are joined at the end (RFC 9113 section 8.2.3).
  void addCookie(const Field& field) {
    if (++cookieCount_ == 1) keep(field);
  }

  const char* readConnectionSpecific(const Field& field) {
    if (version_ == Version::kHttp2) return "a connection-specific field in HTTP/2";
    if (field.id == FieldId::kKeepAlive) {
      section_.keepAlive = true;
    } else if (field.id == FieldId::kTransferEncoding) {
      ++section_.codingCount;
      section_.coding = field.value;
    } else if (field.id == FieldId::kUpgrade) {
      ++section_.upgradeCount;
      section_.upgrade = field.value;
    } else if (field.id == FieldId::kConnection && field.value == "keep-alive") {
      section_.connectionKeepAlive = true;  // the frequent one, which names no field that is kept
    } else if (field.id == FieldId::kConnection) {
      connectionSeen_ = true;
      forEachListElement(field.value, [this](std::string_view option) {
        section_.connectionClose |= equalsIgnoreCase(option, "close");
        section_.connectionKeepAlive |= equalsIgnoreCase(option, "keep-alive");
        section_.connectionUpgrade |= equalsIgnoreCase(option, "upgrade");
      });
    }
    return nullptr;
  }

  void dropOption(std::string_view option) {
    section_.kept.removeIf(
        [option](const Field& field) { return equalsIgnoreCase(field.name, option) && !isProtected(field.id); });
  }

  base::Arena& arena_;
  FieldSection& section_;
  std::size_t cookieCount_ = 0;
  Version version_;
  bool connectionSeen_ = false;
};

}  // namespace

const char* readFields(base::Arena& arena, const Headers& raw, Version version, FieldSection& section) {
  section.kept.reserve(arena, raw.size());
  FieldLineReader reader(arena, version, section);
  for (const Field& field : raw) {
    if (!isClean(field.care)) {
      if (!isNormalName(field)) return "a field name is not a token";
      if (!isFieldValue(field.value)) return "a field value holds a control character";
    }
    if (const char* why = reader.read(field)) return why;
  }
  if (!reader.dropNamedByConnection(raw)) return "too many Connection options";
  reader.joinCookies(raw);
  return nullptr;
}

std::optional<std::uint64_t> parseContentLength(std::string_view value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (value.empty()) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : value) {
    if (!isDigit(c)) return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (length > (kMax - digit) / 10) return std::nullopt;
    length = length * 10 + digit;
  }
  return length;
}

bool checkTrailers(Headers& fields) {
  for (const Field& field : fields) {
    if (!isNormalName(field) || !isFieldValue(field.value)) return false;
  }
  fields.removeIf([](const Field& field) {
    switch (field.id) {
      case FieldId::kOther:
        return isProxyAuthenticationInfo(field);
      case FieldId::kDate:
      case FieldId::kGrpcMessage:
      case FieldId::kGrpcStatus:
      case FieldId::kPriority:
      case FieldId::kServer:
      case FieldId::kUserAgent:
      case FieldId::kXRequestId:
        return false;
      default:
        return true;
    }
  });
  return true;
}

}  // namespace sluice::http
