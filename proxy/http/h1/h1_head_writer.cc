#include "proxy/http/h1/h1_head_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <span>

#include "proxy/http/grammar.h"
#include "proxy/http/hygiene.h"
#include "proxy/http/tunnel.h"

namespace sluice::http {
namespace {

// Writes into the queue's own memory: one head is mostly one contiguous run.
class HeadText {
 public:
  explicit HeadText(base::ByteQueue& out) : out_(out), room_(out.prepare()) {}
  ~HeadText() { out_.commit(used_); }
  HeadText(const HeadText&) = delete;
  HeadText& operator=(const HeadText&) = delete;

  void put(std::string_view text) {
    if (text.empty()) return;
    if (text.size() <= room_.size() - used_) {
      std::memcpy(room_.data() + used_, text.data(), text.size());
      used_ += text.size();
      return;
    }
    out_.commit(used_);
    out_.append(text);
    room_ = out_.prepare();
    used_ = 0;
  }
  void put(std::uint64_t number) {
    std::array<char, 20> text;
    const char* end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
    put(std::string_view{text.data(), static_cast<std::size_t>(end - text.data())});
  }
  void line(std::string_view name, std::string_view value) {
    const std::size_t size = name.size() + value.size() + 4;
    if (size > room_.size() - used_) return lineInParts(name, value);
    char* at = room_.data() + used_;
    used_ += size;
    at = std::copy_n(name.data(), name.size(), at);
    at = std::copy_n(": ", 2, at);
    at = std::copy_n(value.data(), value.size(), at);
    std::copy_n("\r\n", 2, at);
  }

 private:
  void lineInParts(std::string_view name, std::string_view value) {
    put(name);
    put(": ");
    put(value);
    put("\r\n");
  }

  base::ByteQueue& out_;
  std::span<char> room_;
  std::size_t used_ = 0;
};

bool areWritable(const Headers& headers) {
  return std::all_of(headers.begin(), headers.end(), [](const Field& field) {
    return isClean(field.care) ||
           ((field.id != FieldId::kOther || isFieldName(field.name)) && isFieldValue(field.value));
  });
}

void putFields(HeadText& writer, const Headers& headers) {
  for (const Field& field : headers) {
    if (!isCodecField(field.id)) writer.line(field.receivedName(), field.value);
  }
}

void putFraming(HeadText& writer, const H1Announcement& body) {
  if (body.framing == H1Framing::kChunked) {
    writer.line("transfer-encoding", "chunked");
  } else if (body.contentLength) {
    writer.put("content-length: ");
    writer.put(*body.contentLength);
    writer.put("\r\n");
  }
}

std::string_view reasonOf(std::uint16_t status) {
  struct Reason {
    std::uint16_t status;
    std::string_view text;
  };
  static constexpr std::array<Reason, 41> kReasons{{
      {100, "Continue"},
      {101, "Switching Protocols"},
      {102, "Processing"},
      {103, "Early Hints"},
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {301, "Moved Permanently"},
      {302, "Found"},
      {303, "See Other"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {308, "Permanent Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {407, "Proxy Authentication Required"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {412, "Precondition Failed"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
      {508, "Loop Detected"},
  }};
  if (status == 200) return "OK";
  const auto* found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](const Reason& r) { return r.status == status; });
  return found == kReasons.end() ? std::string_view{} : found->text;
}

bool isTarget(std::string_view target) {
  const bool known = target.starts_with('/') || target == "*";
  return known && std::all_of(target.begin(), target.end(), isTargetChar);
}

void putUpgrade(HeadText& writer, Tunnel tunnel) {
  if (upgradeName(tunnel).empty()) return;
  writer.line("connection", "upgrade");
  writer.line("upgrade", upgradeName(tunnel));
}

void putKeepAlive(HeadText& writer, std::uint32_t seconds) {
  writer.line("connection", "keep-alive");
  if (seconds == 0) return;
  writer.put("keep-alive: timeout=");
  writer.put(seconds);
  writer.put("\r\n");
}

// Returns false for a tunnel to which no upgrade leads: no request in origin-form asks for it.
bool isSayable(Body body, Tunnel tunnel) { return body != Body::kTunnel || !upgradeName(tunnel).empty(); }

// The normal form was checked when the request came in; a value that a filter or a configuration has set may at least
// not end the line.
bool isAuthorityText(std::string_view authority) {
  return std::all_of(authority.begin(), authority.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

bool writeRequestHead(base::ByteQueue& out, const RequestHead& head, const H1Announcement& body,
                      H1Persistence persistence) {
  if (!isToken(head.methodText) || !isTarget(head.target) || !isAuthorityText(head.authority)) return false;
  if (!areWritable(head.headers) || !isSayable(head.body, head.tunnel)) return false;
  HeadText writer(out);
  writer.put(head.methodText);
  writer.put(" ");
  writer.put(head.target);
  writer.put(" HTTP/1.1\r\n");
  writer.line("host", head.authority);
  putFields(writer, head.headers);
  putFraming(writer, body);
  if (head.expectContinue) writer.line("expect", "100-continue");
  const bool closes = persistence == H1Persistence::kClose;
  if (head.body == Body::kTunnel) {
    putUpgrade(writer, head.tunnel);
  } else if (head.acceptsTrailers) {
    writer.line("te", "trailers");
    writer.line("connection", closes ? "te, close" : "te");
  } else if (closes) {
    writer.line("connection", "close");
  }
  writer.put("\r\n");
  return true;
}

bool writeResponseHead(base::ByteQueue& out, const ResponseHead& head, const H1Announcement& body,
                       H1Persistence persistence, std::uint32_t keepAliveSeconds) {
  if (head.status < 100 || head.status > 999 || !areWritable(head.headers)) return false;
  HeadText writer(out);
  writer.put("HTTP/1.1 ");
  writer.put(head.status);
  writer.put(" ");
  writer.put(reasonOf(head.status));
  writer.put("\r\n");
  putFields(writer, head.headers);
  putFraming(writer, body);
  if (head.body == Body::kTunnel) putUpgrade(writer, head.tunnel);
  if (persistence == H1Persistence::kClose) writer.line("connection", "close");
  if (persistence == H1Persistence::kKeepAlive) putKeepAlive(writer, keepAliveSeconds);
  writer.put("\r\n");
  return true;
}

}  // namespace sluice::http
