#include "test/soak/rough_origin.h"

#include <map>
#include <string>

namespace sluice::soak {
namespace {

using test::BlockingSocket;
using test::RawOrigin;

/// This is longer than any timeout of the gateway.
constexpr std::chrono::seconds kLong(60);

std::string whole(const std::string& head) {
  const std::string body = kRoughBody;
  return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

enum class Ending { kGoOn, kClose, kReset, kWait };

struct Breakage {
  std::string says;
  Ending ending;
};

const Breakage& breakageOf(const std::string& path) {
  static const std::string kOk = "HTTP/1.1 200 OK\r\n";
  static const std::string kHint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  static const Breakage kNone = {whole(kOk), Ending::kGoOn};
  static const std::map<std::string, Breakage> kBreakages = {
      {"/cut", {kOk + "Content-Length: 1000\r\n\r\nonly this", Ending::kClose}},
      {"/torn", {kOk + "Transfer-Encoding: chunked\r\n\r\n100\r\nonly this", Ending::kReset}},
      {"/reset", {"", Ending::kReset}},
      {"/closed", {"", Ending::kClose}},
      {"/nonsense", {"\x16\x03\x01 what is this\r\n\r\n", Ending::kClose}},
      {"/silent", {"", Ending::kWait}},
      {"/stuck", {kOk + "Content-Length: 1000\r\n\r\nonly this", Ending::kWait}},
      {"/until-end", {"HTTP/1.0 200 OK\r\n\r\n" + std::string(kRoughBody), Ending::kClose}},
      {"/interim", {kHint + kHint + kHint + whole(kOk), Ending::kGoOn}},
      {"/hasty", {whole("HTTP/1.1 413 Too Large\r\n"), Ending::kReset}},
  };
  const auto at = kBreakages.find(path);
  return at == kBreakages.end() ? kNone : at->second;
}

/// Returns the path in "GET /path HTTP/1.1".
std::string pathOf(const std::string& head) {
  const std::size_t begin = head.find(' ') + 1;
  return head.substr(begin, head.find(' ', begin) - begin);
}

void converse(BlockingSocket& socket, RawOrigin&) {
  while (true) {
    const std::string head = socket.readUntil("\r\n\r\n", kLong);
    if (!head.ends_with("\r\n\r\n")) return;
    const Breakage& breakage = breakageOf(pathOf(head));
    if (!socket.send(breakage.says)) return;
    switch (breakage.ending) {
      case Ending::kGoOn:
        // A body that is not read would be taken for the next request, and every later answer would belong to another
        // request.
        test::readRequestBody(socket, head, kLong);
        continue;
      case Ending::kClose:
        return;
      case Ending::kReset:
        return socket.reset();
      case Ending::kWait:
        socket.readAll(kLong);
        return;
    }
  }
}

}  // namespace

RawOrigin::Script roughOrigin() { return converse; }

}  // namespace sluice::soak
